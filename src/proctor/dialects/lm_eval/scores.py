"""Scores of a task: the aggregate of each metric under each filter pipeline, with its standard error and interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.dialects.lm_eval.config import plain
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.aggregated import aggregated
from proctor.scoring.aggregations import Aggregate, mean

Values = dict[str, Any]
"""The metrics of one document, by name."""


@dataclass(frozen=True, slots=True)
class Measure:
    """How values of documents become scores.

    Attributes:
        aggregates: Aggregations by metric; the mean for all others.
        resamples: Bootstrap resamples behind a standard error.
    """

    aggregates: Mapping[str, Aggregate]
    resamples: int


def add_scores(
    scores: dict[str, Any],
    columns: dict[str, Sequence[Any]],
    pipeline: str,
    found: Sequence[Values | None],
    measure: Measure,
) -> dict[str, Failure]:
    """Add the scores of a filter pipeline; return the metrics that could not be computed, with the reason.

    Args:
        scores: The scores so far; they are added to.
        columns: Scores by document so far; they are added to.
        pipeline: The pipeline's name.
        found: The metrics of each document, ``None`` where it has none.
        measure: How they are aggregated.
    """
    broken: dict[str, Failure] = {}
    for metric in dict.fromkeys(metric for each in found if each is not None for metric in each):
        values = [each[metric] for each in found if each is not None and metric in each]
        key = score_key(metric, pipeline)
        columns[key] = [None if each is None else each.get(metric) for each in found]
        aggregate = measure.aggregates.get(metric, mean)
        try:
            made = aggregated(metric, aggregate, values, measure.resamples)
        except (ProctorError, ArithmeticError, LookupError, TypeError, ValueError) as problem:
            broken[key] = Failure(type(problem).__name__, _reason(problem), retryable=False)
            continue
        scores[key] = plain(made.value)
        scores[error_key(metric, pipeline)] = made.error
        if made.low is not None:
            scores[f"{key}_ci_low"], scores[f"{key}_ci_high"] = made.low, made.high
        scores[f"{key}_n"] = len(values)
    return broken


def _reason(problem: Exception) -> str:
    if not isinstance(problem, ProctorError):
        return str(problem)
    first = problem.diagnostics[0]
    return f"{first.what}: {first.why}" if first.why else first.what


def name_main_score(scores: dict[str, Any]) -> None:
    """Name the first score the main one."""
    main = next((key for key, value in scores.items() if isinstance(value, int | float)), None)
    if main is not None:
        scores["score_name"], scores["score"] = main, scores[main]
        scores["score_ci_low"] = scores.get(f"{main}_ci_low")
        scores["score_ci_high"] = scores.get(f"{main}_ci_high")


def score_key(metric: str, pipeline: str) -> str:
    """Return the name of a score: the metric, and the filter pipeline where that has a name."""
    return metric if pipeline == "none" else f"{metric},{pipeline}"


def error_key(metric: str, pipeline: str) -> str:
    """Return the name of a score's standard error."""
    return f"{metric}_stderr" if pipeline == "none" else f"{metric}_stderr,{pipeline}"
