"""Confidence intervals.

The bootstrap is the one of ``scipy.stats.bootstrap(method="BCa", rng=numpy.random.default_rng(seed))``, resample for
resample: the same generator draws the same rows in the same order, and Efron's bias correction and acceleration
(Efron & Tibshirani 1993, 14.3 and 15.36) use the same formulas. What differs is the work: statistics come from whole
blocks of resamples at once, and the jackknife of a mean or of counts is computed in one pass instead of n².
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proctor.errors import UsageError
from proctor.lazy import np
from proctor.settings import settings
from proctor.statistics.arrays import Floats, Indices, as_floats
from proctor.statistics.bounded import mean_bounds, share_bounds, wilson_bounds, within
from proctor.statistics.distributions import beta_quantile, normal_cdf, normal_quantile, t_quantile
from proctor.statistics.resampling import Means, Resampler

BLOCK_ELEMENTS = 2_000_000
"""Most indices drawn at once: 16 MB."""
CACHED_ELEMENTS = 250_000
"""Most indices drawn at once for means: 2 MB, which a processor's cache still has when they are used. Means are equal
however many are drawn at once; products of matrices are not, to the last bit."""


class Interval(NamedTuple):
    """The bounds of a confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How to bootstrap.

    Attributes:
        resamples: Number of resamples.
        level: Confidence level.
        method: ``BCa``, ``percentile`` or ``basic``; for means also a closed form: ``t``, and for shares of 0 and 1
            ``wilson`` or ``exact``.
        seed: Seed of the generator; ``None`` takes the setting.
        repair: Replace statistics that are NaN on a resample by draws from the others, so that single resamples on
            which a metric is undefined do not undo the interval.
    """

    resamples: int = 1000
    level: float = 0.95
    method: str = "BCa"
    seed: int | None = None
    repair: bool = False

    def generator(self) -> np.random.Generator:
        """Return a fresh generator."""
        return np.random.default_rng((settings.seed if self.seed is None else self.seed) & 0xFFFFFFFF)

    def rows(self, size: int, most: int | None = None, kind: str = "int64") -> Iterator[Indices]:
        """Yield the resamples of ``size`` instances as blocks of index rows, of at most so many indices.

        Below 2**31, NumPy draws equal indices of 32 and of 64 bits; ``kind`` says which, and the first are made faster.
        """
        generator = self.generator()
        step = max(1, (BLOCK_ELEMENTS if most is None else most) // max(size, 1))
        for start in range(0, self.resamples, step):
            yield generator.integers(0, size, (min(step, self.resamples - start), size), dtype=kind)

    def distribution(self, resampler: Resampler) -> Floats:
        """Return the statistics of all resamples, shape (statistics, resamples)."""
        drawn = (CACHED_ELEMENTS, "int32") if isinstance(resampler, Means) else (BLOCK_ELEMENTS, "int64")
        blocks = [resampler.resampled(rows) for rows in self.rows(resampler.size, *drawn)]
        found = np.concatenate(blocks, axis=-1)
        return self._repaired(found) if self.repair else found

    def intervals(self, resampler: Resampler) -> list[Interval]:
        """Return an interval for each statistic; NaN bounds where it cannot be computed."""
        kind = self.method.lower()
        if kind in CLOSED_FORMS:
            return _closed_form(kind, resampler, self.level)
        distribution = self.distribution(resampler)
        observed = resampler.observed()
        alpha = (1.0 - self.level) / 2.0
        if kind == "bca":
            leave_one_out = resampler.leave_one_out()
            if self.repair:
                leave_one_out = self._repaired(leave_one_out)
            return [
                _bca(values, float(value), left_out, alpha)
                for values, value, left_out in zip(distribution, observed, leave_one_out, strict=True)
            ]
        bounds = [Interval(_quantile(values, alpha), _quantile(values, 1.0 - alpha)) for values in distribution]
        if kind == "percentile":
            return bounds
        if kind == "basic":
            return [
                Interval(2 * float(value) - bound.high, 2 * float(value) - bound.low)
                for value, bound in zip(observed, bounds, strict=True)
            ]
        raise UsageError(
            f"there is no bootstrap method '{self.method}'", hint="use BCa, percentile, basic, t, wilson or exact"
        )

    def _repaired(self, values: Floats) -> Floats:
        if values.shape[-1] <= 1 or not np.isnan(values).any():
            return values
        repaired = values.copy()
        for row in repaired:
            broken = np.isnan(row)
            if 0 < (count := int(broken.sum())) < row.size:
                row[broken] = self.generator().choice(row[~broken], count, replace=True)
        return repaired


def resampled_interval(
    distribution: Sequence[float], observed: float, left_out: Floats, level: float = 0.95
) -> Interval | None:
    """Return the BCa interval of a statistic, and percentiles where leaving single values out says nothing.

    Args:
        distribution: The statistic of resamples.
        observed: Of the values.
        left_out: Of all values but one, for each of them.
        level: Confidence level.
    """
    found, alpha = as_floats(distribution), (1.0 - level) / 2.0
    bounds = Interval(_quantile(found, alpha), _quantile(found, 1.0 - alpha))
    if np.ptp(left_out) > 0:
        bounds = _bca(found, observed, left_out, alpha)
    return bounds if bounds.low < bounds.high else None


def _bca(distribution: Floats, observed: float, left_out: Floats, alpha: float) -> Interval:
    below = np.count_nonzero(distribution < observed) + np.count_nonzero(distribution <= observed)
    bias = normal_quantile(below / (2.0 * distribution.size)) if not math.isnan(observed) else math.nan
    count = float(left_out.size)
    influence = (count - 1.0) * (np.mean(left_out) - left_out)
    cubes = float(np.sum(influence**3)) / count**3
    squares = float(np.sum(influence**2)) / count**2
    acceleration = cubes / squares**1.5 / 6.0 if squares**1.5 else math.nan
    bounds = []
    for z in (normal_quantile(alpha), -normal_quantile(alpha)):
        shifted = bias + z
        denominator = 1.0 - acceleration * shifted
        adjusted = shifted / denominator if denominator else math.copysign(math.inf, shifted)
        bounds.append(_quantile(distribution, normal_cdf(bias + adjusted)))
    return Interval(*bounds)


def _quantile(values: Floats, probability: float) -> float:
    if math.isnan(probability) or np.isnan(values).any():
        return math.nan
    return float(np.quantile(values, min(max(probability, 0.0), 1.0)))


CLOSED_FORMS = ("t", "wilson", "exact")


def _closed_form(kind: str, resampler: Resampler, level: float) -> list[Interval]:
    if not isinstance(resampler, Means):
        raise UsageError(f"the interval '{kind}' is for means", hint="use BCa")
    return [_interval_of(kind, column[~np.isnan(column)], level) for column in resampler.columns]


def _interval_of(kind: str, values: Floats, level: float) -> Interval:
    if kind == "t":
        return student_t(values, level)
    if not np.isin(values, (0.0, 1.0)).all():
        raise UsageError(f"the interval '{kind}' is for scores of 0 and 1", hint="use t or BCa")
    if not values.size:
        return Interval(math.nan, math.nan)
    return (wilson if kind == "wilson" else exact)(int(values.sum()), int(values.size), level)


def wilson(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval for a proportion (Wilson 1927).

    Raises:
        UsageError: No trials, or more successes than trials.
    """
    _check_proportion(successes, trials)
    low, high = wilson_bounds(successes / trials, trials, normal_quantile(0.5 + level / 2.0))
    return Interval(0.0 if successes == 0 else low, 1.0 if successes == trials else high)


