"""Questions that belong together: standard errors and intervals of an exam that know it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.jsonable import jsonable
from proctor.scoring.flat import HIGH, LOW
from proctor.scoring.grade import Grade
from proctor.scoring.groupings import values_of
from proctor.scoring.main_column import question_column
from proctor.statistics.two_level import two_level


def graded_in_clusters(grade: Callable[[Iterable[Answered]], Grade], answered: Iterable[Answered], by: str) -> Grade:
    """Return a grade whose main score has the standard error and the interval of clusters of questions.

    Args:
        grade: The exam's own grading.
        answered: Questions with their responses; read once.
        by: The field whose values say which questions belong together.
    """
    keys: list[Hashable] = []
    return _clustered(grade(_noting(answered, by, keys)), keys, by)


def _noting(answered: Iterable[Answered], by: str, keys: list[Hashable]) -> Iterator[Answered]:
    for each in answered:
        keys.append(_key(each, by))
        yield each


def _key(each: Answered, by: str) -> Hashable:
    try:
        value = jsonable(values_of(each.question.instance, [by])[by])
    except ProctorError:  # a row that could not be asked about has no score, either
        return None
    return value if isinstance(value, Hashable) else repr(value)


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
    known = [(value, key) for value, key in zip(column.values, keys, strict=True) if value is not None]
    found = two_level([[value] for value, _ in known], [key for _, key in known])
    low, high = found.interval(whole=column.whole)
    bounds = (None, None) if math.isnan(low) else (low * column.scale, high * column.scale)
    error = found.error * column.scale if found.freedom else None
    changed = replace(main, low=bounds[0], high=bounds[1], stderr=error)
    grade.table = [changed if score.name == main.name else score for score in grade.table]
    grade.main = changed
    for name in (main.name, "score"):
        for end, bound in ((LOW, bounds[0]), (HIGH, bounds[1])):
            grade.scores.pop(f"{name}{end}", None)
            if bound is not None:
                grade.scores[f"{name}{end}"] = bound
    head, comma, grading = main.name.partition(",")
    if (name := f"{head}_stderr{comma}{grading}") in grade.scores:
        grade.scores[name] = "N/A" if error is None else error
    grade.scores["clusters"] = {"by": by, "count": found.clusters, "stderr": error}
    return grade
