"""Is one run better than another? Paired comparisons of instance scores.

Two runs on the same instances are compared instance by instance: what both find easy or hard cancels out, so far
smaller differences show than two separate intervals suggest (Miller 2024, "Adding Error Bars to Evals").
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from proctor.errors import ScoringError, UsageError
from proctor.results.tables import pipe_table
from proctor.scoring.distributions import binomial_cdf, chi_square_1_sf, normal_cdf, normal_quantile, t_cdf, t_quantile
from proctor.scoring.intervals import Bootstrap, Floats, Interval, Means, as_floats

Test = Literal["auto", "mcnemar", "t", "bootstrap"]
Correction = Literal["holm", "benjamini-hochberg", "none"]

FEW_DISCORDANT = 25
"""Up to so many pairs that differ, McNemar's test is exact: the usual rule for when chi-squared is near enough."""
_LEAST = 2  # pairs: the spread of one difference is not defined


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference between two runs on one score: second minus first.

    Attributes:
        name: The score.
        first, second: Means over the instances that both scored.
        difference: Second minus first.
        low, high: Confidence interval of the difference.
        p_value: Chance of a difference at least as large where there is none.
        adjusted_p_value: The same, corrected for the number of comparisons.
        standard_error: Of the difference; clustered where clusters were given.
        count: Instances that both scored.
        left_out: Instances that one of them did not.
        test: What the p-value comes from.
        detectable: Smallest difference that would be found four times out of five.
    """

    name: str
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float
    adjusted_p_value: float
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
    level: float = 0.95,
    resamples: int = 1000,
    seed: int | None = None,
) -> Comparison:
    """Compare two runs on one score.

    Args:
        first, second: Scores of the same instances, in the same order; ``None`` or NaN where there is none.
        name: What to call the score.
        test: ``mcnemar`` for scores of 0 and 1, ``t`` for paired differences, ``bootstrap`` for no assumption about
            their distribution; ``auto`` takes ``mcnemar`` where it fits and ``t`` elsewhere.
        clusters: A key for each instance; instances with the same one (questions on one text) are not independent.
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
    found = _tested(one, two, _chosen(test, one, two, groups), groups, Bootstrap(resamples, level, seed=seed))
    return replace(found, name=name, left_out=int((~both).sum()))


def _chosen(test: Test, one: Floats, two: Floats, groups: Sequence[Hashable] | None) -> Test:
    binary = bool(np.isin(np.concatenate([one, two]), (0.0, 1.0)).all())
    if test == "auto":
        return "mcnemar" if binary and groups is None else "t"
    if test == "mcnemar" and not binary:
        raise UsageError("McNemar's test is for scores of 0 and 1", hint="use 't' or 'bootstrap'")
    if test != "t" and groups is not None:
        raise UsageError(f"the test '{test}' does not know clusters", hint="use 't'")
    return test


def _tested(
    one: Floats, two: Floats, test: Test, groups: Sequence[Hashable] | None, bootstrap: Bootstrap
) -> Comparison:
    differences = two - one
    error = cluster_standard_error(differences, groups) if groups else standard_error(differences)
    freedom = (len(set(groups)) if groups else len(differences)) - 1
    mean = float(differences.mean())
    if test == "bootstrap":
        interval, p_value = paired_bootstrap(differences, bootstrap)
    else:
        margin = t_quantile(0.5 + bootstrap.level / 2, freedom) * error if freedom else math.nan
        interval = Interval(mean - margin, mean + margin)
        p_value = mcnemar(one, two) if test == "mcnemar" else _t_p_value(mean, error, freedom)
    return Comparison(
        name="",
        first=float(one.mean()),
        second=float(two.mean()),
        difference=mean,
        low=interval.low,
        high=interval.high,
        p_value=p_value,
        adjusted_p_value=p_value,
        standard_error=error,
        count=len(differences),
        left_out=0,
        test=test,
        detectable=detectable_difference(error, level=bootstrap.level),
    )


def _t_p_value(mean: float, error: float, freedom: int) -> float:
    if not freedom:
        return math.nan
    if not error:
        return 1.0 if mean == 0 else 0.0
    return 2 * t_cdf(-abs(mean / error), freedom)


def standard_error(values: Sequence[float] | Floats) -> float:
    """Return the standard error of a mean."""
    data = np.asarray(values, dtype=np.float64)
    return float(data.std(ddof=1) / math.sqrt(data.size)) if data.size > 1 else math.nan


