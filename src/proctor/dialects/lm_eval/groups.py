"""Scores of groups: one number of the scores of many tasks, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.scores import error_key, score_key
from proctor.dialects.lm_eval.tree import Group, GroupMetric
from proctor.scoring.aggregated import CONFIDENCE_95, number
from proctor.scoring.combined import interval_of_mean

Scores = Mapping[str, Any]


def group_scores(group: Group, scores: Mapping[str, Scores]) -> dict[str, Any]:
    """Return the scores of a group.

    Args:
        group: The group.
        scores: Scores by the name of the task, as their grades have them.
    """
    members = {leaf.name: scores[leaf.name] for leaf in group.leaves() if leaf.name in scores}
    tasks = list(members.values())
    found: dict[str, Any] = {"num_of_instances": sum(each.get("num_of_instances", 0) for each in tasks)}
    for metric in group.metrics:
        for pipeline in metric.filters if metric.filters is not None else _pipelines(metric.metric, tasks):
            found.update(_aggregated(metric, pipeline, tasks))
            _note_missing(found, score_key(metric.metric, pipeline), members)
    main = next((key for key, value in found.items() if key != "num_of_instances" and isinstance(value, float)), None)
    if main is not None:
        found.update(score=found[main], score_name=main)
        found.update({f"score{end}": found.get(f"{main}{end}") for end in ("_ci_low", "_ci_high")})
    return found


def _note_missing(found: dict[str, Any], key: str, members: Mapping[str, Scores]) -> None:
    """Name the tasks that have no such score, where others have: the group's number is not about them."""
    without = [name for name, each in members.items() if _key_in(each, key) is None]
    if key in found and without:
        found[f"{key}_without"] = without


_SAME = {"acc": "accuracy", "accuracy": "acc"}
"""Names of one score: in tasks of lm-eval, and in Unitxt's recipes."""


def _key_in(scores: Scores, key: str) -> str | None:
    """Return under which name a task has a score, ``None`` where it has none."""
    for name in (key, _SAME.get(key, "")):
        if isinstance(scores.get(name), int | float):
            return name
    return None


def _error_of(scores: Scores, metric: str, pipeline: str, key: str) -> Any:
    """Return a score's standard error; of a score with an interval alone, half its width in standard errors."""
    known, interval = scores.get(error_key(metric, pipeline)), _interval_of(scores, key)
    if known is None and interval is not None:
        return (interval[1] - interval[0]) / 2 / CONFIDENCE_95
    return known


def _pipelines(metric: str, tasks: Sequence[Scores]) -> list[str]:
    names = {"none" for each in tasks if metric in each or (_SAME.get(metric, "") in each)}
    prefix = f"{metric},"
    for each in tasks:
        names.update(key[len(prefix) :] for key in each if key.startswith(prefix) and not key.endswith(_ENDINGS))
    return sorted(names)


_ENDINGS = ("_ci_low", "_ci_high", "_n")


def _aggregated(metric: GroupMetric, pipeline: str, tasks: Sequence[Scores]) -> dict[str, Any]:
    key = score_key(metric.metric, pipeline)
    having = [(each, name) for each in tasks if (name := _key_in(each, key)) is not None]
    if not having:
        return {}
    values = [float(each[name]) for each, name in having]
    sizes = [int(each.get("num_of_instances", 0)) for each, _ in having]
    errors = [_error_of(each, metric.metric, pipeline, name) for each, name in having]
    weights = sizes if metric.weight_by_size else [1] * len(sizes)
    is_mean = not callable(function := value_of(metric.aggregation, "aggregation"))
    value = weighted(values, weights) if is_mean else number(function(values, sizes))
    known = [each for each in errors if isinstance(each, int | float)]
    error: float | str = "N/A"
    if len(known) == len(values):
        error = pooled_error(known, sizes) if metric.weight_by_size else unweighted_error(known)
    found = {key: value, error_key(metric.metric, pipeline): error}
    intervals = [interval for each, name in having if (interval := _interval_of(each, name)) is not None]
    if is_mean and len(intervals) == len(values):
        low, high = interval_of_mean(values, intervals, weights)
    elif isinstance(error, float) and isinstance(value, float):
        low, high = value - CONFIDENCE_95 * error, value + CONFIDENCE_95 * error
    else:
        return found
    return {**found, f"{key}_ci_low": low, f"{key}_ci_high": high}


def _interval_of(scores: Scores, name: str) -> tuple[float, float] | None:
    low, high = scores.get(f"{name}_ci_low"), scores.get(f"{name}_ci_high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return None
    return float(low), float(high)


def weighted(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean."""
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def pooled_error(errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Return the standard error of the mean over all documents, from the pooled variance of the tasks."""
    within = sum((size - 1) * error**2 * size for error, size in zip(errors, sizes, strict=True))
    freedom = sum(sizes) - len(sizes)
    return math.sqrt(within / freedom / sum(sizes)) if freedom else math.nan


def unweighted_error(errors: Sequence[float]) -> float:
    """Return the standard error of the plain mean of independent means."""
    return math.sqrt(sum(error**2 for error in errors)) / len(errors)
