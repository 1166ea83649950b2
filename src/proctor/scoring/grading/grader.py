"""The grader: turns answers into scores, for runs of every dialect, for ``evaluate``, for groups of instances.

A dialect says how answers are read, what becomes of them and what scores them
(:mod:`~proctor.scoring.grading.protocols`), and builds an :class:`ExamGrader` of that, which is an exam's ``grader``::

    def read(answered):  # one thing to grade for each question
        return [Reading(answered.responses[0].text, answered.question.exchange.references, answered.question.instance)]

    filters = [text_function("regex", pattern="(-?[0-9]+)"), text_function("take_first")]
    metrics = [scorer("exact_match", ignore_case=True)]
    grader = ExamGrader([Grading("", read, filters, metrics)], TaskNames())
    Exam(name=…, grader=grader, …)

The answers are passed once, in blocks; what columns hold lies in a
:class:`~proctor.scoring.grading.column_store.Store`, so that memory does not grow with them
(:mod:`~proctor.scoring.grading.answer_columns`). Then every scorer measures the columns, and
:func:`~proctor.scoring.grading.composition.composed` makes a grade of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any, Final

from proctor.errors import Diagnostic, ScoringError
from proctor.ir import Failure
from proctor.ir.question import Answered, AnsweredBlocks
from proctor.scoring.columns import Columns
from proctor.scoring.flat_scores import Flat
from proctor.scoring.grades import Grade
from proctor.scoring.grading.answer_columns import Book, Sheet
from proctor.scoring.grading.column_store import Store, StoredColumn
from proctor.scoring.grading.composition import by_question, composed, measure
from proctor.scoring.grading.groups import GroupBy, Groupings
from proctor.scoring.grading.protocols import Grading, Mark, Read, Reading, ScoreNames
from proctor.scoring.judges.judge_client import remembering
from proctor.scoring.metric import failure_of
from proctor.scoring.scores import Score

BLOCK: Final = 256
"""Answers that are read and processed together: enough to make calls cheap, few enough to weigh nothing."""

Shown = Callable[[Sequence[Reading]], Any]


def raw_answer(readings: Sequence[Reading]) -> Any:
    """Return what is shown as the raw answer to a question: its one reading, or the list of them."""
    return readings[0].value if len(readings) == 1 else [reading.value for reading in readings]


@dataclass(frozen=True)
class ExamGrader:
    """Grades the answers of an exam.

    Attributes:
        gradings: The ways to read and score answers; most exams have one. The first one with a score gives the main
            score, and the predictions that samples show and votes are of.
        names: How scores are listed.
        group_by: By which fields instances are scored in groups, too.
        shown: What is shown as a question's raw answer.
    """

    gradings: Sequence[Grading]
    names: ScoreNames = field(default_factory=ScoreNames)
    group_by: GroupBy = field(default_factory=GroupBy)
    shown: Shown = raw_answer

    def check(self) -> Iterator[Diagnostic]:
        """Yield what is known to go wrong before anybody is asked."""
        for grading in self.gradings:
            for step in [grading.extract] if callable(grading.extract) else grading.extract:
                yield from _checked(step)
            for scorer in grading.scorers:
                yield from scorer.check()

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value, as far as its scorer says beforehand in which unit it is."""
        first = next((scorer for grading in self.gradings[:1] for scorer in grading.scorers), None)
        found: Score | None = getattr(first, "declared_main", None)
        return found

    def without_scorers(self) -> ExamGrader:
        """Return the grader that records predictions and scores nothing (``--predict-only``)."""
        bare = [replace(grading, scorers=()) for grading in self.gradings]
        return replace(self, gradings=bare, group_by=GroupBy())

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; reads ``answered`` once.

        Raises:
            ProctorError: What concerns all instances: a package is missing, an artifact cannot be had.
        """
        passed = self.begin()
        for block in blocks_of_answers(answered):
            passed.add(block)
        return passed.finish()

    def begin(self, store: Store | None = None) -> Passed:
        """Return what takes the answers block by block, where whoever grades has to read them himself.

        Args:
            store: Keeps the columns; by default one of its own. Several passes that share one keep equal values once.
        """
        return Passed(self, store)


def blocks_of_answers(answered: Iterable[Answered]) -> Iterator[Sequence[Answered]]:
    """Return answers some at a time."""
    return answered.blocks if isinstance(answered, AnsweredBlocks) else _cut(answered)


def _cut(answered: Iterable[Answered]) -> Iterator[Sequence[Answered]]:
    iterator = iter(answered)
    while block := list(islice(iterator, BLOCK)):
        yield block


def _checked(step: object) -> Iterator[Diagnostic]:
    check: Callable[[], Iterator[Diagnostic]] | None = getattr(step, "check", None)
    return iter(()) if check is None else check()


# -- the pass over the answers --------------------------------------------------------------------------------


class Passed:
    """What is kept of the answers that have passed.

    Args:
        grader: The exam's grader.
        store: Keeps the columns.
    """

    def __init__(self, grader: ExamGrader, store: Store | None = None) -> None:
        self._grader = grader
        store = Store() if store is None else store
        needs = frozenset(need for grading in grader.gradings for each in grading.scorers for need in each.needs)
        self._sheets = {grading.read: Sheet(store, needs) for grading in grader.gradings}
        self._books = [Book(grading, store, self._sheets[grading.read]) for grading in grader.gradings]
        self._shown = None if grader.shown is raw_answer else StoredColumn(store)
        self._failures: dict[int, Failure] = {}
        self._count = 0
        self.groupings = Groupings(grader.group_by)

    def add(self, block: Sequence[Answered]) -> None:
        """Read a block of answers."""
        reasons = [each.failure for each in block]
        for place, failure in enumerate(reasons):
            if failure is not None:
                self._failures[self._count + place] = failure
        for number, (read, sheet) in enumerate(self._sheets.items()):
            readings = [
                _read(read, each) if failure is None else _unread(each, failure)
                for each, failure in zip(block, reasons, strict=True)
            ]
            if self._shown is not None and not number:
                self._shown.extend(map(self._grader.shown, readings))
            questions = [each.question for each, found in zip(block, readings, strict=True) for _ in found]
            columns = sheet.add(block, readings, self._count)
            for book in self._books:
                if book.sheet is sheet:
                    book.add(columns, questions)
        if self.groupings:
            for each in block:
                self.groupings.add(each.question.instance, is_usable=each.question.failure is None)
        self._count += len(block)

    def finish(self) -> Grade:
        """Return the grade of everything that has passed, with the scores of its groups.

        Raises:
            ProctorError: As :meth:`ExamGrader.grade`.
        """
        if not self.groupings:
            return self._whole()
        with remembering():  # groups ask a judge nothing new
            grade = self._whole()
            grade.scores["groups"] = self.group_scores()
        grade.members = [positions for grouping, _ in self.groupings for _, positions in grouping]
        return grade

    def _whole(self) -> Grade:
        marks: list[Mark] = []
        parsed: dict[str, Sequence[Any] | None] = {}
        for book in self._books:
            book.finish()
            for place, failure in book.failures.items():
                self._failures.setdefault(book.sheet.owners[place], failure)
            own = measure(book.columns(), book.grading.scorers, book.grading.name)
            for mark in own[:1]:
                book.hear(mark.found.notes, range(len(book.sheet.owners)), 0, mark.found.unread)
            parsed[book.grading.name] = next((m.found.parsed for m in own if m.found.parsed is not None), None)
            marks += [by_question(mark, book.sheet.owners, self._count, one_each=book.sheet.one_each) for mark in own]
        grade = composed(marks, self._grader.names, self._count, self._failures)
        if self._books:
            first, of_main = self._books[0], self._book_of(grade.main)
            grade.predictions = first.sheet.answers(self._count) if self._shown is None else self._shown
            grade.processed_predictions = of_main.shown_predictions(parsed[of_main.grading.name], self._count)
            grade.processed_references = of_main.shown_references(self._count)
            grade.read_by = dict(of_main.read_by.most_common())
            grade.unread = frozenset(book.sheet.owners[place] for book in self._books for place in book.unread)
            grade.last_resorts = frozenset(of_main.sheet.owners[place] for place in of_main.last_resorts)
        return grade

    def _book_of(self, main: Score | None) -> Book:
        """Return the book of the grading that gives the main score; the last one where none does."""
        found = (book for book in self._books if main is not None and book.grading.name == main.grading)
        return next(found, self._books[-1])

    def parts(self) -> Iterator[tuple[Grading, Columns, list[list[int]]]]:
        """Yield each grading with what it scores, in memory, and the readings of each question."""
        for book in self._books:
            book.finish()
            readings: list[list[int]] = [[] for _ in range(self._count)]
            for reading, owner in enumerate(book.sheet.owners):
                readings[owner].append(reading)
            yield book.grading, _in_memory(book.columns()), readings

    def group_scores(self) -> list[Flat]:
        """Return the scores of the groups."""
        return [
            {"by": values, "n": len(positions), **self._graded(positions, leading).scores}
            for grouping, leading in self.groupings
            for values, positions in grouping
        ]

    def _graded(self, positions: Sequence[int], leading: int | None) -> Grade:
        """Return the grade of some questions."""
        place = {position: number for number, position in enumerate(positions)}
        failures = {place[each]: failure for each, failure in self._failures.items() if each in place}
        marks: list[Mark] = []
        for book in self._books:
            chosen = book.sheet.readings_of(place)
            owners = [place[book.sheet.owners[each]] for each in chosen]
            scorers = book.grading.scorers[:leading]
            for mark in measure(book.columns().select(chosen), scorers, book.grading.name, instances=False):
                own = {owners[each]: failure for each, failure in sorted(mark.found.failures.items())}
                marks.append(mark._replace(found=replace(mark.found, failures=own)))
        return composed(marks, self._grader.names, len(positions), failures)


def graded_books(grader: ExamGrader, answered: Iterable[Answered]) -> list[tuple[Grading, Columns, list[list[int]]]]:
    """Read answers and return what each grading scores, in memory, with the readings of each question."""
    passed = replace(grader, group_by=GroupBy()).begin()
    for block in blocks_of_answers(answered):
        passed.add(block)
    return list(passed.parts())


def _in_memory(columns: Columns) -> Columns:
    return Columns(*(list(getattr(columns, each.name)) for each in fields(Columns)))


def _read(read: Read, answered: Answered) -> Sequence[Reading]:
    try:
        return read(answered)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this answer cannot be read, the rest count
        return _unread(answered, failure_of(error, "reading"))


def _unread(answered: Answered, failure: Failure) -> Sequence[Reading]:
    question = answered.question
    return (Reading(failure, question.exchange.references, question.instance, question.exchange.source),)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one grading scores.

    Attributes:
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
