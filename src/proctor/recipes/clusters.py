"""Questions that belong together: standard errors and intervals of an exam that know it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.scoring.flat_scores import CLUSTERS, HIGH, LOW, NO_CLUSTER, WITHOUT
from proctor.scoring.grades import Grade, MainColumn, question_column, score_column
from proctor.scoring.grading.groups import Alone, cluster_key
from proctor.scoring.scores import Score
from proctor.statistics.two_level import two_level


def graded_in_clusters(grade: Callable[[Iterable[Answered]], Grade], answered: Iterable[Answered], by: str) -> Grade:
    """Return a grade with the standard errors and the intervals of clusters of questions.

    So have all scores that are means of instances, in the groups of the exam, too. Others keep theirs and are named;
    where the main score is one of them, that is a failure.

    Args:
        grade: The exam's own grading.
        answered: Questions with their responses; read once.
        by: The field whose values say which questions belong together.
    """
    keys: list[Hashable] = []
    return _clustered(grade(_noting(answered, by, keys)), keys, by)


def _noting(answered: Iterable[Answered], by: str, keys: list[Hashable]) -> Iterator[Answered]:
    for place, each in enumerate(answered):
        keys.append(cluster_key(each.question.instance, by, place))
        yield each


def _clustered(grade: Grade, keys: Sequence[Hashable], by: str) -> Grade:
    main, column = grade.main, question_column(grade)
    if grade.questions is not None:
        keys = [keys[places[0]] for places in grade.questions.places]
    if main is None or column is None:
        return grade
    if not column.is_mean or len(column.values) != len(keys):
        why = f"'{main.name}' is not a mean of instances, so clusters of '{by}' say nothing of its interval"
        grade.metric_failures["clusters"] = Failure("scoring", why, retryable=False)
        return grade
    columns = {**_columns_of(grade, len(keys)), main.name: column}
    whole = {name: _interval(each, keys) for name, each in columns.items()}
    grade.table = [_bounded(score, whole.get(score.name)) for score in grade.table]
    grade.main = _bounded(main, whole[main.name])
    _put_intervals(grade.scores, whole, main.name)
    for entry, places in zip(grade.scores.get("groups", ()), grade.members, strict=True):
        own = {name: _interval(each, keys, places) for name, each in columns.items() if name in entry}
        _put_intervals(entry, own, main.name)
    alone = [score.name for score in grade.table if score.name not in columns and score.low is not None]
    found = whole[main.name]
    _correct_noise(grade, whole)
    grade.scores[CLUSTERS] = {"by": by, "count": found.clusters, "stderr": found.error} | (
        {WITHOUT: alone} if alone else {}
    )
    if single := sum(isinstance(key, Alone) for key in keys):
        grade.scores[CLUSTERS][NO_CLUSTER] = single
    return grade


def _correct_noise(grade: Grade, found: Mapping[str, _Interval]) -> None:
    """Say the error of several answers to each question in clusters; its two levels are those of single questions."""
    noise, main = grade.scores.get("repeats"), grade.main
    if not isinstance(noise, Mapping) or main is None:
        return
    mean = next((each for name, each in found.items() if main.name == name or main.name.startswith(f"{name}:")), None)
    error = None if mean is None else mean.error
    grade.scores["repeats"] = {"instances": noise["instances"], "repeats": noise["repeats"], "stderr": error}


def _columns_of(grade: Grade, count: int) -> dict[str, MainColumn]:
    """Return the scores of questions behind each score that is their mean; a score of a corpus is none."""
    found = {score.name: score_column(grade, score) for score in grade.table}
    return {name: each for name, each in found.items() if each and each.is_mean and len(each.values) == count}


@dataclass(frozen=True, slots=True)
class _Interval:
    """What clusters say of a score: no bounds and no error where there is but one cluster."""

    low: float | None
    high: float | None
    error: float | None
    clusters: int | None


def _interval(column: MainColumn, keys: Sequence[Hashable], places: Sequence[int] | None = None) -> _Interval:
    """Return the interval of the mean of all questions, or of those at some places."""
    chosen = range(len(keys)) if places is None else places
    known = [(value, keys[place]) for place in chosen if (value := column.values[place]) is not None]
    if not known:
        return _Interval(None, None, None, 0)
    found = two_level([[value] for value, _ in known], [key for _, key in known])
    low, high = found.interval(whole=column.whole)
    error = found.error * column.scale if found.freedom else None
    if math.isnan(low):
        return _Interval(None, None, error, found.clusters)
    return _Interval(low * column.scale, high * column.scale, error, found.clusters)


def _bounded(score: Score, found: _Interval | None) -> Score:
    return score if found is None else replace(score, low=found.low, high=found.high, stderr=found.error)


def _put_intervals(flat: dict[str, Any], found: Mapping[str, _Interval], main: str) -> None:
    """Put intervals and standard errors into the flat view of a set of questions, in place of those it has."""
    for name, each in found.items():
        for shown in (name, "score") if name == main else (name,):
            for end, bound in ((LOW, each.low), (HIGH, each.high)):
                flat.pop(f"{shown}{end}", None)
                if bound is not None:
                    flat[f"{shown}{end}"] = bound
        head, comma, grading = name.partition(",")
        if (error := f"{head}_stderr{comma}{grading}") in flat:
            flat[error] = "N/A" if each.error is None else each.error
