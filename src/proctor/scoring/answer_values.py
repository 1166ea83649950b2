"""Scores of rows whose values are known already: each value's aggregate over all rows, with error and interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES, Aggregate, aggregated, mean
from proctor.scoring.grades import Measured
from proctor.scoring.scores import Score, Unit

Values = Mapping[str, Any]
"""What one row has, by the metric's name."""

_ZERO, _ONE = 0.0, 1.0  # most values of most metrics; one object of each is enough


def _raw(metric: str) -> Unit:
    del metric
    return "raw"


def _same(value: Any) -> Any:
    return value


def _shared(value: Any) -> Any:
    """Return an equal number that is kept once, to the last bit: minus zero stays what it is."""
    if type(value) is not float:
        return value
    return _ONE if value == _ONE else _ZERO if value == _ZERO and math.copysign(1.0, value) > 0 else value


@dataclass(frozen=True, slots=True)
class RowAggregation:
    """How values of rows become scores. Metrics may appear that nobody has named before.

    Attributes:
        aggregates: Aggregations by metric; the mean for all others.
        resamples: Bootstrap resamples behind a standard error that has no closed form.
        directions: Whether more is better, by metric, where that is known.
        unit_of: Returns the unit of a metric.
        shown: Turns an aggregate into what results hold.
    """

    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    resamples: int = BOOTSTRAP_RESAMPLES
    directions: Mapping[str, bool | None] = field(default_factory=dict)
    unit_of: Callable[[str], Unit] = _raw
    shown: Callable[[Any], Any] = _same

    def measured(self, rows: Iterable[Values | None], *, instances: bool = True) -> Measured:
        """Return the score of each metric, in the order in which rows name them; the first number is the main score.

        A metric that cannot be aggregated is named with the reason, and the others count. A row whose value has no mean
        with the others' is a failure, and the others count.

        Args:
            rows: The values of each row, ``None`` where it has none; read once.
            instances: Whether the values are wanted as columns, too.
        """
        found = Measured()
        for metric, column in _columns(rows).items():
            if self.aggregates.get(metric, mean) is mean:
                found.failures |= column.without_odd(metric)
            if instances:
                found.instances[metric] = column.whole()
            try:
                score = self._score(metric, column.values)
            except (ProctorError, ArithmeticError, LookupError, TypeError, ValueError) as problem:
                found.broken[metric] = Failure(type(problem).__name__, _reason(problem), retryable=False)
                continue
            found.scores.append(score)
            if not found.main and isinstance(score.value, int | float):
                found.main = metric
        return found

    def _score(self, metric: str, values: Sequence[Any]) -> Score:
        made = aggregated(metric, self.aggregates.get(metric, mean), values, self.resamples)
        return Score(
            metric,
            self.shown(made.value),
            made.low,
            made.high,
            n=len(values),
            stderr=made.error if isinstance(made.error, float) else None,
            unit=self.unit_of(metric),
            higher_is_better=self.directions.get(metric),
            metric=metric,
        )


@dataclass(slots=True)
class _Column:
    """The values of a metric, and the rows that they belong to where not every row has one."""

    values: list[Any] = field(default_factory=list)
    rows: list[int] | None = None
    count: int = 0

    def add(self, row: int, value: Any) -> None:
        if self.rows is None and row != len(self.values):
            self.rows = list(range(len(self.values)))
        if self.rows is not None:
            self.rows.append(row)
        self.values.append(_shared(value))

    def without_odd(self, metric: str) -> dict[int, Failure]:
        """Take out the values that are not numbers where others are; return the reason by row."""
        odd = [place for place, value in enumerate(self.values) if not _is_number(value)]
        if not 0 < len(odd) < len(self.values):
            return {}
        rows = list(self.rows or range(len(self.values)))
        why = {
            rows[place]: Failure("scoring", f"'{metric}' is {self.values[place]!r}, not a number", retryable=False)
            for place in odd
        }
        self.values = [value for value in self.values if _is_number(value)]
        self.rows = [row for row in rows if row not in why]
        return why

    def whole(self) -> Sequence[Any]:
        """Return an entry for each row, ``None`` where it has no value."""
        if self.rows is None and self.count == len(self.values):
            return self.values
        entries: list[Any] = [None] * self.count
        for row, value in zip(self.rows or range(len(self.values)), self.values, strict=True):
            entries[row] = value
        return entries


def _is_number(value: object) -> bool:
    return isinstance(value, Number) or hasattr(value, "__float__")  # NumPy's, too


def _columns(rows: Iterable[Values | None]) -> dict[str, _Column]:
    found: dict[str, _Column] = {}
    count = 0
    for row, values in enumerate(rows):
        count += 1
        for metric, value in (values or {}).items():
            column = found.get(metric)
            if column is None:
                column = found[metric] = _Column()
            column.add(row, value)
    for column in found.values():
        column.count = count
    return found


def _reason(problem: Exception) -> str:
    if not isinstance(problem, ProctorError):
        return str(problem)
    first = problem.diagnostics[0]
    return f"{first.what}: {first.why}" if first.why else first.what
