"""A conversation while solvers make it: its messages, and what they were each time the model was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.dialects.hub_yaml.templates import Said, is_known, said, text_of
from proctor.errors import TemplateError
from proctor.ir import Message
from proctor.ir.conversation import answer_part, aside


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message; its words may hold answers. ``media`` are the parts beside the words."""

    role: str
    words: Said
    media: tuple[Mapping[str, Any], ...] = ()

    def message(self) -> Message:
        """Return the message as a conversation has it."""
        if is_known(self.words) and not self.media:
            return {"role": self.role, "content": text_of(self.words)}
        parts = [{"type": "text", "text": each} if isinstance(each, str) else answer_part(each) for each in self.words]
        return {"role": self.role, "content": [*parts, *self.media]}


Context = tuple[Spoken, ...]
"""What the model is told before an answer."""


@dataclass(slots=True)
class Talk:
    """A conversation about one sample.

    Attributes:
        sample: The sample: ``input``, ``choices``, ``metadata``.
        question: Its words, as they were before any solver.
        messages: What has been said; what the model says are answers by number.
        asked: What was said before each answer, those asked aside included.
    """

    sample: Mapping[str, Any]
    question: str
    messages: list[Spoken]
    asked: list[Context] = field(default_factory=list)

    @property
    def completion(self) -> Said:
        """The last answer; nothing where there is none yet."""
        return said(len(self.asked) - 1) if self.asked else ()

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The columns that templates may use."""
        found: Mapping[str, Any] = self.sample["metadata"]
        return found

    def prompt(self, solver: str) -> Said:
        """Return the words of the last message of the user.

        Raises:
            TemplateError: There is none.
        """
        return self.messages[self._place(solver)].words

    def put_prompt(self, words: Said, solver: str) -> None:
        """Change the words of the last message of the user.

        Raises:
            TemplateError: There is none.
        """
        place = self._place(solver)
        self.messages[place] = replace(self.messages[place], words=words)

    def _place(self, solver: str) -> int:
        places = [place for place, each in enumerate(self.messages) if each.role == "user"]
        if not places:
            raise TemplateError(f"the solver {solver} needs a message of the user, and there is none")
        return places[-1]

    def add_system(self, words: Said) -> None:
        """Put a system message behind those that there are, at the top."""
        place = max((place for place, each in enumerate(self.messages) if each.role == "system"), default=-1)
        self.messages.insert(place + 1, Spoken("system", words))

    def say(self, words: Said) -> None:
        """Add a message of the user."""
        self.messages.append(Spoken("user", words))

    def ask(self) -> None:
        """Let the model answer."""
        self.asked.append(tuple(self.messages))
        self.messages.append(Spoken("assistant", self.completion))

    def ask_aside(self, words: Said) -> None:
        """Ask something in a context of its own; the answer is the last one then."""
        self.asked.append((Spoken("user", words),))

    def turns(self) -> tuple[Message | None, ...]:
        """Return the turns of a conversation that asks all this; what does not go on from before is asked aside."""
        found: list[Message | None] = []
        before: Context = ()
        for number, context in enumerate(self.asked):
            if context[: len(before)] == before:
                found += [*(each.message() for each in context[len(before) :]), None]
                before = (*context, Spoken("assistant", said(number)))
            else:
                found.append(aside([each.message() for each in context]))
        return tuple(found)


def talk_about(sample: Mapping[str, Any], system: str | None = None) -> Talk:
    """Return a conversation that begins with a sample's question, behind a system message where one is given."""
    value = sample["input"]
    given: Sequence[Mapping[str, Any]] = [{"role": "user", "content": value}] if isinstance(value, str) else value
    messages = [_of_message(each) for each in given]
    words = next((text_of(each.words) for each in reversed(messages) if each.role == "user"), "")
    begun = [] if system is None else [Spoken("system", said(system))]
    return Talk(sample, words, [*begun, *messages])


def _of_message(message: Mapping[str, Any]) -> Spoken:
    content = message["content"]
    if isinstance(content, str):
        return Spoken(message["role"], said(content))
    texts = [part["text"] for part in content if part["type"] == "text"]
    return Spoken(message["role"], said("\n".join(texts)), tuple(part for part in content if part["type"] != "text"))
