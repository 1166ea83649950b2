"""Is one run better than another? Paired comparisons of instance scores.

Two runs on the same instances are compared instance by instance: what both find easy or hard cancels out, so far
smaller differences show than two separate intervals suggest (Miller 2024, "Adding Error Bars to Evals").
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from proctor.errors import ScoringError, UsageError
from proctor.statistics.arrays import Floats, as_floats
from proctor.statistics.intervals import Bootstrap
from proctor.statistics.paired_tests import (
    BoundedTest,
    EqualTest,
    MeanTest,
    PairedTest,
    ResampledTest,
    SharesTest,
    SignTest,
)
from proctor.statistics.resampling import Means
from proctor.statistics.two_level import clustered_error

Test = Literal["auto", "mcnemar", "t", "bootstrap"]

_ROUNDING = 2.0**-44  # of the larger score: what sums of a few hundred terms leave behind, far below any difference
_LEAST = 2  # pairs: the spread of one difference is not defined


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two runs on one score: second minus first.

    Attributes:
        name: The score.
        first, second: Means over the instances that both scored.
        difference: Second minus first.
        low, high: Confidence interval of the difference, which leaves out 0 exactly where ``p_value < 1 - level``; NaN
            where the data do not say how others would vary.
        p_value: Chance of a difference at least as large where there is none.
        standard_error: Of the difference; clustered where clusters were given.
        count: Instances that both scored.
        left_out: Instances that one of them did not.
        test: What the p-value comes from.
        detectable: Smallest difference that would be found four times out of five; infinite where none would, NaN where
            there is no interval.
    """

    name: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    standard_error: float
    count: int
    left_out: int
    test: str
    detectable: float


def compare(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    name: str = "score",
    test: Test = "auto",
    clusters: Sequence[Hashable] | None = None,
    whole: float | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int | None = None,
) -> Comparison:
    """Compare two runs on one score.

    Args:
        first, second: Scores of the same instances, in the same order; ``None`` or NaN where there is none.
        name: What to call the score.
        test: ``mcnemar`` for scores of which each is 0 or the whole (1, or 100 for percentages), exact; ``t`` for
            paired differences; ``bootstrap`` for no assumption about their distribution; ``auto`` takes ``mcnemar``
            where it fits and ``t`` elsewhere. Differences that are all equal, or those of all clusters, get an exact
            test of what lies between the ends of the scale (``equal``), without ends a sign test (``sign``). What
            rounding leaves behind is not a difference.
        clusters: A key for each instance; instances with the same one (questions on one text) are not independent.
        whole: The score of a right answer, where each is right or wrong; by default 100 where one has that, else 1.
        level: Confidence level.
        resamples: Bootstrap resamples.
        seed: Seed of the bootstrap; the setting by default.

    Raises:
        UsageError: The lengths differ, or the test does not fit the scores.
        ScoringError: Fewer than two instances were scored by both.
    """
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise UsageError(
            f"the runs have {len(first)} and {len(second)} instances", hint="compare runs of the same exam"
        )
    one, two = as_floats(first), as_floats(second)
    both = ~(np.isnan(one) | np.isnan(two))
    if both.sum() < _LEAST:
        raise ScoringError(f"only {int(both.sum())} instances have the score '{name}' in both runs")
    groups = None if clusters is None else [key for key, kept in zip(clusters, both, strict=True) if kept]
    one, two = one[both], two[both]
    found = paired_test(one, two, test, groups, whole=whole, bootstrap=Bootstrap(resamples, level, seed=seed))
    low, high = found.interval(level)
    return Comparison(
        name=name,
        first=float(one.mean()),
        second=float(two.mean()),
        difference=float((two - one).mean()),
        low=low,
        high=high,
        p_value=found.p_value,
        standard_error=_error_of(found, two - one),
        count=len(one),
        left_out=int((~both).sum()),
        test=found.name,
        detectable=found.detectable(level),
    )


def paired_test(
    one: Floats,
    two: Floats,
    test: Test = "auto",
    groups: Sequence[Hashable] | None = None,
    *,
    whole: float | None = None,
    bootstrap: Bootstrap | None = None,
) -> PairedTest:
    """Return the test of two columns of scores without gaps; arguments and errors as of :func:`compare`."""
    right = _whole_of(one, two, whole)
    chosen = _chosen(test, right, groups)
    if chosen == "mcnemar" and right is not None:
        return SharesTest(int((two > one).sum()), int((two < one).sum()), len(one), right)
    differences, rounding = _without_rounding(one, two), _rounding(one, two).max()
    mean = float(differences.mean())
    units = _means_of(differences, groups) if groups else differences
    if np.ptp(differences) == 0 or (len(units) > 1 and np.ptp(units) <= rounding):
        equal, reach = mean if abs(mean) > rounding else 0.0, _reach(one, two, whole)
        return SignTest(equal, len(units)) if math.isinf(reach) else EqualTest(equal, len(units), reach)
    if chosen == "bootstrap":
        (resampled,) = (bootstrap or Bootstrap()).distribution(Means(differences))
        return ResampledTest(mean, np.sort(resampled), len(differences))
    error = cluster_standard_error(differences, groups) if groups else standard_error(differences)
    return MeanTest(mean, error, len(units) - 1, len(differences), _reach(one, two, whole))


