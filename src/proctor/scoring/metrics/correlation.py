"""Metrics of numbers: correlations and errors."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from proctor.errors import ScoringError, needed
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.map_reduce import MapReduceMetric
from proctor.scoring.metrics.binary import ranks
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats
from proctor.statistics.distributions import beta_cdf, t_cdf
from proctor.statistics.resampling import Means, Resampler

_LEAST = 2  # points that have a correlation, and the parameters of a line, which cost degrees of freedom


class MeanSquaredError(MapReduceMetric[float, float]):
    """The mean of the squared differences."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    higher_is_better: ClassVar[bool | None] = False
    main_score: str = "mean_squared_error"
    prediction_type: object = float
    single_reference_per_prediction: bool = True

    def map(self, prediction: float, references: list[float], task_data: dict[str, Any]) -> float:
        """Return the squared difference of an instance."""
        return (references[0] - prediction) ** 2

    def reduce(self, intermediates: list[float]) -> dict[str, Any]:
        """Return the score of a sample."""
        return {self.main_score: float(self.resampler(intermediates, [self.main_score]).observed()[0])}

    def resampler(self, intermediates: Sequence[float], names: Sequence[str]) -> Resampler:
        """Return resampled means."""
        return Means(np.array([intermediates] * len(names), dtype=np.float64))


class RootMeanSquaredError(MeanSquaredError):
    """The square root of the mean of the squared differences."""

    main_score: str = "root_mean_squared_error"

    def resampler(self, intermediates: Sequence[float], names: Sequence[str]) -> Resampler:
        """Return resampled roots of means."""
        return Means(np.array([intermediates] * len(names), dtype=np.float64), np.sqrt)


class CorrelationMetric(MapReduceMetric[float, tuple[float, float]]):
    """Base of correlations of predictions and references; an instance by itself has none."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    prediction_type: object = float

    def map(self, prediction: float, references: list[float], task_data: dict[str, Any]) -> tuple[float, float]:
        """Return the numbers of an instance."""
        return prediction, references[0]

    def reduce_one(self, intermidate: tuple[float, float]) -> dict[str, Any]:
        """Return NaN."""
        return {self.main_score: math.nan}

    def correlate(self, first: Floats, second: Floats) -> tuple[float, float]:
        """Return the coefficient and its p-value."""
        raise ScoringError(f"{type(self).__name__} does not override correlate")

    def reduce(self, intermediates: list[tuple[float, float]]) -> dict[str, Any]:
        """Return the coefficient and its p-value."""
        first, second = np.array(intermediates, dtype=np.float64).T
        value, chance = self.correlate(first, second)
        return {self.main_score: value, f"{self.main_score}_p_value": chance}


class Spearmanr(CorrelationMetric):
    """Spearman's rank correlation."""

    main_score: str = "spearmanr"
    ci_score_names: list[str] | None = ["spearmanr"]

    def correlate(self, first: Floats, second: Floats) -> tuple[float, float]:
        """Return the coefficient and its p-value."""
        return spearman(first, second)


class Pearsonr(CorrelationMetric):
    """Pearson's correlation."""

    main_score: str = "pearsonr"
    ci_score_names: list[str] | None = ["pearsonr"]

    def correlate(self, first: Floats, second: Floats) -> tuple[float, float]:
        """Return the coefficient and its p-value."""
        return pearson(first, second)


def spearman(first: Floats, second: Floats) -> tuple[float, float]:
    """Return Spearman's coefficient and its two-sided p-value (Student's t); NaN where it is undefined."""
    if np.isnan(first).any() or np.isnan(second).any() or len(first) < _LEAST:
        return math.nan, math.nan
    value = _pearson(ranks(first), ranks(second))
    freedom = len(first) - _LEAST
    if math.isnan(value) or not freedom:
        return value, math.nan
    if abs(value) == 1.0:
        return value, 0.0
    return value, 2 * t_cdf(-abs(value) * math.sqrt(freedom / ((1 + value) * (1 - value))), freedom)


def pearson(first: Floats, second: Floats) -> tuple[float, float]:
    """Return Pearson's coefficient and its two-sided p-value (exact for normal data); NaN where it is undefined.

    Raises:
        ScoringError: There are fewer than two instances.
    """
    if len(first) < _LEAST:
        raise ScoringError("a correlation needs at least two instances")
    value = _pearson(first, second)
    if math.isnan(value):
        return value, math.nan
    if len(first) == _LEAST:
        return float(np.sign(value)), 1.0
    shape = len(first) / 2 - 1
    return value, 2 * beta_cdf((1 - abs(value)) / 2, shape, shape)


def _pearson(first: Floats, second: Floats) -> float:
    one, two = first - first.mean(), second - second.mean()
    norms = math.sqrt(float(one @ one) * float(two @ two))
    if not norms or (first == first[0]).all() or (second == second[0]).all():
        return math.nan
    return float(min(max(one @ two / norms, -1.0), 1.0))


class KendallTauMetric(GlobalMetric):
    """Kendall's rank correlation.

    Attributes:
        variant: ``b`` accounts for ties, ``c`` suits tables that are not square.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "kendalltau_b"
    prediction_type: object = float
    process_single_instances: bool = False
    variant: str = "b"

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the coefficient and its p-value."""
        with needed("scipy", "classification", self.name):
            from scipy.stats import kendalltau
        found = kendalltau([each[0] for each in references], predictions, variant=self.variant)
        return {self.main_score: float(found.statistic), f"{self.main_score}_p_val": float(found.pvalue)}


class WeightedWinRateCorrelation(GlobalMetric):
    """Correlation of the win rates of models by predicted and by right verdicts on pairs (``model_a``, ``model_b``).

    A verdict is positive where the first model won, by weight; a tie counts as a win of each.
    """

    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "spearman_corr"

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the correlations; for one instance how far the verdict is off."""
        if len(predictions) == 1:
            raise ScoringError("win rates need several battles")
        models = list(dict.fromkeys(fields[name] for fields in task_data for name in ("model_a", "model_b")))
        gold = [int(each[0]) for each in references]
        given_rates, gold_rates = (_win_rates(models, task_data, verdicts) for verdicts in (predictions, gold))
        return {
            "pearson_corr": pearson(given_rates, gold_rates)[0],
            "spearman_corr": spearman(given_rates, gold_rates)[0],
        }


def _win_rates(models: list[str], task_data: list[Any], verdicts: list[Any]) -> Floats:
    wins, battles = np.zeros(len(models)), np.zeros(len(models))
    for fields, verdict in zip(task_data, verdicts, strict=True):
        first, second = models.index(fields["model_a"]), models.index(fields["model_b"])
        won, lost = (1, 1) if verdict == 0 else (max(verdict, 0), max(-verdict, 0))
        wins[first] += won
        wins[second] += lost
        battles[[first, second]] += won + lost
    return wins / battles
