"""Several answers to each question, graded side by side: each repeat by itself, and all of them in one pass.

Answers come question by question, with those of all repeats. The core's grader takes them as they come and keeps what
it needs in a store that all repeats share, so that memory does not grow with the answers. A grader that reads its
answers itself (a Python class of lm-eval's, which filters all of them at once and keeps them) is given one repeat after
another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from msgspec import structs

from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.recipes.exam_parts import Grader
from proctor.scoring.grades import Grade
from proctor.scoring.grading.column_store import Store
from proctor.scoring.grading.grader import ExamGrader, blocks_of_answers


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


class SideBySide(Sequence[Any]):
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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _together(values: Sequence[Any]) -> Any:
    return values[0] if isinstance(values[0], Failure) else list(values)
