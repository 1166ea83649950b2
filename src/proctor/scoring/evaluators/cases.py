"""The input and the output of an evaluator."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from proctor.errors import ScoringError
from proctor.ir import Failure

if TYPE_CHECKING:
    from proctor.statistics.intervals import Interval


@dataclass(frozen=True, slots=True)
class Cases:
    """Predictions to judge, one entry per instance in each column.

    Attributes:
        predictions: After all post-processors.
        references: The output column.
        rows: The whole rows.
        prompts: What was asked.
        columns: Further columns of the answers (``ppl``, ``choices`` …), by name.
        project: Whose rules are meant where they differ.
    """

    predictions: Sequence[Any]
    references: Sequence[Any]
    rows: Sequence[Mapping[str, Any]] = ()
    prompts: Sequence[Any] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    project: str = "opencompass"

    def pairs(self) -> list[tuple[Any, Any]]:
        """Return predictions with their references."""
        return list(zip(self.predictions, self.references, strict=True))

    def select(self, positions: Sequence[int]) -> Cases:
        """Return the cases at positions."""
        return Cases(
            [self.predictions[i] for i in positions],
            [self.references[i] for i in positions],
            [self.rows[i] for i in positions] if self.rows else (),
            [self.prompts[i] for i in positions] if self.prompts else (),
            {name: [column[i] for i in positions] for name, column in self.columns.items()},
            self.project,
        )


@dataclass(slots=True)
class Verdict:
    """What an evaluator says of cases.

    Attributes:
        scores: As upstream names them; nearly all are percentages.
        instances: Scores of each case, in percent where the score is their mean.
        correct: Whether each case is right; empty where upstream does not say it of single cases, so that there are no
            scores over several runs.
        parsed: What each prediction was read as.
        failures: Cases that could not be judged, by position; they are not in the scores.
        described: Whether upstream says something of single cases, if not whether they are right.
        main: Name of the main score, where the evaluator says which it is.
        bounds: Confidence intervals of scores, where the evaluator has its own.
    """

    scores: dict[str, Any]
    instances: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    correct: Sequence[bool] = ()
    parsed: Sequence[Any] = ()
    failures: Mapping[int, Failure] = field(default_factory=dict)
    described: bool = False
    main: str = ""
    bounds: Mapping[str, Interval] = field(default_factory=dict)


Evaluator = Callable[..., Verdict]
T = TypeVar("T")


def running_sum(values: Iterable[float]) -> float:
    """Return the sum of values added one after another, as a loop does.

    From Python 3.12 on, ``sum`` compensates for rounding, and the last bits of a score would depend on the Python.

    >>> running_sum([0.1] * 10)
    0.9999999999999999
    """
    return functools.reduce(operator.add, values, 0)


def average(values: Sequence[float]) -> float:
    """Return the sum of values, added one after another, divided by their number."""
    return running_sum(values) / len(values)


def percent(marks: Sequence[bool | float]) -> float:
    """Return the share of right cases times 100, divided first: what most of upstream's evaluators compute.

    >>> percent([True, False, False]), percent_of_sum([True, False, False])
    (33.33333333333333, 33.333333333333336)
    """
    return average(marks) * 100


def percent_of_sum(marks: Sequence[bool | float]) -> float:
    """Return the share of right cases times 100, multiplied first: what the other half of upstream's computes."""
    return 100 * running_sum(marks) / len(marks)


def share(
    marks: Sequence[bool | float],
    name: str = "accuracy",
    *,
    details: bool = True,
    rule: Callable[[Sequence[bool | float]], float] = percent,
    digits: int | None = None,
    **extra: Any,
) -> Verdict:
    """Return the verdict of an evaluator whose score is the share of right cases, in percent.

    Args:
        marks: Whether each case is right.
        name: Of the score.
        details: Whether upstream says it of single cases.
        rule: In which order upstream divides and multiplies; the results differ in their last bit.
        digits: To how many decimals upstream rounds.
        extra: Further fields of the verdict.

    Raises:
        ScoringError: There are no cases.
    """
    if not marks:
        raise ScoringError("there are no predictions to evaluate")
    value = rule(marks) if digits is None else round(rule(marks), digits)
    instances = {name: [100.0 * mark for mark in marks]}
    return Verdict({name: value}, instances, [bool(mark) for mark in marks] if details else (), **extra)


def grouped(values: Iterable[T], names: Iterable[Iterable[str]]) -> dict[str, list[T]]:
    """Return the values of each group, in the order in which groups first come.

    Args:
        values: One of each case.
        names: The groups of each case.
    """
    found: dict[str, list[T]] = {}
    for value, own in zip(values, names, strict=True):
        for name in own:
            found.setdefault(name, []).append(value)
    return found
