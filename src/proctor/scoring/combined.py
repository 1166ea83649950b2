"""Intervals of means of independent scores, made of the intervals of these scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from proctor.scoring.score import Score

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
