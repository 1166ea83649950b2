"""Is one run better than another? Paired comparisons of instance scores.

Two runs on the same instances are compared instance by instance: what both find easy or hard cancels out, so far
smaller differences show than two separate intervals suggest (Miller 2024, "Adding Error Bars to Evals").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from proctor.errors import ScoringError, UsageError
from proctor.statistics.arrays import Floats, as_floats
from proctor.statistics.distributions import binomial_cdf, normal_quantile, t_cdf, t_quantile
from proctor.statistics.intervals import Bootstrap, Interval
from proctor.statistics.resampling import Means
from proctor.statistics.two_level import clustered_error

Test = Literal["auto", "mcnemar", "t", "bootstrap"]

_BISECTIONS = 60  # halve an interval of 2 down to the spacing of floats
_ROUNDING = 2.0**-44  # of the larger score: what sums of a few hundred terms leave behind, far below any difference
_LEAST = 2  # pairs: the spread of one difference is not defined


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two runs on one score: second minus first.

    Attributes:
        name: The score.
        first, second: Means over the instances that both scored.
        difference: Second minus first.
        low, high: Confidence interval of the difference; NaN where the data do not say how others would vary.
        p_value: Chance of a difference at least as large where there is none.
        standard_error: Of the difference; clustered where clusters were given.
        count: Instances that both scored.
        left_out: Instances that one of them did not.
        test: What the p-value comes from.
        detectable: Smallest difference that would be found four times out of five; NaN where there is no interval.
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
            sign test (``sign``). What rounding leaves behind is not a difference.
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
    right = _whole_of(one, two, whole)
    chosen = _chosen(test, right, groups)
    bootstrap = Bootstrap(resamples, level, seed=seed)
    if chosen == "mcnemar" and right is not None:
        found = _tested_shares(one, two, right, bootstrap)
    else:
        found = _tested(one, two, chosen, groups, bootstrap)
    return replace(found, name=name, left_out=int((~both).sum()))


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


def _tested_shares(one: Floats, two: Floats, right: float, bootstrap: Bootstrap) -> Comparison:
    """Compare answers that are right or wrong: McNemar's exact test, Tango's interval."""
    count, differences = len(one), two - one
    low, high = tango(int((differences > 0).sum()), int((differences < 0).sum()), count, bootstrap.level)
    error = standard_error(differences) or right * _least_error(count)
    return _compared(one, two, "mcnemar", Interval(right * low, right * high), mcnemar(one, two), error, bootstrap)


def _tested(
    one: Floats, two: Floats, test: Test, groups: Sequence[Hashable] | None, bootstrap: Bootstrap
) -> Comparison:
    differences, rounding = _without_rounding(one, two), _rounding(one, two).max()
    mean = float(differences.mean())
    units = _means_of(differences, groups) if groups else differences
    if np.ptp(differences) == 0 or (len(units) > 1 and np.ptp(units) <= rounding):
        p_value = _sign_p_value(mean if abs(mean) > rounding else 0.0, len(units))
        return _compared(one, two, "sign", Interval(math.nan, math.nan), p_value, math.nan, bootstrap)
    error = cluster_standard_error(differences, groups) if groups else standard_error(differences)
    if test == "bootstrap":
        interval, p_value = paired_bootstrap(differences, bootstrap)
    else:
        freedom = len(units) - 1
        margin = t_quantile(0.5 + bootstrap.level / 2, freedom) * error if freedom else math.nan
        interval, p_value = Interval(mean - margin, mean + margin), _t_p_value(mean, error, freedom)
    return _compared(one, two, test, interval, p_value, error, bootstrap)


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


def _compared(
    one: Floats, two: Floats, test: str, interval: Interval, p_value: float, error: float, bootstrap: Bootstrap
) -> Comparison:
    return Comparison(
        name="",
        first=float(one.mean()),
        second=float(two.mean()),
        difference=float((two - one).mean()),
        low=interval.low,
        high=interval.high,
        p_value=p_value,
        standard_error=error,
        count=len(one),
        left_out=0,
        test=test,
        detectable=detectable_difference(error, level=bootstrap.level),
    )


def _least_error(count: int) -> float:
    """Return a standard error for pairs of which none differs: as if one more pair did."""
    return math.sqrt(1 / (count + 1) / count)


def _sign_p_value(difference: float, count: int) -> float:
    """Return the exact p-value of differences that are all the same: of equal chances, all went one way."""
    return 1.0 if difference == 0 else 0.5 ** (count - 1)


def _t_p_value(mean: float, error: float, freedom: int) -> float:
    return 2 * t_cdf(-abs(mean / error), freedom) if freedom and error else math.nan


def tango(won: int, lost: int, pairs: int, level: float = 0.95) -> Interval:
    """Return the score interval of a difference of paired shares (Tango 1998); it never has width 0.

    Args:
        won, lost: Pairs of which only the second, or only the first is right.
        pairs: All pairs.
        level: Confidence level.
    """
    z, difference = normal_quantile(0.5 + level / 2), (won - lost) / pairs

    def score(delta: float) -> float:
        a, b, c = 2 * pairs, -won - lost + (2 * pairs - won + lost) * delta, -lost * delta * (1 - delta)
        share = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
        variance = pairs * (2 * share + delta * (1 - delta))
        distance = won - lost - pairs * delta
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)

    return Interval(
        _crossing(lambda delta: score(delta) > z, -1.0, difference),
        _crossing(lambda delta: score(delta) >= -z, difference, 1.0),
    )


def _crossing(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition that holds at ``low`` ends."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return (low + high) / 2


def standard_error(values: Sequence[float] | Floats) -> float:
    """Return the standard error of a mean."""
    data = np.asarray(values, dtype=np.float64)
    return float(data.std(ddof=1) / math.sqrt(data.size)) if data.size > 1 else math.nan


def cluster_standard_error(values: Sequence[float] | Floats, clusters: Sequence[Hashable]) -> float:
    """Return the standard error of a mean over instances that come in clusters.

    Liang and Zeger's sandwich with the correction G/(G-1) (as ``statsmodels``' cluster covariance of a constant).
    """
    return clustered_error(values, clusters)[0]


def mcnemar(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Return the p-value of McNemar's exact test: of the pairs that differ, how unequally they are divided."""
    one, two = np.asarray(first) > 0, np.asarray(second) > 0
    lost, won = int((one & ~two).sum()), int((two & ~one).sum())
    return min(1.0, 2 * binomial_cdf(min(lost, won), lost + won, 0.5)) if lost + won else 1.0


