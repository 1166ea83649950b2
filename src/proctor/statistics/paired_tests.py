"""Tests of a difference between paired scores, each with the interval that agrees with it.

A test is a value: its p-value and its interval at any level come from the same numbers, so that an interval leaves
out 0 exactly where ``p_value < 1 - level``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from proctor.lazy import np
from proctor.statistics.arrays import Floats
from proctor.statistics.bounded import unseen
from proctor.statistics.distributions import t_cdf, t_quantile
from proctor.statistics.intervals import Interval
from proctor.statistics.paired_shares import POWER, detectable_share, mcnemar_p, melded_interval, needed_pairs

_UNKNOWN = Interval(math.nan, math.nan)


class PairedTest(Protocol):
    """A test of whether a mean difference is 0."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def difference(self) -> float:
        """The mean difference."""

    @property
    def p_value(self) -> float:
        """Chance of a difference at least as large where there is none; NaN where it is not known."""

    def interval(self, level: float) -> Interval:
        """Return the differences that the test does not reject; NaN where it does not say."""

    def detectable(self, level: float) -> float:
        """Return the smallest true difference that is found four times out of five; infinite where none is."""

    def needed(self, level: float) -> float:
        """Return how many pairs like these show the difference four times out of five; infinite where none do."""


@dataclass(frozen=True, slots=True)
class SharesTest:
    """McNemar's exact test of right and wrong answers, with the melded interval of Fay and Lumbard (2021).

    Attributes:
        won, lost: Pairs of which only the second, or only the first is right.
        pairs: All pairs.
        whole: The score of a right answer.
    """

    won: int
    lost: int
    pairs: int
    whole: float = 1.0
    name: str = "mcnemar"

    @property
    def difference(self) -> float:
        """The difference of the two mean scores."""
        return self.whole * (self.won - self.lost) / self.pairs

    @property
    def p_value(self) -> float:
        """Of McNemar's exact test."""
        return mcnemar_p(self.won, self.lost)

    def interval(self, level: float) -> Interval:
        """Return the interval that leaves out 0 exactly where the test rejects it."""
        return Interval(*(self.whole * bound for bound in melded_interval(self.won, self.lost, self.pairs, level)))

    def detectable(self, level: float) -> float:
        """Return the smallest difference that the exact test finds, where as many pairs differ or as it takes."""
        return self.whole * detectable_share((self.won + self.lost) / self.pairs, self.pairs, level)

    def needed(self, level: float) -> float:
        """Return how many pairs show this difference with this share of pairs that differ."""
        if self.won == self.lost:
            return math.inf
        return needed_pairs((self.won - self.lost) / self.pairs, (self.won + self.lost) / self.pairs, level)


@dataclass(frozen=True, slots=True)
class MeanTest:
    """Student's t-test of a mean difference, of single pairs or of clusters.

    Attributes:
        difference: The mean difference.
        error: Its standard error.
        freedom: Degrees of freedom: pairs or clusters, less one.
        pairs: How many there are.
        reach: The largest difference that scores can have.
    """

    difference: float
    error: float
    freedom: int
    pairs: int
    reach: float = math.inf
    name: str = "t"

    @property
    def p_value(self) -> float:
        """Two-sided; NaN of one cluster, and where rounding has left no spread."""
        return 2 * t_cdf(-abs(self.difference / self.error), self.freedom) if self.freedom and self.error else math.nan

    def interval(self, level: float) -> Interval:
        """Return Student's interval, within what scores can differ by."""
        if math.isnan(self.p_value):
            return _UNKNOWN
        margin = t_quantile(0.5 + level / 2, self.freedom) * self.error
        return Interval(max(self.difference - margin, -self.reach), min(self.difference + margin, self.reach))

    def detectable(self, level: float) -> float:
        """Return the sum of both quantiles, as standard errors."""
        found = self._reached(level) * self.error
        return math.inf if found > self.reach else found

    def needed(self, level: float) -> float:
        """Return the pairs with which the standard error is small enough."""
        if not self.difference:
            return math.inf
        return self.pairs * (self._reached(level) * self.error / self.difference) ** 2

    def _reached(self, level: float) -> float:
        if not self.freedom:
            return math.nan
        return t_quantile(0.5 + level / 2, self.freedom) + t_quantile(POWER, self.freedom)


