"""From columns to a grade: what scorers measure, by question, and one grade made of all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grades import Grade, Measured
from proctor.scoring.grading.protocols import Counts, Mark, ScoreNames, Scorer, warn_of_one_name
from proctor.scoring.metric import FATAL, failure_of
from proctor.scoring.scores import Score
from proctor.secrets import redacted


def measure(
    columns: Columns, scorers: Sequence[Scorer], grading: str = "", *, intervals: bool = True, instances: bool = True
) -> list[Mark]:
    """Return what scorers measure, under the name of their grading.

    Raises:
        ProctorError: What concerns all instances; what concerns one scorer is a failure in what it measured.
    """
    return [
        Mark(grading, scorer.name, _measured(scorer, columns, intervals=intervals, instances=instances))
        for scorer in scorers
    ]


def _measured(scorer: Scorer, columns: Columns, *, intervals: bool, instances: bool) -> Measured:
    try:
        return scorer.measure(columns, intervals=intervals, instances=instances)
    except FATAL:  # some are errors of files, too
        raise
    except OSError as error:
        return Measured(failure=Failure("metric", redacted(f"{type(error).__name__}: {error}"), retryable=False))
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this scorer fails, others count
        failure = failure_of(error)
        if isinstance(error, ProctorError):
            failure = Failure("scoring", str(error), retryable=False)
        return Measured(failure=failure)


def by_question(mark: Mark, owners: Sequence[int], count: int, *, one_each: bool) -> Mark:
    """Return a mark whose columns have one entry for each question instead of each reading.

    Args:
        mark: What was measured.
        owners: Position of the question that each reading belongs to.
        count: How many questions there are.
        one_each: Whether every question has exactly one reading.
    """
    if one_each:
        return mark
    found = mark.found
    columns: dict[str, Sequence[Any]] = {
        name: _means(column, owners, count) for name, column in found.instances.items()
    }
    failures: dict[int, Failure] = {}
    for place, failure in sorted(found.failures.items()):
        failures.setdefault(owners[place], failure)
    return mark._replace(found=replace(found, instances=columns, failures=failures))


def _means(column: Sequence[Any], owners: Sequence[int], total: int) -> list[Any]:
    """Return the mean of each question's entries; ``None`` where it has none."""
    sums: list[list[float]] = [[] for _ in range(total)]
    for owner, value in zip(owners, column, strict=True):
        if value is not None:
            sums[owner].append(float(value))
    return [sum(values) / len(values) if values else None for values in sums]


def composed(marks: Sequence[Mark], names: ScoreNames, asked: int, failures: dict[int, Failure] | None = None) -> Grade:
    """Return one grade of what scorers measured.

    Args:
        marks: What was measured; the first main score is the grade's.
        names: How scores are listed.
        asked: How many instances there are.
        failures: Instances that failed before anything was scored.
    """
    grade = Grade({}, failures=dict(failures or {}))
    table: dict[str, Score] = {}
    for mark in marks:
        for score in _scores_of(mark, names):
            table.setdefault(score.name, score)
            if grade.main is None and score.name == names.key(mark.found.main, mark.grading):
                grade.main = score
        for place, failure in mark.found.failures.items():
            grade.failures.setdefault(place, failure)
    warn_of_one_name(marks)
    for mark in (*names.order(marks), *reversed(marks)):  # places in order; of equal names the first counts
        grade.instance_scores.update(
            {names.key(name, mark.grading): column for name, column in mark.found.instances.items()}
        )
        if mark.found.failure is not None:
            grade.metric_failures[names.key(mark.scorer, mark.grading)] = mark.found.failure
        for name, failure in mark.found.broken.items():
            grade.metric_failures[names.key(name, mark.grading)] = failure
    grade.table = list(table.values())
    grade.scores = names.flat(marks, grade.table, grade.main, Counts(asked, len(grade.failures)))
    return grade


def _scores_of(mark: Mark, names: ScoreNames) -> Iterator[Score]:
    for score in mark.found.scores:
        yield replace(score, name=names.key(score.name, mark.grading), grading=mark.grading or score.grading)
