"""A compiled recipe: what ``running`` executes, whichever dialect the exam was written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from proctor.ir import Exchange, Request, Response
from proctor.scoring.grade import Grade

if TYPE_CHECKING:
    from proctor.engines.engine import Engine


@dataclass(frozen=True, slots=True)
class Item:
    """One instance, ready to ask.

    Attributes:
        doc_id: Position of the instance in its split; stable between runs.
        instance: ``input_fields`` and ``reference_fields`` flattened, with ``metadata``.
        exchange: The instance in words.
        requests: What is asked about it; nearly always one request.
        processors: What turns the answers into predictions, in order: names or artifacts.
    """

    doc_id: int
    instance: Mapping[str, Any]
    exchange: Exchange
    requests: tuple[Request, ...]
    processors: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """An item with its responses, in the order of its requests."""

    item: Item
    responses: Sequence[Response]


class ScoredGroup(Protocol):
    """A named set of exams with scores of its own, made of its exams' scores.

    An exam may have an attribute ``groups`` with the groups that it was chosen with; results list them as well.
    """

    @property
    def name(self) -> str:
        """The name under which results are filed."""

    def score(self, scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the group's scores, from the global scores of its exams by name; empty where it has none."""


class Exam(Protocol):
    """A compiled recipe. Later changes to the artifacts it came from do not reach it.

    It may have a method ``suited_to(engine)`` that returns the exam as this engine can sit it (multiple choice as text
    for engines without log-probabilities), and an attribute ``variant`` that says in a few words how the exam then
    differs; see :func:`suited`.
    """

    @property
    def name(self) -> str:
        """The name under which results are filed."""

    @property
    def description(self) -> str:
        """One line on what the exam is."""

    def items(self) -> Iterator[Item]:
        """Yield the items lazily; every call yields equal items in the same order."""

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""

    def specification(self) -> dict[str, Any]:
        """Return JSON-like data that describes the exam fully, for ``run.yaml``."""


def suited(exams: Iterable[Exam], engine: Engine) -> list[Exam]:
    """Return the exams as an engine can sit them; most are returned as they are. Doing it twice changes nothing."""
    found = []
    for exam in exams:
        suit: Callable[[Engine], Exam] | None = getattr(exam, "suited_to", None)
        found.append(exam if suit is None else suit(engine))
    return found


def add_groups(exam: Exam, groups: Iterable[ScoredGroup]) -> None:
    """Let an exam belong to more groups; those that it belongs to by name stay as they are."""
    known: tuple[ScoredGroup, ...] = getattr(exam, "groups", ())
    names = {group.name for group in known}
    new = tuple(group for group in groups if group.name not in names)
    if new:
        exam.groups = (*known, *new)  # type: ignore[attr-defined]


def variant_of(exam: Exam) -> str:
    """Return how an exam differs from what its file says, empty where it does not."""
    return str(getattr(exam, "variant", ""))