def bounded_test(
    one: Floats, two: Floats, groups: Sequence[Hashable] | None = None, whole: float | None = None
) -> PairedTest:
    """Return the test of two columns of scores; where pairs lack one, with what they could be at the least and most.

    What is missing lies within the scale, or within the scores that there are where nothing says how far it reaches.
    """
    is_scored = ~(np.isnan(one) | np.isnan(two))
    inside = None if groups is None else [key for key, kept in zip(groups, is_scored, strict=True) if kept]
    seen = paired_test(one[is_scored], two[is_scored], "auto", inside, whole=whole)
    if is_scored.all():
        return seen
    known = np.concatenate([one[~np.isnan(one)], two[~np.isnan(two)]])
    low, high = min(float(known.min()), 0.0 if whole else math.inf), max(float(known.max()), whole or -math.inf)
    ends = [
        paired_test(
            np.where(np.isnan(one), first, one), np.where(np.isnan(two), second, two), "auto", groups, whole=whole
        )
        for first, second in ((high, low), (low, high))
    ]
    return BoundedTest(seen, *ends)


def _reach(one: Floats, two: Floats, whole: float | None) -> float:
    """Return the largest difference that scores between 0 and the whole can have; infinite for others."""
    is_within = whole is not None and min(one.min(), two.min()) >= 0.0 and max(one.max(), two.max()) <= whole
    return whole if whole is not None and is_within else math.inf


def _error_of(test: PairedTest, differences: Floats) -> float:
    if isinstance(test, MeanTest):
        return test.error
    if isinstance(test, SignTest | EqualTest):
        return math.nan
    whole = test.whole if isinstance(test, SharesTest) else 1.0
    return standard_error(differences) or whole * _least_error(len(differences))


def _chosen(test: Test, right: float | None, groups: Sequence[Hashable] | None) -> Test:
    if test == "auto":
        return "mcnemar" if right is not None and groups is None else "t"
    if test == "mcnemar" and right is None:
        raise UsageError("McNemar's test is for scores of 0 and 1, or of 0 and 100", hint="use 't' or 'bootstrap'")
    if test != "t" and groups is not None:
        raise UsageError(f"the test '{test}' does not know clusters", hint="use 't'")
    return test


def _whole_of(one: Floats, two: Floats, whole: float | None) -> float | None:
    """Return the score of a right answer where each answer is right or wrong; ``None`` elsewhere."""
    values = np.unique(np.concatenate([one, two]))
    if whole is None:
        whole = 100.0 if values[-1] == 100.0 else 1.0  # noqa: PLR2004 - percent
    return whole if np.isin(values, (0.0, whole)).all() else None


def _rounding(one: Floats, two: Floats) -> Floats:
    """Return how far two scores of an instance may lie apart and be the same, computed in another order."""
    return _ROUNDING * np.maximum(np.abs(one), np.abs(two))


def _without_rounding(one: Floats, two: Floats) -> Floats:
    """Return second minus first, 0 where only rounding tells them apart."""
    differences = two - one
    return np.where(np.abs(differences) <= _rounding(one, two), 0.0, differences)


def _means_of(values: Floats, clusters: Sequence[Hashable]) -> Floats:
    """Return the mean of each cluster, in the order in which they come."""
    place = {key: position for position, key in enumerate(dict.fromkeys(clusters))}
    places = [place[key] for key in clusters]
    return np.bincount(places, weights=values) / np.bincount(places)


def _least_error(count: int) -> float:
    """Return a standard error for pairs of which none differs: as if one more pair did."""
    return math.sqrt(1 / (count + 1) / count)


def standard_error(values: Sequence[float] | Floats) -> float:
    """Return the standard error of a mean."""
    data = np.asarray(values, dtype=np.float64)
    return float(data.std(ddof=1) / math.sqrt(data.size)) if data.size > 1 else math.nan


def cluster_standard_error(values: Sequence[float] | Floats, clusters: Sequence[Hashable]) -> float:
    """Return the standard error of a mean over instances that come in clusters.

    Liang and Zeger's sandwich with the correction G/(G-1) (as ``statsmodels``' cluster covariance of a constant).
    """
    return clustered_error(values, clusters)[0]


def p_text(value: float | None) -> str:
    """Return a p-value in four decimals; a small one is smaller than what they show, not 0."""
    if value is None or math.isnan(value):
        return "-"
    return "<0.0001" if value < _LEAST_P else f"{value:.4f}"


_LEAST_P = 0.0001  # what four decimals show