@dataclass(frozen=True, slots=True)
class ResampledTest:
    """A bootstrap of a difference: a value is rejected where too few resamples lie on its other side.

    The data count as one of the resamples (Davison and Hinkley 1997, 4.2): a p-value of 0 would claim more than
    resamples can show. The bounds are the order statistics at which the p-value passes the level.

    Attributes:
        difference: The difference.
        resampled: That of each resample, in ascending order.
        pairs: How many there are.
    """

    difference: float
    resampled: Floats
    pairs: int
    name: str = "bootstrap"

    @property
    def p_value(self) -> float:
        """Twice the share of resamples on the other side of 0; 1 where all are equal to it, else NaN of equal ones."""
        if not self._has_width:
            return 1.0 if self.difference == 0 else math.nan
        count = len(self.resampled)
        below = int(np.searchsorted(self.resampled, 0.0, side="right"))
        above = count - int(np.searchsorted(self.resampled, 0.0, side="left"))
        return min(1.0, 2 * (min(below, above) + 1) / (count + 1))

    def interval(self, level: float) -> Interval:
        """Return the order statistics between which the test does not reject; NaN where there are too few resamples."""
        count = len(self.resampled)
        rank = math.ceil((1.0 - level) * (count + 1) / 2 - 1e-9) - 1
        if rank < 1 or not self._has_width:
            return _UNKNOWN
        return Interval(float(self.resampled[rank - 1]), float(self.resampled[count - rank]))

    def detectable(self, level: float) -> float:
        """Return the sum of both normal quantiles, as standard errors."""
        return self._mean_test.detectable(level) if self._has_width else math.nan

    def needed(self, level: float) -> float:
        """Return the pairs with which the standard error is small enough."""
        return self._mean_test.needed(level)

    @property
    def _has_width(self) -> bool:
        return bool(self.resampled[0] < self.resampled[-1])

    @property
    def _mean_test(self) -> MeanTest:
        error = float(self.resampled.std(ddof=1))
        return MeanTest(self.difference, error, max(self.pairs - 1, 1), self.pairs)


@dataclass(frozen=True, slots=True)
class SignTest:
    """The exact sign test of differences that are all the same; they do not say how others would vary.

    Attributes:
        difference: What they all are.
        count: How many, or how many clusters.
    """

    difference: float
    count: int
    name: str = "sign"

    @property
    def p_value(self) -> float:
        """Of equal chances, all went one way."""
        return 1.0 if self.difference == 0 else 0.5 ** (self.count - 1)

    def interval(self, level: float) -> Interval:
        """Return no bounds."""
        del level
        return _UNKNOWN

    def detectable(self, level: float) -> float:
        """Return NaN."""
        del level
        return math.nan

    def needed(self, level: float) -> float:
        """Return with how many the sign test rejects."""
        return math.ceil(1 - math.log2(1.0 - level)) if self.difference else math.inf


@dataclass(frozen=True, slots=True)
class EqualTest:
    """An exact test of differences that are all the same, on a scale with ends: what the unseen ones could still add.

    So many equal differences, of which a share ``s`` of all are, come with the chance ``s ** count``. Where the mean is
    0, ``s`` is at most ``reach / (reach + |difference|)``, with all others at the other end of the scale. The interval
    holds the means of all mixtures for which that chance is not below half of the error.

    Attributes:
        difference: What they all are.
        count: How many, or how many clusters.
        reach: The largest difference that two scores can have.
    """

    difference: float
    count: int
    reach: float
    name: str = "equal"

    @property
    def p_value(self) -> float:
        """Twice the largest chance of so many equal differences where their mean is 0."""
        return min(1.0, 2.0 * (self.reach / (self.reach + abs(self.difference))) ** self.count)

    def interval(self, level: float) -> Interval:
        """Return the means that are not rejected."""
        share = float(unseen(self.count, level))
        below, above = self.reach + self.difference, self.reach - self.difference
        return Interval(self.difference - share * below, self.difference + share * above)

    def detectable(self, level: float) -> float:
        """Return NaN: nothing says how others would vary."""
        del level
        return math.nan

    def needed(self, level: float) -> float:
        """Return with how many of them the test rejects."""
        if not self.difference:
            return math.inf
        share = self.reach / (self.reach + abs(self.difference))
        return math.floor(math.log((1.0 - level) / 2.0) / math.log(share)) + 1


@dataclass(frozen=True, slots=True)
class BoundedTest:
    """A test of pairs of which some have no score: what holds whatever they would have scored.

    Attributes:
        seen: The test of the pairs that were scored.
        least, most: The tests where the second run had, of what is missing, the lowest scores, or the highest.
    """

    seen: PairedTest
    least: PairedTest
    most: PairedTest

    @property
    def name(self) -> str:
        """That of the test."""
        return self.seen.name

    @property
    def difference(self) -> float:
        """Of the pairs that were scored."""
        return self.seen.difference

    @property
    def p_value(self) -> float:
        """The larger one, where both lie on one side of 0; else nothing is ruled out."""
        if self.least.difference * self.most.difference <= 0:
            return 1.0
        return max(self.least.p_value, self.most.p_value)

    def interval(self, level: float) -> Interval:
        """Return from the lower bound of the lowest to the upper bound of the highest."""
        return Interval(self.least.interval(level).low, self.most.interval(level).high)

    def detectable(self, level: float) -> float:
        """Return what the scored pairs show, and as much again as is open."""
        return self.seen.detectable(level) + (self.most.difference - self.least.difference)

    def needed(self, level: float) -> float:
        """Return that of the pairs that were scored."""
        return self.seen.needed(level)


def signs_of(test: PairedTest, level: float) -> tuple[int, int]:
    """Return which way a difference is decided: -1, 0 (not) or 1, at the least and at the most that it can be."""
    ends: Sequence[PairedTest] = (test.least, test.most) if isinstance(test, BoundedTest) else (test, test)
    first, last = (_sign(each, level) for each in ends)
    return first, last


def _sign(test: PairedTest, level: float) -> int:
    return (test.difference > 0) - (test.difference < 0) if test.p_value < 1.0 - level else 0
