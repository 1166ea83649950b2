"""Base of engines whose models may think: how long, how hard, and the marks of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import structs
from pydantic import BeforeValidator, Field

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Engine
from proctor.engines.thoughts import Marks, marks_of
from proctor.errors import ValidationError
from proctor.ir import Decoding


def _level(value: Any) -> Any:
    """Return a level; YAML reads ``off`` and ``on`` as false and true."""
    return {False: "off", True: "on"}.get(value, value) if isinstance(value, bool) else value


Level = Literal["off", "on", "low", "medium", "high"]
"""How hard a model may be told to think; ``on`` is for models that know no more than on and off."""


class ThinkingEngine(Engine):
    """An engine of models that may think before they answer.

    Attributes:
        thinking: How hard the model is to think, in words that all providers share; it is sent in the provider's own,
            and an error where it has none. By default nothing is sent.
        thinking_tokens: Tokens that the model may think, on top of what an exam allows for the answer.
        think_start, think_end: What begins and ends the model's thoughts, where the table of families does not know it.
            Only ``think_end`` means that every text begins with thoughts, up to its last ``think_end``.
        thoughts_in_turns: Whether the model is shown what it thought in earlier turns of a conversation, under
            ``reasoning_content``: for models whose chat template wants that (MiniMax-M2, Kimi-K2-Thinking, GLM-4.7).
    """

    thinking: Annotated[Level | None, NON_POSITIONAL, BeforeValidator(_level)] = None
    thinking_tokens: Annotated[int | None, NON_POSITIONAL, Field(ge=0)] = None
    think_start: Annotated[str | None, NON_POSITIONAL] = None
    think_end: Annotated[str | None, NON_POSITIONAL] = None
    thoughts_in_turns: Annotated[bool, NON_POSITIONAL] = False

    @staticmethod
    def own_fields() -> tuple[str, ...]:
        """Return the names of the fields that say something of thoughts."""
        return _FIELDS

    def verify(self) -> None:
        """Check the marks.

        Raises:
            ValidationError: One is empty.
        """
        super().verify()
        for name in ("think_start", "think_end"):
            if getattr(self, name) == "":
                raise ValidationError(f"{name} is empty", path=f"$.{name}", hint="leave it out, or give the mark")

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers; of thinking, those that are given.

        Engines of older logs said nothing; and what earlier turns carry is in the requests.
        """
        return {
            name: value
            for name, value in super().identity_values().items()
            if name != "thoughts_in_turns" and (value is not None or name not in _FIELDS)
        }

    @property
    def thought_marks(self) -> Marks:
        """The marks of the model's thoughts: the user's, then those that its name tells."""
        return marks_of(self.label, self.think_start, self.think_end)

    @property
    def keeps_thoughts(self) -> bool:
        """Whether the turns of a conversation carry the model's thoughts, too: what the user says."""
        return self.thoughts_in_turns

    @property
    def wants_thoughts(self) -> bool:
        """Whether the user says that the model thinks: stop strings are then looked for in its answers only."""
        said = (self.thinking_tokens, self.think_start, self.think_end)
        return self.thinking not in (None, "off") or any(each is not None for each in said)

    @property
    def thought_allowance(self) -> int:
        """Tokens on top of what an exam allows for the answer."""
        return self.thinking_tokens or 0

    def with_allowance(self, decoding: Decoding) -> Decoding:
        """Return a decoding with room for thoughts."""
        if decoding.max_tokens is None or not self.thought_allowance:
            return decoding
        return structs.replace(decoding, max_tokens=decoding.max_tokens + self.thought_allowance)


_FIELDS = ("thinking", "thinking_tokens", "think_start", "think_end")
