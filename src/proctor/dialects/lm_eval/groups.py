"""Scores of groups: one number of the scores of many tasks, with its standard error and interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.names import ONLY, listed, score_key
from proctor.dialects.lm_eval.tree import Group, GroupMetric
from proctor.scoring.aggregations import number
from proctor.scoring.flat_scores import COUNT, NOWHERE, WITHOUT, units_of
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score, Unit, interval_of_mean
from proctor.statistics.distributions import normal_quantile

ACCURACY = frozenset({"acc", "accuracy"})
"""Names of one score: in tasks of lm-eval, and in recipes, which may stand in one group."""


@dataclass(slots=True)
class GroupScores:
    """The scores of a group.

    Attributes:
        counts: Instances that were scored, by task.
        table: Its scores.
        without: Tasks that lack a score which others have, by the score's name: the number is not about them.
        nowhere: Scores that it was to have, and none of its tasks has.
    """

    counts: Mapping[str, int]
    table: list[Score] = field(default_factory=list)
    without: dict[str, list[str]] = field(default_factory=dict)
    nowhere: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Instances that were scored in all its tasks."""
        return sum(self.counts.values())

    def flat(self) -> dict[str, Any]:
        """Return the flat view; the first number is the main score, and the count is of what it is made of."""
        found: dict[str, Any] = {COUNT: self.count}
        for score in self.table:
            found.update(listed(score))
            if score.name in self.without:
                found[f"{score.name}_without"] = self.without[score.name]
        if self.nowhere:
            found[NOWHERE] = self.nowhere
        main = next((score for score in self.table if isinstance(score.value, float)), None)
        if main is not None:
            found.update(score=main.value, score_name=main.name, score_ci_low=main.low, score_ci_high=main.high)
            found.update(units_of(self.table, main))
            if lacking := self.without.get(main.name):
                found[WITHOUT] = lacking
                found[COUNT] = sum(count for name, count in self.counts.items() if name not in lacking)
        return found


def group_scores(group: Group, grades: Mapping[str, Grade]) -> GroupScores:
    """Return the scores of a group.

    Args:
        group: The group.
        grades: Grades by the name of the task.
    """
    members = {leaf.name: grades[leaf.name] for leaf in group.leaves() if leaf.name in grades}
    found = GroupScores({name: scored_count(grade) for name, grade in members.items()})
    for metric in group.metrics:
        pipelines = metric.filters if metric.filters is not None else _pipelines(metric.metric, members)
        if not pipelines and any(grade.table for grade in members.values()):
            found.nowhere.append(metric.metric)
        for pipeline in pipelines:
            reducers = _reducers(metric.metric, pipeline, members)
            if not reducers and any(grade.table for grade in members.values()):
                found.nowhere.append(score_key(metric.metric, pipeline))
            for reducer in reducers:
                having = dict(_scores_of(metric.metric, pipeline, members, reducer))
                sizes = [_weight(members[name]) for name in having]
                score = _aggregated(metric, "" if pipeline == ONLY else pipeline, list(having.values()), sizes)
                score = replace(score, name=f"{score.name}{reducer}")
                found.table.append(score)
                if without := [name for name in members if name not in having]:
                    found.without[score.name] = without
    return found


def _reducers(metric: str, pipeline: str, members: Mapping[str, Grade]) -> list[str]:
    """Return what the names of a score end with where several answers were reduced: that of main scores first."""
    mains: list[str] = []
    others: list[str] = []
    for grade in members.values():
        keys = [score.name for score in grade.table if _is_of(score, metric, pipeline)]
        for score in grade.table:
            for key in keys:
                if score.name == key or score.name.startswith(f"{key}:"):
                    is_main = grade.main is not None and grade.main.name == score.name
                    (mains if is_main else others).append(score.name.removeprefix(key))
    return list(dict.fromkeys([*mains, *others]))


def scored_count(grade: Grade) -> int:
    """Return how many instances were scored."""
    if grade.questions is not None:
        return len(grade.questions.places) - len(grade.questions.failures)
    return len(grade.predictions) - len(grade.failures)


def _weight(grade: Grade) -> int:
    """Return what a task weighs in its group: what was scored, or all that a sample of it stands for."""
    return scored_count(grade) if grade.stands_for is None else grade.stands_for


def _is_of(score: Score, metric: str, pipeline: str | None = None) -> bool:
    names = ACCURACY if metric in ACCURACY else {metric}
    if pipeline is not None and (score.grading or ONLY) != pipeline:
        return False
    return score.name in {score_key(name, score.grading) for name in names} and isinstance(score.value, int | float)


def _pipelines(metric: str, members: Mapping[str, Grade]) -> list[str]:
    """Return the filter pipelines that have scores of a metric."""
    scores = (score for grade in members.values() for score in grade.table)
    return sorted({score.grading or ONLY for score in scores if _is_of(score, metric)})


def _scores_of(
    metric: str, pipeline: str, members: Mapping[str, Grade], reducer: str = ""
) -> Iterator[tuple[str, Score]]:
    """Yield the tasks that have a score, with it; the name that the group uses comes first."""
    for name, grade in members.items():
        bare = [
            replace(each, name=each.name.removesuffix(reducer)) for each in grade.table if each.name.endswith(reducer)
        ]
        found = [score for score in bare if _is_of(score, metric, pipeline)]
        if found:
            key = score_key(metric, pipeline)
            yield name, next((score for score in found if score.name == key), found[0])


def _aggregated(metric: GroupMetric, pipeline: str, scores: Sequence[Score], sizes: Sequence[int]) -> Score:
    values = [float(score.value) for score in scores]  # type: ignore[arg-type]
    weights = sizes if metric.weight_by_size else [1] * len(sizes)
    is_mean = not callable(function := value_of(metric.aggregation, "aggregation"))
    value = weighted(values, weights) if is_mean else number(function(values, sizes))
    errors = [error for score in scores if (error := error_of(score)) is not None]
    error = None
    if len(errors) == len(values):
        error = pooled_error(errors, sizes) if metric.weight_by_size else unweighted_error(errors)
    low, high = _interval(scores, values, weights) if is_mean else (None, None)
    units: set[Unit] = {score.unit for score in scores}
    return Score(
        score_key(metric.metric, pipeline),
        value,
        low,
        high,
        stderr=error,
        unit=units.pop() if len(units) == 1 else "raw",
        higher_is_better=scores[0].higher_is_better,
        metric=metric.metric,
        grading=pipeline,
    )


def error_of(score: Score) -> float | None:
    """Return a score's standard error; of a score with an interval alone, half its width in standard errors.

    Of one instance no error is known, whatever its interval.
    """
    if score.stderr is not None or score.low is None or score.high is None or score.n == 1:
        return score.stderr
    return (score.high - score.low) / 2 / normal_quantile(0.975)


Bounds = tuple[float | None, float | None]


def _interval(scores: Sequence[Score], values: Sequence[float], weights: Sequence[float]) -> Bounds:
    intervals = [(score.low, score.high) for score in scores if score.low is not None and score.high is not None]
    return interval_of_mean(values, intervals, weights) if len(intervals) == len(values) else (None, None)


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
