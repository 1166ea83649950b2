"""Several answers to each question (``--repeats N``), for the exams of every dialect.

Where an exam itself makes one answer of several (a vote among its text functions, a ``pass@k`` among its metrics), it
is asked as it says. Every other exam is asked N times over, each time graded as it always is, and reducers make one
score of N (:mod:`proctor.recipes.reduction`). Copies of rows, which configs have, are reduced alike
(:mod:`proctor.recipes.copies`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, overload

from msgspec import structs

from proctor.ir import Failure
from proctor.ir.question import Answered, Ask, Question
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import NEED_SCORES, Asker, Context, Demos, Grader, Kind
from proctor.recipes.reduction import Answers, ReducingGrader, complete_rows, count_scored, of_corpus, reduced
from proctor.recipes.selection import Opened, Row
from proctor.scoring.answer_reducers import Reducer, reducers
from proctor.scoring.columns import ABSENT, ConstantColumn
from proctor.scoring.flat_scores import HIGH, LOW
from proctor.scoring.grades import Grade, main_column
from proctor.scoring.grading.column_store import ListLike, Store
from proctor.scoring.grading.grader import ExamGrader, blocks_of_answers
from proctor.scoring.scores import Score


def graded_side_by_side(base: Grader, answered: Iterable[Answered], count: int) -> list[Grade]:
    """Return a grade for each repeat.

    Args:
        base: The exam's own grader.
        answered: Questions with the responses of all repeats, one repeat behind the other; read once.
        count: How many repeats there are.
    """
    core = getattr(base, "grader", base)
    if not isinstance(core, ExamGrader):
        everything = list(answered)
        return [base.grade(_nth(each, number, count) for each in everything) for number in range(count)]
    store = Store()
    passes = [core.begin(store) for _ in range(count)]
    for block in blocks_of_answers(answered):
        for number, one in enumerate(passes):
            one.add([_nth(each, number, count) for each in block])
    return [one.finish() for one in passes]


def _nth(answered: Answered, number: int, count: int) -> Answered:
    """Return one repeat of a question; where one of its answers has failed, all of them have."""
    question, size = answered.question, len(answered.question.requests) // count
    where = slice(number * size, (number + 1) * size)
    responses = answered.responses[where]
    if answered.failure is not None:
        responses = tuple(structs.replace(each, failure=answered.failure) for each in responses)
    return Answered(structs.replace(question, requests=question.requests[where]), responses)


class SideBySide(ListLike):
    """What all repeats have of each question: lists that are made where somebody looks at them.

    Where the first repeat has a failure, that stands for all of them.

    Args:
        columns: One column for each repeat, equally long.
    """

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        if len({len(each) for each in columns}) > 1:
            raise ValueError(f"the columns of repeats have {[len(each) for each in columns]} entries")
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[Any]:
        return map(_together, zip(*self._columns, strict=True))

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        found = [each[index] for each in self._columns]
        return list(map(_together, zip(*found, strict=True))) if isinstance(index, slice) else _together(found)

    def all_at(self, place: int) -> list[Any]:
        """Return each repeat's entry for a question, failures too."""
        return [each[place] for each in self._columns]


def _together(values: Sequence[Any]) -> Any:
    return values[0] if isinstance(values[0], Failure) else list(values)


def repeated(exam: Exam, *, is_known_to_write: bool = False) -> Exam:
    """Return an exam that is asked and graded as often as its options say; one that writes nothing as it is.

    Args:
        exam: The exam.
        is_known_to_write: Whether to repeat it without a look at what it asks, which loads the data of Python classes.
    """
    count = exam.options.repeats
    if count is None or not (is_known_to_write or exam.asker.kinds - NEED_SCORES):
        return exam
    names = exam.options.reduce
    return replace(exam, asker=RepeatedAsker(exam.asker, count), grader=RepeatsGrader(exam.grader, count, names))


