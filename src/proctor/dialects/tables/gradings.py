"""Grades the answers to a table, and says where right answers stand in sentences that are not equal to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.errors import DataError
from proctor.ir.question import Answered
from proctor.logs import get_logger
from proctor.scoring.assertions import Assertion, check_of, numbers_in
from proctor.scoring.grades import Grade

EQUALITY: Final = "exact_match"


class TableGrader(TaskGrader):
    """Scores by equality, and says how many answers hold the right one without being equal to it.

    Args:
        task: The task that the table is.
        path: The table, for the message.
        labels: Scores of classes, which count what equality does not.
    """

    def __init__(self, task: PreparedTask, path: str, labels: Sequence[str] = ()) -> None:
        super().__init__(task)
        self._path = path
        self._labels = labels

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        places: list[int] = []
        numbers: list[bool] = []
        grade = super().grade(self._watched(answered, places, numbers))
        if self._labels:
            self._say_strict(grade, places)
            return grade
        values = grade.instance_scores.get(EQUALITY, ())
        held = [is_number for place, is_number in zip(places, numbers, strict=True) if values and values[place] == 0]
        if held:
            metric = "number" if all(held) else "includes"
            get_logger().warning(
                "%s: %d of %d answers contain the right answer and are not equal to it, so they count as wrong: "
                "--metric %s counts them as right",
                self._path,
                len(held),
                len(values),
                metric,
            )
        return grade

    def _say_strict(self, grade: Grade, right: Sequence[int]) -> None:
        """Say which scores of classes count answers as wrong that equal a right one but for case and marks."""
        for name in self._labels:
            values = grade.instance_scores.get(name, ())
            if count := sum(values[place] == 0 for place in right if values):
                get_logger().warning(
                    "%s: %s counts %d of %d answers as wrong that --metric exact counts as right: scores of classes "
                    "compare to the letter, F1 with the first right answer alone",
                    self._path,
                    name,
                    count,
                    len(values),
                )

    def _watched(self, answered: Iterable[Answered], places: list[int], numbers: list[bool]) -> Iterator[Answered]:
        kinds = ("exact", "number") if self._labels else ("includes", "number")
        includes, number = (check_of(Assertion(kind)) for kind in kinds)
        for place, each in enumerate(answered):
            if each.failure is None and (golds := self._golds(each.question.instance)):
                text = " ".join(each.responses[0].texts[-1:])
                if includes(text, golds):
                    places.append(place)
                    numbers.append(all(map(numbers_in, golds)) and bool(number(text, golds)))
            yield each

    def _golds(self, row: Any) -> list[str]:
        try:
            target = self._task.answer_view(row).target
        except DataError:
            return []
        return [str(each) for each in target] if isinstance(target, list) else [str(target)]
