"""The interval of a mean whose scores have two ends: shares of right answers, grades from 0 to 1.

Near the ends the usual intervals promise too much: of 20 answers of which 19 are right, resampling never sees that a
fifth might be wrong. Three rules mend that, for numbers or arrays of many exams at once:

- Scores that are 0 or 1 have Wilson's score interval (1927), whose near bound for a few hits is that of a
  Poisson count (Brown, Cai and DasGupta 2001, "Interval estimation for a binomial proportion", Statistical Science 16,
  section 4.1.1): without it the coverage falls to 84% beside the ends.
- Graded scores have Wilson's interval of answers with two outcomes that have their mean, their variance and their
  skewness, with Student's quantile.
- No interval of graded scores shuts out what answers that nobody has seen yet could add: with a chance of
  a = (1 - level) / 2 none of n is among those that make up 1 - a^(1/n) of all (about 3.7 / n; the "rule of three").
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from proctor.lazy import np
from proctor.statistics.distributions import normal_quantile, t_quantile

_TINY = 1e-24
FEW = 6
"""Most hits whose bound is that of a Poisson count: beyond three it matters where a run stops by what it saw."""
_PLAIN = 1e-9
"""How near the variance is to that of answers with the outcomes 0 and 1, where they have no others."""


def wilson_bounds(share: Any, count: Any, z: Any) -> tuple[Any, Any]:
    """Return Wilson's interval of a share of ``count`` answers, which need not be whole; ``z`` is the quantile.

    Rounding may leave it beyond 0 or 1 by the last bit.
    """
    square = z * z / count
    margin = (square * (share * (1.0 - share) + square / 4.0)) ** 0.5
    middle, scale = share + square / 2.0, 1.0 + square
    return (middle - margin) / scale, (middle + margin) / scale


def two_outcome_bounds(variance: Any, skew: Any, count: Any, z: Any) -> tuple[Any, Any]:
    """Return how far the bounds of a mean lie below and above it.

    Args:
        variance: Of one answer.
        skew: Its third central moment by its variance.
        count: Answers.
        z: The quantile.
    """
    apart = (skew * skew + 4.0 * variance + _TINY) ** 0.5
    upper = (1.0 - skew / apart) / 2.0  # how often the upper outcome comes
    low, high = wilson_bounds(upper, count, z)
    return apart * (upper - low), apart * (high - upper)


def unseen(drawn: Any, level: float = 0.95, units: float = math.inf) -> Any:
    """Return the largest share of answers of which none is among those that were drawn.

    Args:
        drawn: Answers.
        level: Confidence level of the interval, of which this is one side.
        units: All that there are, where they are not drawn from a source without end.
    """
    alpha = (1.0 - level) / 2.0
    if math.isinf(units):
        return -math.expm1(math.log(alpha) / drawn)
    return math.log(alpha) / (units * np.log1p(-np.minimum(drawn / units, 1.0 - 1e-12)))


@lru_cache(maxsize=64)
def few_hits(hits: int, level: float = 0.95) -> float:
    """Return the lowest mean of a Poisson count that is not rejected by so many hits, at 1 - level on one side."""
    low, high = 0.0, float(hits)
    while (middle := (low + high) / 2) not in (low, high):
        below = math.fsum(math.exp(-middle) * middle**each / math.factorial(each) for each in range(hits))
        low, high = (middle, high) if 1.0 - below < 1.0 - level else (low, middle)
    return middle


def share_bounds(hits: int, count: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of the share of answers that are right."""
    low, high = wilson_bounds(hits / count, count, normal_quantile(0.5 + level / 2.0))
    return _near(low, hits, count, level), 1.0 - _near(1.0 - high, count - hits, count, level)


def _near(low: float, hits: int, count: int, level: float) -> float:
    """Return the lower bound of a share, where hits are few that of a Poisson count."""
    if hits == 0:
        return 0.0
    return min(low, few_hits(hits, level) / count) if hits <= min(FEW, count / 2) else low


def mean_bounds(mean: float, error: float, skew: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a mean of scores from 0 to 1.

    Args:
        mean: The mean.
        error: Its standard error.
        skew: Third central moment of what a score, or a cluster, adds to the mean, by its variance.
        count: Scores, or clusters of them.
        level: Confidence level.
    """
    variance = error * error * count
    if (
        abs(variance * (count - 1) / count - mean * (1.0 - mean)) <= _PLAIN
        and abs(mean * count % 1.0 - 0.5) >= 0.5 - _PLAIN
    ):
        return share_bounds(round(mean * count), count, level)
    down, up = two_outcome_bounds(variance, skew, count, t_quantile(0.5 + level / 2.0, count - 1))
    return within(mean - float(down), mean + float(up), mean, count, level)


def within(low: float, high: float, value: float, count: int, level: float = 0.95) -> tuple[float, float]:
    """Return an interval of a score from 0 to 1 that shuts out nothing that unseen answers could add.

    Args:
        low: The lower bound.
        high: The upper bound.
        value: The score.
        count: Answers behind it.
        level: Confidence level.
    """
    missing = float(unseen(count, level))
    return max(min(low, value * (1.0 - missing)), 0.0), min(max(high, value + (1.0 - value) * missing), 1.0)
