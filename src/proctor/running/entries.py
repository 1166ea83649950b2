"""Results of exams and of groups as ``results.json`` has them: scores, counts and units, in an order of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.jsonable import jsonable
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import ScoredGroup
from proctor.scoring.flat_scores import COPIES, DIRECTION, WITHOUT, units_of
from proctor.scoring.grades import Grade
from proctor.scoring.grading.answer_endings import LAST_RESORT


def entry_of(grade: Grade, asked: int, more: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the results of an exam as ``results.json`` has them.

    Args:
        grade: Its scores.
        asked: How many instances it has; copies of questions are counted as one.
        more: How answers ended, where that is known.
    """
    failures = grade.failures
    if grade.questions is not None:
        asked, failures = len(grade.questions.places), grade.questions.failures
    kinds = Counter(failure.kind for failure in failures.values())
    counts = {"n": asked, "failures": len(failures), **(more or {})}
    entry = {**grade.scores, **counts, **units_of(grade.table, grade.main)}
    if grade.last_resorts:
        entry[LAST_RESORT] = len(grade.last_resorts)
    if grade.copies > 1:
        entry[COPIES] = grade.copies
    if grade.main is not None and grade.main.higher_is_better is not None:
        entry[DIRECTION] = grade.main.higher_is_better
    if kinds:
        entry["failure_kinds"] = dict(sorted(kinds.items()))
    if grade.metric_failures:
        entry["metric_failures"] = {name: failure.message for name, failure in grade.metric_failures.items()}
    return _sorted(entry)


SCORE_ORDER = "score_order"
"""Where ``results.json`` says in which order evaluators name their scores, where that is not its own."""


def order_of(grade: Grade) -> list[str]:
    """Return the names of scores in the order of the evaluator; empty where that is the order of ``results.json``."""
    names = [score.name for score in grade.table]
    return names if names != sorted(names) else []


def in_its_order(entry: Mapping[str, Any], grade: Grade | None) -> Mapping[str, Any]:
    """Return the results of an exam, its scores first, in the order in which its evaluator names them."""
    return in_order(entry, [score.name for score in grade.table] if grade is not None else [])


def in_order(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the results of an exam with the named scores first."""
    return {**{name: entry[name] for name in names if name in entry}, **entry}


def _sorted(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): jsonable(entry[name]) for name in sorted(entry)}


def group_entries(
    exams: Sequence[Exam], grades: Mapping[str, Grade], results: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return the scores of the groups that exams were chosen with, filed like an exam's.

    ``n`` is what was asked in the exams that the main score is made of; those that it is not made of, because they
    have no such score or could not be graded, are ``without``.
    """
    groups: dict[str, ScoredGroup] = {}
    for exam in exams:
        groups.update((group.name, group) for group in exam.groups if group.name not in grades)
    entries = {}
    for name, group in groups.items():
        scores = group.score(grades)
        if scores:
            members = [exam.name for exam in exams if any(each.name == name for each in exam.groups)]
            lacking = scores.pop(WITHOUT, ())
            having = [member for member in members if member in grades and member not in lacking]
            failed = sum(results[member].get("failures", 0) for member in having)
            asked = sum(results[member].get("n", 0) for member in having)
            entry = {**scores, "n": asked, "failures": failed, "members": members}
            if without := [member for member in members if member not in having]:
                entry[WITHOUT] = without
            entries[name] = _sorted(entry)
    return entries
