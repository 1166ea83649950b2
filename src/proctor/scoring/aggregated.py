"""One number of the values of many rows, with its standard error and interval, as lm-eval computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from proctor.scoring.aggregations import Aggregate, mean
from proctor.scoring.intervals import wilson
from proctor.scoring.standard_errors import standard_error

CONFIDENCE_95 = 1.959963984540054
"""The 97.5% quantile of the normal distribution."""


class Aggregated(NamedTuple):
    """An aggregate. Its error is ``"N/A"`` and its bounds are ``None`` where lm-eval knows none."""

    value: Any
    error: float | str
    low: float | None = None
    high: float | None = None


def aggregated(metric: str, aggregate: Aggregate, values: Sequence[Any], resamples: int) -> Aggregated:
    """Return the aggregate of values: Wilson's interval for shares, else 1.96 standard errors to both sides.

    Args:
        metric: Name of the metric; the bootstrap of corpus metrics draws fewer resamples.
        aggregate: What makes one number of the values.
        values: One per row.
        resamples: Bootstrap resamples behind a standard error, where it has no closed form.
    """
    value = number(aggregate(values))
    error = standard_error(metric, aggregate, values, resamples)
    if aggregate is mean and all(each in (0, 1) for each in values):
        return Aggregated(value, error, *wilson(int(sum(values)), len(values)))
    if isinstance(error, float) and error > 0 and isinstance(value, int | float):  # of equal values nothing is known
        return Aggregated(value, error, value - CONFIDENCE_95 * error, value + CONFIDENCE_95 * error)
    return Aggregated(value, error)


def number(value: object) -> Any:
    """Return a score of NumPy as a plain Python number; other values as they are."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "size", 2) == 1 else value
