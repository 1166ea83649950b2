"""Intervals of means of independent scores, made of the intervals of these scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