@dataclass(frozen=True)
class RepeatedAsker:
    """An asker that asks everything several times."""

    base: Asker
    count: int

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return self.base.kinds

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row and its demos to a question; errors as of the asker."""
        ask = self.base.compile(opened, context)

        def again(place: Ask, row: Row, demos: Demos) -> Question:
            question = ask(place, row, demos)
            return structs.replace(question, requests=question.requests * self.count)

        return again


# -- grading --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RepeatsGrader(ReducingGrader):
    """Grades each repeat as the exam always does, and makes one score of all."""

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once."""
        parts = graded_side_by_side(self.base, answered, self.count)
        return _united(parts, reducers(self.names, self.count))


def _united(parts: Sequence[Grade], chosen: Sequence[Reducer]) -> Grade:
    first, size = parts[0], len(parts[0].predictions)
    failures = {place: failure for part in reversed(parts) for place, failure in part.failures.items()}
    tables = [{score.name: score for score in part.table} for part in parts]
    united = Grade(
        _flat_of([part.scores for part in parts]),
        {
            name: _mean_column([part.instance_scores.get(name, ConstantColumn(ABSENT, size)) for part in parts])
            for name in _names_in([part.instance_scores for part in parts])
        },
        SideBySide([part.predictions for part in parts]),
        shown := SideBySide([part.processed_predictions for part in parts]),
        first.processed_references,
        failures,
        {name: failure for part in reversed(parts) for name, failure in part.metric_failures.items()},
        [_mean_score([table[name] for table in tables if name in table]) for name in _names_in(tables)],
        first.main,
        members=first.members,
    )
    united.main = next((each for each in united.table if first.main and each.name == first.main.name), first.main)
    if any(part.failures.keys() != failures.keys() for part in parts):
        count_scored(united.scores, range(size), failures)
        for entry, places in zip(united.scores.get("groups", ()), united.members, strict=True):
            count_scored(entry, places, failures)
    columns = [main_column(part) for part in parts]
    if first.main is None or any(each is None for each in columns):
        return united
    known = [each for each in columns if each is not None]
    if not all(each.is_mean for each in known):
        return of_corpus(united, chosen)
    column = next((each for each in known if any(each.values)), known[0])  # zeros are the same in every unit
    rows = complete_rows([each.values for each in known])
    return reduced(united, Answers(first.main, column, rows, shown.all_at, chosen), size)


def _names_in(lists: Iterable[Iterable[str]]) -> list[str]:
    """Return the names that any repeat has, in the order in which they come: not all classes occur in each."""
    return list(dict.fromkeys(chain.from_iterable(lists)))


def _flat_of(views: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the flat view of the means of all repeats."""
    values = {name: [view[name] for view in views if name in view] for name in _names_in(views)}
    return {name: _groups(each) if name == "groups" else _mean_or_first(each) for name, each in values.items()}


def _groups(lists: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the scores of groups as means of all repeats, without the intervals of single ones."""
    found = []
    for groups in zip(*lists, strict=True):
        flat = _flat_of(groups)
        found.append({name: value for name, value in flat.items() if not name.endswith((LOW, HIGH))})
    return found


def _mean_or_first(values: Sequence[Any]) -> Any:
    """Return the mean of scores, and of anything else (texts, counts) what the first repeat has."""
    if not any(isinstance(each, float) for each in values):
        return values[0]
    numbers = [each for each in values if isinstance(each, int | float)]
    return sum(numbers) / len(numbers)


def _mean_score(scores: Sequence[Score]) -> Score:
    """Return the mean of a score over repeats, with the mean of its bounds: those of one repeat, never too narrow."""
    values = [score.value for score in scores if isinstance(score.value, int | float)]
    if len(values) < len(scores):
        return scores[0]
    value = sum(values) / len(values)
    if not math.isfinite(value):  # what is not known of one repeat is not known of all
        return replace(scores[0], value=value, low=None, high=None, stderr=None)
    lows, highs, errors = ([getattr(score, name) for score in scores] for name in ("low", "high", "stderr"))
    return replace(scores[0], value=value, low=_mean(lows), high=_mean(highs), stderr=_mean(errors))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _mean_column(columns: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the mean of each instance; where a repeat has no score of it, there is none of all."""
    return [_mean_or_missing(values) for values in zip(*columns, strict=False)]


def _mean_or_missing(values: Sequence[Any]) -> Any:
    others = [value for value in values if not isinstance(value, int | float)]
    return others[0] if others else math.fsum(values) / len(values)
