"""Grades the answers to a table, and says where right answers stand in sentences that are not equal to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    """

    def __init__(self, task: PreparedTask, path: str) -> None:
        super().__init__(task)
        self._path = path

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        places: list[int] = []
        numbers: list[bool] = []
        grade = super().grade(self._watched(answered, places, numbers))
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

    def _watched(self, answered: Iterable[Answered], places: list[int], numbers: list[bool]) -> Iterator[Answered]:
        includes, number = (check_of(Assertion(kind)) for kind in ("includes", "number"))
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
