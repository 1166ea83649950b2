"""The grading of an exam in names that every dialect knows: metrics, text functions, right answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from proctor.dialects.conversion.converted import Loss
from proctor.dialects.dialect import loaded
from proctor.dialects.registry import dialect_named
from proctor.ir.question import Question
from proctor.recipes.exam import Exam


@dataclass(frozen=True, slots=True)
class Named:
    """A metric or a text function of a table or a catalog, with its arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The system that stands before the name; empty for what is in a catalog."""
        before, colon, _ = self.name.partition(":")
        return before if colon and "[" not in before else ""


class Reading(NamedTuple):
    """A way to read an answer: a name, and what is done to it in order."""

    name: str
    steps: Sequence[Named] = ()


def only_or_all(question: Question) -> Any:
    """Return the right answer to a question, of several all."""
    references = list(question.exchange.references)
    return references[0] if len(references) == 1 else references


@dataclass(slots=True)
class Graded:
    """The grading of an exam.

    Attributes:
        metrics: The metrics; the first has the main score.
        readings: Ways to read an answer: a name, and what is done to it in order. Nearly always one.
        keeps_apart: Whether what is done to answers keeps all choices of a row apart.
        target: From a question to the right answer, as metrics see it; several are a list.
        lost: What has no name, as the part that it changes and the reason.
    """

    metrics: list[Named] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=lambda: [Reading("")])
    target: Callable[[Question], Any] = only_or_all
    keeps_apart: Callable[[Question, Sequence[str]], bool] = lambda question, choices: True
    lost: list[Loss] = field(default_factory=list)


def graded(exam: Exam, first: Question) -> Graded:
    """Return what grades an exam; its first question's processors stand for all."""
    found = dialect_named(exam.dialect)
    made: Graded | None = loaded(found.convert.read)(exam, first) if found and found.convert.read else None
    return made or Graded(lost=[Loss("scores", "metrics: the exam scores itself")])
