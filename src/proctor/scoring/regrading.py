"""A score of any of an exam's instances, in any number of copies: what a bootstrap of the score itself needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from proctor.errors import ScoringError
from proctor.ir.question import Answered
from proctor.scoring.grade import Columns
from proctor.scoring.grader import ExamGrader, graded_books
from proctor.scoring.grading import Grading
from proctor.scoring.measuring import composed, measure
from proctor.scoring.score import Score


@dataclass(frozen=True, slots=True)
class _Part:
    """What one grading scores.

    Attributes:
        grading: The grading.
        columns: Its readings, in memory.
        readings: Positions of the readings of each question.
    """

    grading: Grading
    columns: Columns
    readings: Sequence[Sequence[int]]


class Regrading:
    """Answers that are read once and scored as often as somebody wants.

    Args:
        grader: The exam's grader.
        answered: Its answers, in order.
    """

    def __init__(self, grader: ExamGrader, answered: Iterable[Answered]) -> None:
        self._grader = grader
        self._parts = [_Part(*part) for part in graded_books(grader, answered)]
        self.count = len(self._parts[0].readings) if self._parts else 0

    def main(self, positions: Sequence[int]) -> Score:
        """Return the main score of the questions at some positions, which may occur several times.

        Raises:
            ScoringError: They have none.
        """
        marks = []
        for part in self._parts:
            chosen = [reading for position in positions for reading in part.readings[position]]
            columns = part.columns.select(chosen)
            marks += measure(columns, part.grading.scorers, part.grading.name, intervals=False, instances=False)
        grade = composed(marks, self._grader.names, len(positions))
        if grade.main is None:
            reasons = [failure.message for failure in grade.metric_failures.values()]
            raise ScoringError("these answers have no main score", why=reasons[0] if reasons else "")
        return grade.main
