"""Metrics of catalogs, of lm-eval and of plugins where a config names an evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.artifacts.types import is_of_type
from proctor.errors import ScoringError
from proctor.scoring.columns import Columns
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.grades import Measured
from proctor.scoring.metric import Metric
from proctor.scoring.scores import Score
from proctor.statistics.intervals import Interval


def metric_evaluator(metric: Metric) -> Callable[[Cases], Verdict]:
    """Return a metric as an evaluator: its scores in its own unit, with its own intervals.

    The whole row is what the metric knows of the task.
    """

    def judge(cases: Cases) -> Verdict:
        found = metric.measure(columns_of(cases, metric.prediction_type))
        if found.failure is not None:
            raise ScoringError(f"{metric.name} cannot be computed", why=found.failure.message)
        if found.failures and len(found.failures) == len(cases.predictions):
            raise ScoringError(f"{metric.name} can score no answer", why=next(iter(found.failures.values())).message)
        return _verdict(found)

    return judge


def columns_of(cases: Cases, prediction_type: object) -> Columns:
    """Return cases as what metrics see; a list of golds is several acceptable answers, unless it is one answer."""
    return Columns(cases.predictions, references_of(cases.references, prediction_type), list(cases.rows))


def references_of(golds: Sequence[Any], prediction_type: object) -> list[list[Any]]:
    """Return the acceptable answers of each gold, which is one answer or a list of them."""
    return [
        list(gold) if isinstance(gold, list | tuple) and not _is_one(gold, prediction_type) else [gold]
        for gold in golds
    ]


def _is_one(gold: Any, prediction_type: object) -> bool:
    return prediction_type is not Any and is_of_type(gold, prediction_type)


def _verdict(found: Measured) -> Verdict:
    listed = scores_of(found)
    return Verdict(
        {score.name: score.value for score in listed},
        {score.name: _numbers(found.instances[score.name]) for score in listed if score.name in found.instances},
        failures=found.failures,
        described=True,
        main=found.main,
        bounds={
            score.name: Interval(score.low, score.high)
            for score in listed
            if score.low is not None and score.high is not None
        },
    )


def scores_of(found: Measured) -> list[Score]:
    """Return a metric's scores, the main one first."""
    return sorted(found.scores, key=lambda score: score.name != found.main)


def _numbers(column: Sequence[Any]) -> list[float | None]:
    return [float(value) if isinstance(value, int | float) else None for value in column]
