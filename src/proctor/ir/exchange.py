"""The output of a template for one instance, before a format lays it out."""

from __future__ import annotations

from msgspec import Struct

from proctor.ir.spans import Turn


class Exchange(Struct, frozen=True, gc=False):
    """A question and its answer in words.

    Attributes:
        question: The turns that ask. Most templates make one user turn of one span.
        opening: Turns said once, before any demo (an instruction). Often empty.
        answer_prefix: Text that starts the answer and belongs to the prompt (``"Answer: "``).
        answer: One reference, as a demo shows it; ``None`` where there is no gold.
        references: Every acceptable answer.
        choices: Continuations to score, in label order; empty for free generation.
        gold: Index of the right choice, or ``None``.
    """

    question: tuple[Turn, ...]
    opening: tuple[Turn, ...] = ()
    answer_prefix: str = ""
    answer: str | None = None
    references: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    gold: int | None = None

    @property
    def source(self) -> str:
        """The words of the question, without instruction or answer prefix."""
        if len(self.question) == 1:
            return self.question[0].text
        return "".join(turn.text for turn in self.question)

    @property
    def instruction(self) -> str:
        """The words of the opening."""
        return "".join(turn.text for turn in self.opening)
