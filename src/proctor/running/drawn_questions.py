"""Some questions of an exam, drawn at random: their order, their scores, and the part of the exam that they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from msgspec import structs

from proctor.errors import UsageError
from proctor.ir.question import Ask, Question
from proctor.randomness import random_stream
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import Context, Demos, Kind, NoDemos
from proctor.recipes.selection import Opened, Row, Selection
from proctor.scoring.grades import Grade, main_column

ORDER_SEED = 42
"""Of the order of questions where the run gives none: recipes' own seed."""


def in_drawn_order(name: str, keys: Sequence[str], seed: int | None) -> list[int]:
    """Return the places of questions in the order in which they are asked: by seed, name and content."""
    places = sorted(range(len(keys)), key=keys.__getitem__)
    random_stream(f"questions of {name}", ORDER_SEED if seed is None else seed).shuffle(places)
    return places


@dataclass(frozen=True, slots=True)
class Shares:
    """Scores of instances as shares of 1.

    Attributes:
        metric: What is scored; empty where nothing could be.
        values: One for each instance, in order; ``None`` where there is none.
        low_is_better: Whether less is better.
    """

    metric: str
    values: list[float | None]
    low_is_better: bool = False


def shares_of(name: str, grade: Grade, count: int, *, instance_scores: bool = False) -> Shares:
    """Return the main scores of instances as shares of 1.

    Args:
        name: The exam's, for messages.
        grade: What its grader made of some answers.
        count: How many these are.
        instance_scores: Whether instance scores do where the exam's own score is not their mean.

    Raises:
        UsageError: The exam's score is not the mean of scores of instances, or they have no bounds.
    """
    column = main_column(grade)
    if column is None:
        if len(grade.failures) < count:
            raise _unfit(name, "its instances have no scores of their own", "choose another exam")
        return Shares("", [None] * count)
    if not column.is_mean and not instance_scores:
        main = grade.main.name if grade.main else "it"
        why = f"'{main}' is a score of all answers together (a corpus-level score), not a mean of instances"
        raise _unfit(name, why, f"proctor gate --instance-scores takes the mean of '{column.name}' of instances")
    known = [value for value in column.values if value is not None]
    whole = column.whole
    if whole is None or any(not 0 <= value <= whole for value in known):
        raise _unfit(name, f"'{column.name}' has no bounds", "choose an exam whose score lies between 0 and 1")
    metric = grade.main.name if grade.main is not None and column.is_mean else column.name
    is_failed = grade.failures.__contains__
    values = [None if is_failed(n) or value is None else value / whole for n, value in enumerate(column.values)]
    return Shares(metric, values, grade.main is not None and grade.main.higher_is_better is False)


def _unfit(name: str, why: str, hint: str) -> UsageError:
    return UsageError(f"'{name}' cannot be decided on some of its questions", why=why, hint=hint)


def part_of(exam: Exam, questions: Sequence[Question], kinds: frozenset[Kind] | None = None) -> Exam:
    """Return some questions of an exam, as they were put in words for the whole, as an exam.

    Args:
        exam: The whole.
        questions: The questions.
        kinds: What they ask of a model, where it is not what the exam asks.
    """
    rows = _GivenRows(questions)
    asker = _GivenAsker(exam.asker.kinds if kinds is None else kinds, questions)
    return replace(
        exam,
        rows=rows,
        asker=asker,
        draw=NoDemos(),
        options=replace(exam.options, limit=None, samples=None),
        ceiling=None,
        variants={},
    )


@dataclass(frozen=True)
class _GivenRows:
    """Rows of questions that are in words already."""

    questions: Sequence[Question]

    @cached_property
    def digests(self) -> list[str]:
        """Those of the rows as they were before anything was changed in them, so that answers stay paired."""
        return [each.digest for each in self.questions]

    def open(self, selection: Selection) -> Opened:
        """Return the rows; they are selected already."""
        del selection
        return Opened([each.instance for each in self.questions], lambda: len(self.questions), is_selected=True)

    def stages(self) -> Iterator[Any]:
        """Yield nothing: what was done to them lies behind."""
        yield from ()


@dataclass(frozen=True)
class _GivenAsker:
    """Gives the questions as they are."""

    kinds: frozenset[Kind]
    questions: Sequence[Question]

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a place to its question."""
        del opened, context
        return lambda ask, row, demos: structs.replace(self.questions[ask.place])