def settled(
    interval: Interval | None,
    value: object,
    instances: Callable[[], Sequence[Any] | Floats],
    level: float = 0.95,
    *,
    whole: float | None = 1.0,
    count: int = 0,
) -> Interval | None:
    """Return the interval of a score once what a resampling cannot know is mended: none ever has width 0.

    Resampling knows nothing of answers that it did not see. The interval of a score that lies between 0 and ``whole``
    therefore never shuts out what unseen answers could add (:func:`~proctor.statistics.bounded.within`); where all
    resamples are equal (0 right of n, all right, one instance) and each instance is 0 or ``whole``, it is that of a
    share: also for F1 or BLEU of answers that are all wrong, for of all scores within these bounds, those of 0 and
    ``whole`` alone vary most. Whatever else is constant has no interval: instances that all have the value 0.37 do not
    say how others would vary, however many they are.

    Args:
        interval: What resampling gives; ``None`` where there was nothing to resample.
        value: The score.
        instances: Returns the instances' own values of it; asked only where the interval has no width.
        level: Confidence level.
        whole: The largest value: 1, or 100 for percentages; ``None`` where there is none.
        count: Instances behind the score; 0 where that is not known.
    """
    if interval is not None and interval.low < interval.high:
        if whole is None or not count or not isinstance(value, int | float) or not 0 <= value <= whole:
            return interval
        bounds = within(interval.low / whole, interval.high / whole, value / whole, count, level)
        return Interval(*(bound * whole for bound in bounds))
    values = as_floats(instances()) if whole is not None else np.empty(0)
    values = values[~np.isnan(values)]
    if whole is None or not values.size or not isinstance(value, int | float) or not np.isin(values, (0, whole)).all():
        return None
    hits = round(float(values.sum()) / whole)
    if not math.isclose(hits / values.size * whole, value, abs_tol=_CLOSE):
        return None
    return Interval(*(bound * whole for bound in share_bounds(hits, int(values.size), level)))


