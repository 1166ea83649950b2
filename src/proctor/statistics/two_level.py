"""Means of questions that were answered several times: the noise of questions and the noise of answers.

With ``n`` questions and ``K`` answers to each, Var(mean) = omega^2/n + sigma^2/(nK): omega^2 is how much questions
differ in how well they are answered, sigma^2 how much the answers to one question differ (Miller 2024, arXiv
2411.00640, section 3; arXiv 2512.21326). More answers shrink the second part only.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from proctor.lazy import np
from proctor.statistics.arrays import Floats
from proctor.statistics.bounded import mean_bounds
from proctor.statistics.distributions import t_quantile

_FEWEST = 2  # of questions: the spread of one is not defined
_ROUNDING = 2.0**-44  # of the largest score: means of equal answers differ by so little, and by nothing else


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """A mean over questions and their answers.

    Attributes:
        mean: The mean.
        n: Questions.
        k: Answers to each.
        omega2: Variance of questions (of the expected score of each); ``None`` where ``k`` is 1.
        sigma2: Variance of the answers to one question; ``None`` where ``k`` is 1.
        error: Standard error of the mean; NaN for fewer than two questions.
        freedom: Degrees of freedom of the error: one less than questions, or clusters.
        clusters: Clusters of questions, where they were given.
        skew: Third central moment of what a question, or a cluster, adds to the mean, by its variance.
    """

    mean: float
    n: int
    k: int
    omega2: float | None
    sigma2: float | None
    error: float
    freedom: int
    clusters: int | None = None
    skew: float = 0.0

    def repeats_for(self, error: float) -> int | None:
        """Return the least number of answers to each question with which the standard error is at most ``error``.

        ``None`` where no number of answers is enough, or their noise is not known.
        """
        if self.omega2 is None or self.sigma2 is None or self.clusters is not None:
            return None
        left = error**2 * self.n - self.omega2
        if left <= 0:
            return None
        return max(1, math.ceil(self.sigma2 / left * (1 - 1e-12)))

    def questions_for(self, error: float) -> int:
        """Return how many questions, asked as often, have a standard error of at most ``error``."""
        return max(1, math.ceil(self.n * (self.error / error) ** 2 * (1 - 1e-12)))

    def interval(self, level: float = 0.95, whole: float | None = 1.0) -> tuple[float, float]:
        """Return the confidence interval of the mean: that of :func:`~proctor.statistics.bounded.mean_bounds`.

        Scores that do not lie between 0 and ``whole`` have Student's; NaN where all are equal, which says nothing of
        how others would vary.

        Args:
            level: Confidence level.
            whole: The largest score; ``None`` where there is none.
        """
        units = self.clusters or self.n
        if math.isnan(self.error) or units < _FEWEST:
            return math.nan, math.nan
        if whole is None or not 0 <= self.mean <= whole:
            z = t_quantile(0.5 + level / 2, self.freedom) if self.error else math.nan
            return self.mean - z * self.error, self.mean + z * self.error
        low, high = mean_bounds(self.mean / whole, self.error / whole, self.skew / whole, units, level)
        return low * whole, high * whole


def two_level(answers: Sequence[Sequence[float]] | Floats, clusters: Sequence[Hashable] | None = None) -> TwoLevel:
    """Return the mean of questions with the noise of questions and answers.

    The variances are the unbiased ones of a balanced one-way layout; that of questions is 0 where it comes out below.

    Args:
        answers: Scores, a row for each question and a column for each answer to it.
        clusters: A key for each question; those with the same one (questions on one text) are not independent.

    Raises:
        ValueError: There is no score, or a key is missing.
    """
    table = np.asarray(answers, dtype=np.float64)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    n, k = table.shape
    if not n or not k:
        raise ValueError("no scores")
    means = table.mean(axis=1)
    spread = math.nan if n < _FEWEST else 0.0 if np.ptp(means) <= _rounding(table) else float(means.var(ddof=1))
    sigma2 = float(table.var(axis=1, ddof=1).mean()) if k > 1 else None
    omega2 = None if sigma2 is None else max(0.0, spread - sigma2 / k)
    error, freedom, count = math.sqrt(spread / n) if n >= _FEWEST else math.nan, n - 1, None
    around = means - means.mean()
    if clusters is not None:
        around = _cluster_sums(means, clusters)
        error, count = _error_of_sums(around, n), len(around)
        freedom = count - 1
    square = float(around @ around)
    skew = float((around**3).sum()) / square * len(around) / n if square > 0 and spread else 0.0
    return TwoLevel(float(means.mean()), n, k, omega2, sigma2, error, freedom, count, skew)


def clustered_error(values: Sequence[float] | Floats, clusters: Sequence[Hashable]) -> tuple[float, int]:
    """Return the standard error of a mean over questions that come in clusters, and how many clusters there are.

    Liang and Zeger's sandwich (1986) with the correction G/(G-1), as ``statsmodels``' cluster covariance of a constant;
    NaN for one cluster.

    Raises:
        ValueError: There are more or fewer keys than values.
    """
    sums = _cluster_sums(np.asarray(values, dtype=np.float64), clusters)
    return _error_of_sums(sums, len(values)), len(sums)


def _cluster_sums(data: Floats, clusters: Sequence[Hashable]) -> Floats:
    """Return how far the sum of each cluster's scores lies from that of as many mean ones."""
    if len(clusters) != data.size:
        raise ValueError(f"{len(clusters)} keys for {data.size} values")
    place = {key: position for position, key in enumerate(dict.fromkeys(clusters))}
    sums = np.bincount([place[key] for key in clusters], weights=data - data.mean()).astype(np.float64)
    sums[np.abs(sums) <= data.size * _rounding(data)] = 0.0
    return sums


def _error_of_sums(sums: Floats, size: int) -> float:
    if len(sums) < _FEWEST:
        return math.nan
    return math.sqrt(float(sums @ sums) * len(sums) / (len(sums) - 1)) / size


def _rounding(data: Floats) -> float:
    """Return how far scores that are equal may lie apart because they were computed in another order."""
    return _ROUNDING * float(np.abs(data).max(initial=0.0))