def cluster_standard_error(values: Sequence[float] | Floats, clusters: Sequence[Hashable]) -> float:
    """Return the standard error of a mean over instances that come in clusters.

    Liang and Zeger's sandwich with the correction G/(G-1) (as ``statsmodels``' cluster covariance of a constant).
    """
    data = np.asarray(values, dtype=np.float64)
    place = {key: position for position, key in enumerate(dict.fromkeys(clusters))}
    sums = np.bincount([place[key] for key in clusters], weights=data - data.mean())
    if len(sums) <= 1:
        return math.nan
    return float(math.sqrt(float(sums @ sums) * len(sums) / (len(sums) - 1)) / data.size)


def mcnemar(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Return the p-value of McNemar's test: exact for few pairs that differ, chi-square with correction for many."""
    one, two = np.asarray(first) > 0, np.asarray(second) > 0
    lost, won = int((one & ~two).sum()), int((two & ~one).sum())
    total = lost + won
    if not total:
        return 1.0
    if total <= FEW_DISCORDANT:
        return min(1.0, 2 * binomial_cdf(min(lost, won), total, 0.5))
    return chi_square_1_sf((abs(lost - won) - 1) ** 2 / total)


def paired_bootstrap(differences: Floats, bootstrap: Bootstrap) -> tuple[Interval, float]:
    """Return the interval of a mean difference, and twice the share of resamples on the other side of zero."""
    means = Means(differences)
    distribution = bootstrap.distribution(means)[0]
    below, above = float(np.mean(distribution <= 0)), float(np.mean(distribution >= 0))
    if np.ptp(differences) == 0:
        interval = Interval(float(differences[0]), float(differences[0]))
    else:
        interval = bootstrap.intervals(means)[0]
    return interval, min(1.0, 2 * min(below, above))


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


def power_of(difference: float, error: float, *, level: float = 0.95) -> float:
    """Return the chance that a two-sided test finds a true difference (normal approximation)."""
    z = normal_quantile(0.5 + level / 2)
    return normal_cdf(difference / error - z) + normal_cdf(-difference / error - z)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that hold for all comparisons together (Holm 1979)."""
    order = np.argsort(p_values, kind="stable")
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[int(place)] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values that bound the share of false discoveries (Benjamini & Hochberg 1995)."""
    order = np.argsort(p_values, kind="stable")[::-1]
    adjusted, lowest = [0.0] * len(p_values), 1.0
    for rank, place in enumerate(order):
        lowest = min(lowest, p_values[place] * len(p_values) / (len(p_values) - rank))
        adjusted[int(place)] = lowest
    return adjusted


def compare_all(
    first: Mapping[str, Sequence[Any]],
    second: Mapping[str, Sequence[Any]],
    *,
    correction: Correction = "holm",
    **options: Any,
) -> list[Comparison]:
    """Compare every score that two runs share; p-values are corrected for their number.

    Args:
        first, second: Instance scores by name, each a column.
        correction: ``holm``, ``benjamini-hochberg`` or ``none``.
        **options: As in :func:`compare`.

    Raises:
        ScoringError: The runs share no score that is a number.
    """
    shared = [name for name in first if name in second and name != "score" and _is_numeric(first[name])]
    if not shared:
        raise ScoringError("the runs have no score in common", hint="compare runs of the same exam")
    found = [compare(first[name], second[name], name=name, **options) for name in shared]
    p_values = [each.p_value for each in found]
    if correction == "none":
        return found
    adjusted = holm(p_values) if correction == "holm" else benjamini_hochberg(p_values)
    return [replace(each, adjusted_p_value=p) for each, p in zip(found, adjusted, strict=True)]


def _is_numeric(column: Sequence[Any]) -> bool:
    values = [value for value in column if value is not None]
    return bool(values) and all(isinstance(value, (bool, int, float)) for value in values)


def comparison_table(comparisons: Sequence[Comparison], level: float = 0.95) -> str:
    """Return comparisons as a table."""
    headers = [
        "score_name",
        "first",
        "second",
        "difference",
        f"{level:.0%} interval",
        "p",
        "p (corrected)",
        "n",
        "test",
    ]
    rows = [
        [
            each.name,
            round(each.first, 4),
            round(each.second, 4),
            f"{each.difference:+.4f}",
            f"[{each.low:+.4f}, {each.high:+.4f}]",
            round(each.p_value, 4),
            round(each.adjusted_p_value, 4),
            each.count,
            each.test,
        ]
        for each in comparisons
    ]
    return pipe_table(headers, rows)
