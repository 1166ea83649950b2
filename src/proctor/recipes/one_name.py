"""Exams by name: results are filed under it, so it stands for one exam only."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence

from proctor.errors import UsageError
from proctor.recipes.exam import Exam, add_groups
from proctor.recipes.exam_parts import ScoredGroup


def file_exam(exams: MutableMapping[str, Exam], exam: Exam, groups: Sequence[ScoredGroup], asked: str) -> None:
    """File an exam under its name, with the groups that it belongs to; one that is there belongs to them, too.

    Args:
        exams: The exams so far.
        exam: The exam.
        groups: Its groups.
        asked: The name that means it.

    Raises:
        UsageError: A different exam has its name: only one of them would be run.
    """
    known = exams.setdefault(exam.name, exam)
    if known is not exam and known.specification() != exam.specification():
        raise UsageError(
            f"'{asked}' means an exam '{exam.name}', and so does another name, but they are different exams",
            why="results are filed by the exam's name",
            hint=f"give each a run of its own, or a name: '{asked}[name={exam.name}-2]'",
        )
    exams[exam.name] = add_groups(known, groups)
