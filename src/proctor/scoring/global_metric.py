"""Metrics that must see all instances together, by resampled calls or by sums over instances."""

# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from proctor.artifacts.overriding import still_holds
from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.lazy import np
from proctor.scoring.columns import Columns, scatter
from proctor.scoring.flat_scores import MetricScores, ScoreSheet
from proctor.scoring.metric import FATAL, Metric, Scores, failure_of
from proctor.settings import settings
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.intervals import Bootstrap, Interval
from proctor.statistics.resampling import Opaque, Resampler, Sums


class GlobalMetric(Metric):
    """Override :meth:`compute`; it is called on all instances, and on each alone for instance scores.

    Attributes:
        n_resamples: Bootstrap resamples; ``None`` or 0 for no intervals.
        ci_scores: Scores that get an interval; ``None`` for the main score.
        process_single_instances: Whether instances are also scored alone.
    """

    n_resamples: int | None = Field(default_factory=lambda: settings.num_resamples_for_global_metrics)
    confidence_interval_calculation: bool = True
    confidence_level: float = 0.95
    ci_scores: list[str] | None = None
    ci_method: str = "BCa"
    process_single_instances: bool = True

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        raise ScoringError(f"{type(self).__name__} does not override compute")

    def resampler(self, columns: Columns, names: Sequence[str]) -> Resampler:
        """Return how to recompute the scores ``names`` on resamples."""
        references, predictions, task_data = self._lists(columns)

        def statistic(rows: Indices) -> list[float]:
            try:
                scores = self.compute(
                    [references[i] for i in rows], [predictions[i] for i in rows], [task_data[i] for i in rows]
                )
                return [float(scores[name]) for name in names]
            except FATAL:
                raise
            except Exception:  # noqa: BLE001 - the metric is undefined on this resample: NaN, which the bootstrap repairs
                return [math.nan] * len(names)

        return Opaque(len(columns), statistic)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        alone = [self._alone(columns.select([i])) for i in range(len(columns))] if instances else []
        try:
            scores = self._checked(self.compute(*self._lists(columns)))
        except Exception as error:  # noqa: BLE001 - the reason becomes a value
            whole = failure_of(error)
            return self._without_culprits(columns, whole, intervals, instances)
        sheet = self.sheet(len(columns))
        sheet.count()
        for name, value in self.prefixed(scores).items():
            sheet.put(name, value)
        sheet.name_main(self.score_prefix + self.main_score)
        self._put_intervals(columns, intervals, sheet)
        found = sheet.measured()
        if instances:
            found.instances = self._columns_of([self._instance_scores(each) for each in alone])
        return found

    def _without_culprits(self, columns: Columns, whole: Failure, intervals: bool, instances: bool) -> MetricScores:
        """Leave out the instances that the metric cannot score alone either, and try again without them."""
        tried = [self._alone(columns.select([i])) for i in range(len(columns))]
        failures = {i: each for i, each in enumerate(tried) if isinstance(each, Failure)}
        kept = [i for i in range(len(columns)) if i not in failures]
        if not failures or not kept:
            return self.nothing(whole, failures)
        found = self._measure(columns.select(kept), intervals=intervals, instances=instances)
        found.instances = {name: scatter(column, kept, len(columns)) for name, column in found.instances.items()}
        found.failures = {**failures, **{kept[i]: failure for i, failure in found.failures.items()}}
        return found

    def _alone(self, columns: Columns) -> Scores | Failure | None:
        if not self.process_single_instances:
            return None
        try:
            return self._checked(self.compute(*self._lists(columns)))
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: not every metric is defined on one instance
            return failure_of(error)

    def _instance_scores(self, alone: Scores | Failure | None) -> Scores:
        if isinstance(alone, dict):
            return alone
        return {self.main_score: math.nan if alone is None else None}

    def _checked(self, scores: Any) -> Scores:
        if not isinstance(scores, dict) or self.main_score not in scores:
            raise ScoringError(f"{self.name} returned no '{self.main_score}'", why=f"it returned {scores!r}"[:200])
        return {name: value for name, value in scores.items() if name not in ("score", "score_name")}

    def _put_intervals(self, columns: Columns, intervals: bool, sheet: ScoreSheet) -> None:
        resamples = self.n_resamples or 0
        if not (intervals and self.confidence_interval_calculation and resamples > 1):
            return
        names = list(dict.fromkeys([self.main_score, *(self.ci_scores or ())]))
        unprefixed = {name.removeprefix(self.score_prefix) for name in sheet.scores}
        self.check_interval_names("ci_scores", names, {*unprefixed, self.main_score})
        drawn: Mapping[str, Interval] = {}
        if len(columns) > 1:
            bootstrap = Bootstrap(resamples, self.confidence_level, self.ci_method, repair=True)
            made = type(self) if still_holds(type(self), "resampler", "compute") else GlobalMetric
            drawn = dict(zip(names, bootstrap.intervals(made.resampler(self, columns, names)), strict=True))
        for name in names:
            alone = partial(self._scores_alone, columns, name)
            self._bound(sheet, name, drawn.get(name), alone, self.confidence_level)

    def _scores_alone(self, columns: Columns, name: str) -> list[float]:
        """Return a score of each instance by itself; NaN where the metric is not defined on one instance."""
        every = (self._alone(columns.select([place])) for place in range(len(columns)))
        return [each.get(name, math.nan) if isinstance(each, dict) else math.nan for each in every]

    def _lists(self, columns: Columns) -> tuple[list[list[Any]], list[Any], list[Any]]:
        return [list(each) for each in columns.references], list(columns.predictions), list(self.fields(columns))


Finished = dict[str, Floats]
"""Scores by name, each of shape (samples,); NaN where a sample does not have the score."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What instances add, and how sums become scores.

    Attributes:
        parts: What each instance adds, shape (instances, parts).
        finish: Takes sums of shape (samples, parts).
    """

    parts: Floats
    finish: Callable[[Floats], Finished]


class CountedMetric(GlobalMetric):
    """Override :meth:`count`; resamples then cost a product of matrices, not a computation each."""

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return what instances add, and how sums become scores."""
        raise ScoringError(f"{type(self).__name__} does not override count")

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        counts = self.count(references, predictions, task_data)
        sums = counts.parts.sum(axis=0, keepdims=True)
        return {name: float(value[0]) for name, value in counts.finish(sums).items()}

    def resampler(self, columns: Columns, names: Sequence[str]) -> Resampler:
        """Return scores of resampled sums."""
        counts = self.count(*self._lists(columns))

        def finish(sums: Floats) -> Floats:
            found = counts.finish(sums)
            return np.array([found.get(name, np.full(len(sums), math.nan)) for name in names])

        return Sums(counts.parts, finish)


def ratio(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Return quotients; ``otherwise`` where the denominator is 0."""
    quotients: Floats = np.full(np.broadcast(numerator, denominator).shape, otherwise)
    np.divide(numerator, denominator, out=quotients, where=np.asarray(denominator) != 0)
    return quotients
