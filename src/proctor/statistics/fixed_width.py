"""The mean of a finite exam to a width that was fixed beforehand: when to stop asking, and which interval holds then.

Questions are drawn uniformly without replacement, and asking stops at the first look at which the interval is narrow
enough. Stopping by the width alone costs next to no coverage (Chow and Robbins 1965; for shares Frey 2010, "Fixed-width
sequential confidence intervals for a proportion", The American Statistician 64), so the interval has to hold once, and
not at every time as a confidence sequence's: it is narrower, and a sixth to a half fewer questions do.

The interval is that of :mod:`proctor.statistics.bounded`: of right and wrong answers Wilson's, graded scores profit
from their smaller variance, and clusters pay for theirs.

Coverage of right and wrong answers was computed from the distribution of where runs stop
(``tests/statistics/test_fixed_width.py``), that of other scores simulated (``benchmarks/precision.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from proctor.lazy import np
from proctor.statistics.bounded import FEW, few_hits, two_outcome_bounds, unseen, wilson_bounds
from proctor.statistics.distributions import normal_quantile

FIRST_LOOK = 32
"""Questions before the first look: fewer know no share to within ten points, and no variance to within a quarter."""

_LEAST_ROUND = 16
"""Questions between two looks: enough to keep a server busy, few enough not to be asked in vain."""

_CAUTION = 1.015
"""How much longer intervals are than those of a number of questions that was fixed beforehand: what the looks cost, and
what the steps of whole answers take away in the worst case."""

_GRADED = 1.03
"""How much longer once more where the variance has to be estimated along with the mean: stopping early where it came
out too small costs a percent of coverage at most."""

_SMALL = 8.0
"""Questions of the exam over which intervals are longer once more, as a share: the fewer there are, the coarser are the
steps of shares."""

_ONE_SIDED, _FINEST = 1.5, 0.06
"""Means nearer to an end of the scale than so many precisions always lie within the bound on the far side, as no run
stops before that bound is farther away: the whole error is then left to the near one. Precisions above the second
number stop after so few questions that the steps of whole answers are too coarse for that."""

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """What was seen of the units that were drawn: questions, or clusters. Numbers, or arrays of many exams at once.

    Attributes:
        units: How many the exam has; infinite where there is no end of them.
        drawn: How many were drawn.
        mean: Of the scores of their questions, each from 0 to 1.
        variance: Of what one unit adds to that mean, times how many were drawn.
        third: Its third central moment.
        is_plain: Whether all units are single questions with a score of 0 or 1.
        size: Questions of a unit, on average.
    """

    units: float
    drawn: Any
    mean: Any
    variance: Any
    third: Any
    is_plain: Any = True
    size: Any = 1.0

    @classmethod
    def of_units(cls, units: int, scores: Sequence[float], sizes: Sequence[int]) -> Moments:
        """Return the moments of some units, by the sum of the scores of each and how many questions it has."""
        sums, counts = np.asarray(scores, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
        size, mean = float(counts.mean()), float(sums.sum() / counts.sum())
        around = (sums - mean * counts) / size
        is_plain = bool((counts == 1).all() and np.isin(sums, (0.0, 1.0)).all())
        return cls(units, len(sums), mean, float((around**2).mean()), float((around**3).mean()), is_plain, size)


def fixed_width_bounds(seen: Moments, precision: float, level: float = 0.95) -> tuple[Any, Any]:
    """Return the interval of the mean of the whole exam, which holds at the first look at which it is narrow enough.

    Args:
        seen: What was drawn.
        precision: Half of the width that is asked for.
        level: Chance that the interval holds the mean, over all of the asking.
    """
    left = _left(seen)
    count = seen.drawn / np.maximum(left, _TINY)
    z = np.where(seen.is_plain, normal_quantile(0.5 + level / 2), _t_quantile(0.5 + level / 2, seen.drawn - 1))
    variance = seen.variance * np.where(seen.is_plain, 1.0, seen.drawn / np.maximum(seen.drawn - 1, 1))
    skew = seen.third / np.maximum(seen.variance, _TINY)
    end = _ONE_SIDED * precision if precision <= _FINEST else 0.0
    longer = _caution(seen.units)
    z = z * longer * np.where(seen.is_plain, 1.0, _GRADED)
    sided = normal_quantile(level) * longer
    down, up = two_outcome_bounds(variance, skew, count, z)
    lower = partial(_lower, drawn=seen.drawn, count=count, z=(z, sided), end=end, level=level)
    below = np.where(seen.is_plain, seen.mean - lower(seen.mean), down)
    above = np.where(seen.is_plain, 1.0 - seen.mean - lower(1.0 - seen.mean), up)
    missing = unseen(seen.drawn, level, seen.units)
    low = np.maximum(seen.mean - np.maximum(below, seen.mean * missing), 0.0)
    high = np.minimum(seen.mean + np.maximum(above, (1.0 - seen.mean) * missing), 1.0)
    return np.where(left > 0, low, seen.mean), np.where(left > 0, high, seen.mean)


def next_look(seen: Moments, precision: float, level: float = 0.95) -> Any:
    """Return how many questions to ask before the next look: what seems to be missing, at most as many again."""
    plain = (seen.mean * seen.drawn + 1.0) / (seen.drawn + 2.0)
    variance = np.where(seen.is_plain, plain * (1.0 - plain), seen.variance)
    missing = units_needed(variance, seen.units, precision, level) - seen.drawn
    asked = np.ceil(seen.drawn * seen.size)
    return np.clip(np.ceil(missing * seen.size), _LEAST_ROUND, np.maximum(asked, FIRST_LOOK)).astype(np.int64)


def units_needed(variance: Any, units: float, precision: float, level: float = 0.95) -> Any:
    """Return about how many units know a mean to within a precision.

    Args:
        variance: Of what one unit adds to the mean: p (1 - p) of a share p of right answers.
        units: Of the whole exam.
        precision: Half of the width of the interval.
        level: Of the interval.
    """
    square = (normal_quantile(0.5 + level / 2) * _caution(units)) ** 2
    plain = np.maximum(square * (variance / precision**2 - 1.0), 1.0)
    return plain if math.isinf(units) else plain * units / (plain + units - 1.0)


class FixedWidthMean:
    """Takes scores unit by unit, and says between which bounds the mean of the whole exam is.

    A score that is missing may be anything: as 0 for the lower bound, as 1 for the upper one.

    Args:
        units: Questions of the exam, or clusters.
        questions: Of the exam.
        precision: Half of the width of the interval.
        level: Chance that the interval holds the mean.
    """

    def __init__(self, units: int, questions: int, precision: float, level: float = 0.95) -> None:
        self._units, self._questions, self._precision, self._level = units, questions, precision, level
        self._sizes: list[int] = []
        self._sums: tuple[list[float], list[float]] = [], []

    def add(self, units: Iterable[Sequence[float | None]]) -> None:
        """Take the scores of the questions of the next units, each from 0 to 1."""
        for scores in units:
            self._sizes.append(len(scores))
            for sums, end in zip(self._sums, (0.0, 1.0), strict=True):
                sums.append(math.fsum(end if score is None else score for score in scores))

    def bounds(self) -> tuple[float, float]:
        """Return the interval; exact where everything was drawn, and never beyond what is left can make of it."""
        if not self._sizes:
            return 0.0, 1.0
        low, high = (fixed_width_bounds(each, self._precision, self._level) for each in self._moments())
        left = self._questions - sum(self._sizes)
        least, most = (math.fsum(sums) / self._questions for sums in self._sums)
        return max(float(low[0]), least), min(float(high[1]), most + left / self._questions)

    def next_look(self) -> int:
        """Return how many questions to ask before the bounds are looked at again."""
        if not self._sizes:
            return FIRST_LOOK
        return max(int(next_look(each, self._precision, self._level)) for each in self._moments())

    def _moments(self) -> list[Moments]:
        return [Moments.of_units(self._units, sums, self._sizes) for sums in self._sums]


def _caution(units: float) -> float:
    """Return how much longer the intervals of an exam are than those of a fixed number of questions."""
    return _CAUTION * (1.0 + _SMALL / units)


def _left(seen: Moments) -> Any:
    """Return the share of the variance that is left where draws are without replacement."""
    if math.isinf(seen.units):
        return np.ones(np.shape(seen.drawn))
    return (seen.units - seen.drawn) / max(seen.units - 1, 1)


def _lower(share: Any, *, drawn: Any, count: Any, z: tuple[Any, float], end: float, level: float) -> Any:
    """Return the lowest share that is not rejected; those below ``end`` are rejected on one side only."""
    sided = np.maximum(wilson_bounds(share, count, z[1])[0], 0.0)
    low = np.where(sided < end, sided, np.maximum(wilson_bounds(share, count, z[0])[0], end))
    hits = np.rint(share * drawn)
    for few in range(1, FEW + 1):
        low = np.where(hits == few, np.minimum(low, few_hits(few, level) / drawn), low)
    return low


def _t_quantile(probability: float, freedom: Any) -> Any:
    """Return Student's quantile by its expansion (Abramowitz and Stegun 26.7.5): within 0.002 from 8 degrees on.

    Fewer than that are too few to stop at, whatever their quantile is.
    """
    z, by = normal_quantile(probability), np.maximum(freedom, 1)
    first, second = (z**3 + z) / 4.0, (5 * z**5 + 16 * z**3 + 3 * z) / 96.0
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0
    return z + first / by + second / by**2 + third / by**3
