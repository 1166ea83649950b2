"""The scores of a run under other readings of its answers: the first match, the last one, only what is clear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from proctor.errors import ScoringError
from proctor.recipes.exam import Exam
from proctor.results.summary import shown
from proctor.running.regrade import answered_again, asking_nobody, check_same, grader_of
from proctor.running.spec import RunSpec
from proctor.runs.sample_index import SampleIndex
from proctor.scoring.grades import Grade, main_column
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import WAYS, reading_as

OWN: Final = "own"
"""How the exam reads."""


@dataclass(frozen=True, slots=True)
class ExamReadings:
    """The main score of an exam under each reading.

    Attributes:
        exam: Its name.
        metric: The main score.
        asked: How many instances were graded.
        scores: By reading, :data:`OWN` first.
        changed: Instances whose own score is another one, by reading.
        read_by: How many answers were read by what, as the exam reads them.
        last_resorts: Instances whose score hangs on a last resort.
        values: The scores of instances by number, by reading; nothing where they have none of their own.
    """

    exam: str
    metric: str
    asked: int
    scores: dict[str, Score]
    changed: dict[str, list[int]]
    read_by: dict[str, int]
    last_resorts: list[int]
    values: dict[str, dict[int, float]]

    def record(self) -> dict[str, Any]:
        """Return everything as JSON-like data."""
        scores = {
            way: {"score": each.number, "ci_low": each.low, "ci_high": each.high, "changed": self.changed.get(way, [])}
            for way, each in self.scores.items()
        }
        return {
            "exam": self.exam,
            "metric": self.metric,
            "n": self.asked,
            "readings": scores,
            "read_by": self.read_by,
            "last_resort": self.last_resorts,
        }

    def verdict(self) -> str:
        """Return a sentence on how much the score depends on how answers are read."""
        known = sorted(number for each in self.scores.values() if (number := each.number) is not None)
        if not known or known[0] == known[-1]:
            if not self.read_by:
                return "nothing is looked for in its answers: they are scored as they are"
            return "the score is the same however the answers are read"
        return f"the score is {shown(known[0])} to {shown(known[-1])}, as the answers are read"


def readings_of(index: SampleIndex, exam: str, find_exam: Callable[[RunSpec, str], Exam]) -> ExamReadings:
    """Return the scores of one exam of a run under each reading; nobody is asked.

    Args:
        index: The run's samples.
        exam: The exam.
        find_exam: Builds it again.

    Raises:
        ProctorError: It cannot be graded as it was; the message says why.
    """
    stored = index.mains.get(exam)
    if index.spec is None or stored is None:
        raise ScoringError(f"'{exam}' has no main score, or it is not known what was run")
    built = find_exam(index.spec, exam)
    grader, answered = grader_of(built), list(answered_again(built, index.records(exam)))
    numbers = [each.question.number for each in answered]
    grades: dict[str, Grade] = {}
    for way in (None, *WAYS):
        with asking_nobody(), reading_as(way):
            grades[way or OWN] = grader.grade(answered)
    own = grades[OWN]
    if own.main is None:
        raise ScoringError(f"graded again, '{exam}' has no main score")
    check_same(built, stored, own.main.number or 0.0)
    return ExamReadings(
        exam,
        stored.name,
        len(answered),
        {way: grade.main or Score(stored.name, None) for way, grade in grades.items()},
        {way: _changed(own, grade, numbers) for way, grade in grades.items() if way != OWN},
        own.read_by,
        sorted(numbers[place] for place in own.last_resorts),
        {way: _values(grade, numbers) for way, grade in grades.items()},
    )


def _values(grade: Grade, numbers: Sequence[int]) -> dict[int, float]:
    column = main_column(grade)
    values = () if column is None else zip(numbers, column.values, strict=True)
    return {number: float(value) for number, value in values if isinstance(value, int | float)}


def _changed(own: Grade, other: Grade, numbers: Sequence[int]) -> list[int]:
    """Return the instances that score otherwise; of scores of all together, those that are read otherwise."""
    columns = main_column(own), main_column(other)
    one, two = (
        (own.processed_predictions, other.processed_predictions)
        if columns[0] is None or columns[1] is None
        else (columns[0].values, columns[1].values)
    )
    return [number for number, before, now in zip(numbers, one, two, strict=True) if before != now]