_CLOSE = 1e-9
"""How near a score has to be to the mean of its instances to be that mean: sums are rounded in another order."""


def exact(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return Clopper and Pearson's exact interval for a proportion (1934).

    Raises:
        UsageError: No trials, or more successes than trials.
    """
    _check_proportion(successes, trials)
    alpha = (1.0 - level) / 2.0
    low = 0.0 if successes == 0 else beta_quantile(alpha, successes, trials - successes + 1)
    high = 1.0 if successes == trials else beta_quantile(1.0 - alpha, successes + 1, trials - successes)
    return Interval(low, high)


def student_t(values: Sequence[float] | Floats, level: float = 0.95) -> Interval:
    """Return Student's interval for a mean; NaN bounds for fewer than two values."""
    data = np.asarray(values, dtype=np.float64)
    data = data[~np.isnan(data)]
    if data.size <= 1:
        return Interval(math.nan, math.nan)
    margin = t_quantile(0.5 + level / 2.0, data.size - 1) * float(data.std(ddof=1)) / math.sqrt(data.size)
    return Interval(float(data.mean()) - margin, float(data.mean()) + margin)


def _check_proportion(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials or trials == 0:
        raise UsageError(f"{successes} successes of {trials} trials are not a proportion")


_SAME_NUMBER = 1e-6
"""A score nearer than this to the mean of a column is that mean: both were summed in another order."""


def mean_interval(values: Sequence[float], whole: float | None = None, level: float = 0.95) -> Interval | None:
    """Return the interval of the mean of scores; ``None`` where they are equal and neither 0 nor ``whole``.

    Args:
        values: The scores; at least one.
        whole: The largest score, where they end at 0 and there; ``None`` takes 1 where all lie between 0 and 1. Other
            scores have Student's interval.
        level: Confidence level.
    """
    if whole is None and all(0 <= each <= 1 for each in values):
        whole = 1.0
    ends = whole is not None and all(each in (0, whole) for each in values)
    if ends and whole:
        hits = sum(each == whole for each in values)
        return Interval(*(bound * whole for bound in share_bounds(hits, len(values), level)))
    data = as_floats(values)
    around = data - data.mean()
    if data.size == 1 or np.ptp(data) <= np.abs(data).max() * _ROUNDING:
        return None
    if whole is None:
        return student_t(data, level)
    error = float(data.std(ddof=1)) / math.sqrt(data.size)
    skew = float((around**3).sum() / (around**2).sum())
    mean = float(data.mean())
    bounds = mean_bounds(mean / whole, error / whole, skew / whole, int(data.size), level)
    return Interval(*(bound * whole for bound in bounds))


_ROUNDING = 2.0**-44
"""How far equal scores may lie apart, in the largest of them, because they were computed in another order."""


def score_interval(values: Sequence[float | None], score: float, *, may_be_percent: bool = True) -> Interval | None:
    """Return the 95% interval of a score that is the mean of values, or a hundred times it; else ``None``.

    Args:
        values: Of the instances; ``None`` where one has none.
        score: The score.
        may_be_percent: Whether values of 0 and 100 are percentages: zeros alone do not tell.
    """
    known = [each for each in values if each is not None]
    if not known:
        return None
    mean = sum(known) / len(known)
    scale = next((scale for scale in (1.0, 100.0) if math.isclose(mean * scale, score, abs_tol=_SAME_NUMBER)), None)
    if scale is None:
        return None
    found = mean_interval(known, 100.0 if may_be_percent and set(known) <= {0.0, 100.0} else None)
    return None if found is None else Interval(found.low * scale, found.high * scale)


def percentile_interval(values: np.ndarray[Any, Any], share: float, level: float = 0.95) -> list[float] | None:
    """Return the interval of a percentile by order statistics; ``None`` where there are too few values for one.

    How many values lie below a percentile is binomial, whatever they are distributed like (Conover, Practical
    Nonparametric Statistics, 3.2).

    Args:
        values: Sorted.
        share: Of values below the percentile.
        level: How often the interval holds it.
    """
    count = len(values)
    half = normal_quantile(0.5 + level / 2) * math.sqrt(count * share * (1 - share))
    low, high = math.floor(count * share - half), math.ceil(count * share + half)
    return [float(values[low]), float(values[high])] if low >= 0 and high < count else None
