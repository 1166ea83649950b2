"""One score: a number with what it takes to trust it; the mean of several, with an interval made of theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Unit = Literal["share", "percent", "raw"]
"""``share``: of 1; ``percent``: of 100; ``raw``: neither (a perplexity, a count, a BLEU of its own scale)."""

_OF_ONE: Mapping[Unit, float] = {"share": 1.0, "percent": 0.01}


@dataclass(frozen=True, slots=True)
class Score:
    """A number that a metric made of a set of instances, in the unit that its dialect declares, to the last bit.

    Attributes:
        name: Under which results list it.
        value: The number; NaN where it is undefined. Nearly always a float; some metrics give lists or texts.
        low, high: Bounds of its 95% confidence interval, where there is one.
        n: Instances behind it, where that is not every instance that was scored.
        stderr: Its standard error, where the dialect reports one and it is known.
        unit: In which unit the number is.
        higher_is_better: Whether more is better, where that is known.
        metric: Name of the metric, without the grading's.
        grading: Name of the grading (lm-eval: filter pipeline), where an exam has several.
    """

    name: str
    value: object
    low: float | None = None
    high: float | None = None
    n: int | None = None
    stderr: float | None = None
    unit: Unit = "raw"
    higher_is_better: bool | None = None
    metric: str = ""
    grading: str = ""

    @property
    def number(self) -> float | None:
        """The value where it is a finite number, else ``None``."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def as_share(self, value: float) -> float | None:
        """Return a value of this score's unit as a share of 1; ``None`` where the unit is raw."""
        factor = _OF_ONE.get(self.unit)
        return None if factor is None else value * factor


def comparable(one: Score, other: Score) -> bool:
    """Return whether two scores may be compared: raw with raw, shares and percents with each other."""
    return (one.unit == "raw") == (other.unit == "raw")


Interval = tuple[float, float]


def interval_of_mean(
    values: Sequence[float], intervals: Sequence[Interval], weights: Sequence[float] | None = None
) -> Interval:
    """Return the interval of a weighted mean; it stays within the bounds that the scores' intervals keep.

    Source: the method of variance estimates recovery, G. Y. Zou and A. Donner, *Construction of confidence limits about
    effect measures: a general approach*, Statistics in Medicine 27 (2008). The two sides are made separately, so that a
    mean of shares near 0 or 1 has a lopsided interval like theirs.

    Args:
        values: The scores.
        intervals: Their intervals, all of one level; the result has that level.
        weights: Their weights; by default all the same.
    """
    shares = [1.0] * len(values) if weights is None else list(weights)
    total = sum(shares)
    mean = sum(share * value for share, value in zip(shares, values, strict=True)) / total
    below = [share * (value - low) for share, value, (low, _) in zip(shares, values, intervals, strict=True)]
    above = [share * (high - value) for share, value, (_, high) in zip(shares, values, intervals, strict=True)]
    return mean - math.hypot(*below) / total, mean + math.hypot(*above) / total


def mean_score(scores: Sequence[Score], name: str) -> Score:
    """Return the plain mean of scores of independent exams, with the interval of such a mean where all have one.

    Scores of one unit keep it, to the last bit; shares and percentages together become shares. What has no unit is
    averaged as it is, beside whatever else.

    Args:
        scores: Scores with a number; at least one.
        name: What to call the mean.
    """
    scores = in_one_unit(scores)
    values = [score.number or 0.0 for score in scores]
    value = sum(values) / len(values)
    intervals = [(score.low, score.high) for score in scores if score.low is not None and score.high is not None]
    low, high = interval_of_mean(values, intervals) if len(intervals) == len(scores) else (None, None)
    units = {score.unit for score in scores}
    return Score(name, value, low, high, unit=units.pop() if len(units) == 1 else "raw")


def in_one_unit(scores: Sequence[Score]) -> list[Score]:
    """Return scores in one unit where they differ and can be converted: shares and percentages as shares."""
    if {score.unit for score in scores} != {"share", "percent"}:
        return list(scores)
    return [score if score.unit == "share" else _as_share(score) for score in scores]


def _as_share(score: Score) -> Score:
    low, high = (None if bound is None else score.as_share(bound) for bound in (score.low, score.high))
    return replace(score, value=score.as_share(score.number or 0.0), low=low, high=high, unit="share")