def paired_bootstrap(differences: Floats, bootstrap: Bootstrap) -> tuple[Interval, float]:
    """Return the interval of a mean difference, and twice the share of resamples on the other side of zero.

    Differences that are all equal say nothing about how others would vary: no interval, and a sign test.
    """
    if np.ptp(differences) == 0:
        return Interval(math.nan, math.nan), _sign_p_value(float(differences.mean()), len(differences))
    means = Means(differences)
    (interval,) = bootstrap.intervals(means)
    (resampled,) = bootstrap.distribution(means)
    return interval, bootstrap_p_value(resampled)


def bootstrap_p_value(differences: Floats) -> float:
    """Return twice the share of resampled differences on the other side of zero.

    The data count as one of the resamples: a p-value of 0 would claim more than resamples can show.
    """
    below, above = int(np.sum(differences <= 0)), int(np.sum(differences >= 0))
    return min(1.0, 2 * (min(below, above) + 1) / (len(differences) + 1))


def detectable_difference(error: float, *, power: float = 0.8, level: float = 0.95) -> float:
    """Return the smallest true difference that a two-sided test finds with some power (normal approximation)."""
    return (normal_quantile(0.5 + level / 2) + normal_quantile(power)) * error


def needed_instances(difference: float, deviation: float, *, power: float = 0.8, level: float = 0.95) -> int:
    """Return how many instances show a difference whose paired differences have a standard deviation.

    Raises:
        UsageError: The difference is 0.
    """
    if not difference:
        raise UsageError("no number of instances shows a difference of 0")
    z = normal_quantile(0.5 + level / 2) + normal_quantile(power)
    return math.ceil((z * deviation / difference) ** 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all comparisons together (Holm 1979); NaN stays and does not count."""
    found, highest = list(p_values), 0.0
    order = _smallest_first(p_values)
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        found[place] = highest
    return found


def _smallest_first(p_values: Sequence[float]) -> list[int]:
    """Return the places of the p-values that are known, the smallest first."""
    known = [place for place, p_value in enumerate(p_values) if not math.isnan(p_value)]
    return sorted(known, key=p_values.__getitem__)


def p_text(value: float | None) -> str:
    """Return a p-value in four decimals; a small one is smaller than what they show, not 0."""
    if value is None or math.isnan(value):
        return "-"
    return "<0.0001" if value < _LEAST_P else f"{value:.4f}"


_LEAST_P = 0.0001  # what four decimals show
