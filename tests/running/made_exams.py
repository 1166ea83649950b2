"""An exam made of questions and a function that grades: for tests of whatever runs exams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.errors import Diagnostic
from proctor.ir.question import Answered, Ask, Question
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.honours import Honoured
from proctor.recipes.options import OPTIONS
from proctor.recipes.selection import Opened, Row, Selection
from proctor.scoring.grades import Grade

if TYPE_CHECKING:
    from proctor.data.streams import MultiStream

Questions = Callable[[], Iterable[Question]]


def made_exam(
    name: str,
    questions: Questions,
    grade: Callable[[Iterable[Answered]], Grade],
    *,
    kinds: frozenset[Kind] = frozenset({"generate"}),
    description: str = "an exam made for a test",
    source: Mapping[str, Any] | None = None,
) -> Exam:
    """Return an exam that asks what a function says.

    Args:
        name: The name under which results are filed.
        questions: Returns the questions; it is called for every pass over them, and gives equal ones each time.
        grade: Turns answers into scores.
        kinds: What is asked of a model.
        description: One line on what the exam is.
        source: What ``run.yaml`` says of it; by default its name.
    """
    return Exam(
        name=name,
        description=description,
        dialect="test",
        source=source if source is not None else {"name": name},
        rows=_Rows(questions),
        asker=_Asker(kinds),
        grader=_Grader(grade),
        honours=dict.fromkeys(OPTIONS, Honoured()),
    )


@dataclass(frozen=True, slots=True)
class _Again:
    """Rows that hold the questions themselves."""

    questions: Questions

    def __iter__(self) -> Iterator[Row]:
        return ({"question": each} for each in self.questions())


@dataclass(frozen=True, slots=True)
class _Rows:
    questions: Questions

    def open(self, selection: Selection) -> Opened:
        del selection
        return Opened(_Again(self.questions), lambda: sum(1 for _ in self.questions()))

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        return iter(())


@dataclass(frozen=True, slots=True)
class _Asker:
    kinds: frozenset[Kind]

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        del opened, context
        return lambda ask, row, demos: row["question"]


@dataclass(frozen=True, slots=True)
class _Grader:
    turn_into_scores: Callable[[Iterable[Answered]], Grade]

    def check(self) -> Iterator[Diagnostic]:
        return iter(())

    def grade(self, answered: Iterable[Answered]) -> Grade:
        return self.turn_into_scores(answered)
