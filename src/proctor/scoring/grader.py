"""The grader: turns answers into scores, for runs of every dialect, for ``evaluate``, for groups of instances.

A dialect says how answers are read, what becomes of them and what scores them (:mod:`~proctor.scoring.grading`), and
builds an :class:`ExamGrader` of that, which is an exam's ``grader``::

    def read(answered):  # one thing to grade for each question
        return [Reading(answered.responses[0].text, answered.question.exchange.references, answered.question.instance)]

    filters = [text_function("regex", pattern="(-?[0-9]+)"), text_function("take_first")]
    metrics = [scorer("exact_match", ignore_case=True)]
    grader = ExamGrader([Grading("", read, filters, metrics)], TaskNames())
    Exam(name=…, grader=grader, …)

The answers are passed once, in blocks; what columns hold lies in a :class:`~proctor.scoring.stored.Store`, so that
memory does not grow with them. Then every scorer measures the columns, and :func:`composed` makes a grade of that.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, islice
from typing import Any, Final

from proctor.errors import Diagnostic, ProctorError
from proctor.ir import Failure
from proctor.ir.question import Answered, AnsweredBlocks, Question
from proctor.scoring.flat import Flat
from proctor.scoring.grade import Columns, Grade, Measured
from proctor.scoring.grading import (
    Counts,
    Extract,
    Grading,
    Mark,
    Need,
    Read,
    Reading,
    ScoreNames,
    Scorer,
    Step,
    as_step,
)
from proctor.scoring.groupings import GroupBy, Groupings
from proctor.scoring.judges.judge_client import remembering
from proctor.scoring.metric import failure_of
from proctor.scoring.score import Score
from proctor.scoring.stored import Store, StoredColumn

BLOCK: Final = 256
"""Answers that are read and processed together: enough to make calls cheap, few enough to weigh nothing."""

_ONE: Final = frozenset({1})

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
        self._sheets = {grading.read: _Sheet(store, needs) for grading in grader.gradings}
        self._books = [_Book(grading, store, self._sheets[grading.read]) for grading in grader.gradings]
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
            parsed[book.grading.name] = next((m.found.parsed for m in own if m.found.parsed is not None), None)
            marks += [_owned(mark, book.sheet, self._count) for mark in own]
        grade = composed(marks, self._grader.names, self._count, self._failures)
        if self._books:
            first, of_main = self._books[0], self._book_of(grade.main)
            grade.predictions = first.sheet.answers(self._count) if self._shown is None else self._shown
            grade.processed_predictions = of_main.shown_predictions(parsed[of_main.grading.name], self._count)
            grade.processed_references = of_main.shown_references(self._count)
        return grade

    def _book_of(self, main: Score | None) -> _Book:
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


class _Sheet:
    """The readings of all answers: what gradings that read in the same way share.

    Attributes:
        raw: What was answered, one entry for each reading.
        owners: Position of the question that each reading belongs to.
        one_each: Whether every question has exactly one reading.
    """

    def __init__(self, store: Store, needs: frozenset[Need]) -> None:
        self.raw = StoredColumn(store)
        self.owners = array("q")
        self.one_each = True
        self._fields = StoredColumn(store) if needs & {"fields", "rows"} else None
        self._prompts = StoredColumn(store) if "prompts" in needs else None
        self._responses = StoredColumn(store) if "responses" in needs else None
        self._rows = "rows" in needs

    def add(self, block: Sequence[Answered], readings: Sequence[Sequence[Reading]], first: int) -> Columns:
        """File the readings of a block, whose first question is at ``first``, and return them as columns."""
        flat = list(chain.from_iterable(readings))
        values = [reading.value for reading in flat]
        fields = [reading.fields for reading in flat]
        self.raw.extend(values)
        if _ONE.issuperset(map(len, readings)):
            self.owners.extend(range(first, first + len(readings)))
        else:
            self.owners.extend(first + place for place, found in enumerate(readings) for _ in found)
            self.one_each = False
        if self._fields is not None:
            self._fields.extend(fields)
        if self._prompts is not None:
            self._prompts.extend(reading.prompt for reading in flat)
        if self._responses is not None:
            self._responses.extend(each.responses for each, found in zip(block, readings, strict=True) for _ in found)
        return Columns(values, [reading.references for reading in flat], fields)

    def readings_of(self, positions: Container[int]) -> list[int]:
        """Return the positions of the readings of some questions."""
        return [place for place, owner in enumerate(self.owners) if owner in positions]

    def answers(self, count: int) -> Sequence[Any]:
        """Return the raw answer to each question: its reading, or the list of its readings."""
        if self.one_each:
            return self.raw
        found: list[list[Any]] = [[] for _ in range(count)]
        for owner, value in zip(self.owners, self.raw, strict=True):
            found[owner].append(value)
        return [values[0] if len(values) == 1 else values for values in found]

    def columns(self, predictions: Sequence[Any], references: Sequence[Any]) -> Columns:
        """Return columns for scorers."""
        fields = () if self._fields is None else self._fields
        return Columns(
            predictions,
            references,
            fields,
            () if self._responses is None else self._responses,
            rows=fields if self._rows else (),
            prompts=() if self._prompts is None else self._prompts,
            raw=self.raw,
        )


class _Book:
    """The predictions and references of one grading.

    Attributes:
        grading: The grading.
        sheet: Its readings.
        failures: Readings that a step could not process.
    """

    def __init__(self, grading: Grading, store: Store, sheet: _Sheet) -> None:
        self.grading = grading
        self.sheet = sheet
        self.failures: dict[int, Failure] = {}
        self._store = store
        self._predictions = StoredColumn(store)
        self._references = StoredColumn(store)
        self._steps = _Steps(grading)
        self._later: dict[tuple[int, ...], _Later] = {}

    def add(self, columns: Columns, questions: Sequence[Question]) -> None:
        """Process a block of readings, as far as that can be done before all are there."""
        first = len(self._predictions)
        predictions, references = list(columns.predictions), list(columns.references)
        for steps, positions in self._steps.of(questions):
            part, rest = _processed(columns.select(positions), steps)
            if len(positions) == len(predictions) == len(part.predictions) == len(part.references):  # all, in order
                predictions, references = list(part.predictions), list(part.references)
            else:
                for position, prediction, reference in zip(positions, part.predictions, part.references, strict=True):
                    predictions[position], references[position] = prediction, reference
            if rest:
                later = self._later.setdefault(tuple(map(id, rest)), _Later(rest, self._store))
                later.add(positions, first, columns.task_data)
        if Failure in {*map(type, predictions), *map(type, references)}:
            for place, pair in enumerate(zip(predictions, references, strict=True), start=first):
                self._note(place, *pair)
        self._predictions.extend_from(self.sheet.raw, columns.predictions, predictions)
        self._references.extend(references)

    def _note(self, place: int, prediction: Any, references: Any) -> None:
        for value in (prediction, references):
            if isinstance(value, Failure):
                self.failures.setdefault(place, value)

    def finish(self) -> None:
        """Take the steps that must see everything at once."""
        for later in self._later.values():
            places = later.positions
            columns = Columns(self._predictions.at(places), self._references.at(places), later.fields)
            for step in later.steps:
                columns = _stepped(step, columns)
            for place, *pair in zip(places, columns.predictions, columns.references, strict=True):
                self._note(place, *pair)
                self._predictions.replace(place, pair[0])
                self._references.replace(place, pair[1])
        self._later.clear()

    def columns(self) -> Columns:
        """Return what is scored."""
        return self.sheet.columns(self._predictions, self._references)

    def shown_predictions(self, parsed: Sequence[Any] | None, count: int) -> Sequence[Any]:
        """Return one prediction for each question: of several readings the last one's."""
        found = self._predictions if parsed is None or len(parsed) != len(self._predictions) else parsed
        if self.sheet.one_each:
            return found
        shown: list[Any] = [None] * count
        for owner, prediction in zip(self.sheet.owners, found, strict=True):
            shown[owner] = prediction
        return shown

    def shown_references(self, count: int) -> Sequence[Any]:
        """Return the references of each question; of several readings, those of each."""
        if self.sheet.one_each:
            return _Listed(self._references)
        shown: list[list[Any]] = [[] for _ in range(count)]
        for owner, references in zip(self.sheet.owners, self._references, strict=True):
            shown[owner].append(references)
        return [_listed(each[0]) if len(each) == 1 else each for each in shown]


class _Later:
    """Readings that wait for steps which must see all of them."""

    def __init__(self, steps: Sequence[Step], store: Store) -> None:
        self.steps = steps
        self.positions = array("q")
        self.fields = StoredColumn(store)

    def add(self, positions: Sequence[int], first: int, fields: Sequence[Any]) -> None:
        """File some readings of a block that begins at ``first``."""
        self.positions.extend(first + position for position in positions)
        self.fields.extend(fields[position] for position in positions)


class _Steps:
    """The steps of each question; nearly always they are the same for all."""

    def __init__(self, grading: Grading) -> None:
        extract = grading.extract
        self._of = extract if callable(extract) else None
        self._fixed = () if callable(extract) else tuple(map(as_step, extract))
        self._known: dict[int, tuple[Extract, tuple[Step, ...]]] = {}

    def of(self, questions: Sequence[Question]) -> list[tuple[tuple[Step, ...], Sequence[int]]]:
        """Return the distinct lists of steps, each with the places that have it."""
        if self._of is None:
            return [(self._fixed, range(len(questions)))]
        found: dict[int, tuple[tuple[Step, ...], list[int]]] = {}
        for place, question in enumerate(questions):
            extract = self._of(question)
            if id(extract) not in self._known:  # what is kept here keeps its id
                self._known[id(extract)] = (extract, tuple(map(as_step, extract)))
            found.setdefault(id(extract), (self._known[id(extract)][1], []))[1].append(place)
        return [(steps, range(len(places)) if len(found) == 1 else places) for steps, places in found.values()]


def _processed(columns: Columns, steps: Sequence[Step]) -> tuple[Columns, Sequence[Step]]:
    """Return columns after the steps that need not see everything, and the steps that are left."""
    for number, step in enumerate(steps):
        if step.scope == "column":
            return columns, steps[number:]
        columns = _stepped(step, columns)
    return columns, ()


def _stepped(step: Step, columns: Columns) -> Columns:
    """Return columns after a step; where it stumbles, each entry is tried alone, and a failure stands for one."""
    try:
        return step.process(columns)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value; one by one shows whose it is
        failure_of(error)
    predictions: list[Any] = []
    references: list[Any] = []
    for place in range(len(columns)):
        one = columns.select([place])
        try:
            one = step.process(one)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this answer fails, the rest count
            one = replace(one, predictions=[failure_of(error, f"processor {step.name}")])
        predictions += one.predictions
        references += one.references
    return replace(columns, predictions=predictions, references=references)


class _Listed(Sequence[Any]):
    """References as lists, where a dialect has bare ones."""

    def __init__(self, column: Sequence[Any]) -> None:
        self._column = column

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [_listed(each) for each in self._column[index]]
        return _listed(self._column[index])

    def __iter__(self) -> Iterator[Any]:
        return map(_listed, self._column)

    def __len__(self) -> int:
        return len(self._column)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _listed(references: Any) -> Any:
    if references is None:
        return []
    return references if isinstance(references, (list, tuple, Failure)) else [references]


# -- scores ---------------------------------------------------------------------------------------------------


def measure(
    columns: Columns,
    scorers: Sequence[Scorer],
    grading: str = "",
    *,
    intervals: bool = True,
    instances: bool = True,
) -> list[Mark]:
    """Return what scorers measure, under the name of their grading.

    Raises:
        ProctorError: What concerns all instances; what concerns one scorer is a failure in what it measured.
    """
    return [
        Mark(grading, scorer.name, _measured(scorer, columns, intervals=intervals, instances=instances))
        for scorer in scorers
    ]


def _measured(scorer: Scorer, columns: Columns, *, intervals: bool, instances: bool) -> Measured:
    try:
        return scorer.measure(columns, intervals=intervals, instances=instances)
    except OSError as error:
        return Measured(failure=Failure("metric", f"{type(error).__name__}: {error}", retryable=False))
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this scorer fails, others count
        failure = failure_of(error)
        if isinstance(error, ProctorError):
            failure = Failure("scoring", str(error), retryable=False)
        return Measured(failure=failure)


def _owned(mark: Mark, sheet: _Sheet, count: int) -> Mark:
    """Return a mark whose columns have one entry for each question instead of each reading."""
    if sheet.one_each:
        return mark
    found = mark.found
    columns: dict[str, Sequence[Any]] = {
        name: _means(column, sheet.owners, count) for name, column in found.instances.items()
    }
    failures: dict[int, Failure] = {}
    for place, failure in sorted(found.failures.items()):
        failures.setdefault(sheet.owners[place], failure)
    return mark._replace(found=replace(found, instances=columns, failures=failures))


def _means(column: Sequence[Any], owners: Sequence[int], total: int) -> list[Any]:
    """Return the mean of each question's entries; ``None`` where it has none."""
    sums: list[list[float]] = [[] for _ in range(total)]
    for owner, value in zip(owners, column, strict=True):
        if value is not None:
            sums[owner].append(float(value))
    return [sum(values) / len(values) if values else None for values in sums]


def composed(marks: Sequence[Mark], names: ScoreNames, asked: int, failures: dict[int, Failure] | None = None) -> Grade:
    """Return one grade of what scorers measured.

    Args:
        marks: What was measured; the first main score is the grade's.
        names: How scores are listed.
        asked: How many instances there are.
        failures: Instances that failed before anything was scored.
    """
    grade = Grade({}, failures=dict(failures or {}))
    table: dict[str, Score] = {}
    for mark in marks:
        for score in _scores_of(mark, names):
            table.setdefault(score.name, score)
            if grade.main is None and score.name == names.key(mark.found.main, mark.grading):
                grade.main = score
        for place, failure in mark.found.failures.items():
            grade.failures.setdefault(place, failure)
    for mark in names.order(marks):
        grade.instance_scores.update(
            {names.key(name, mark.grading): column for name, column in mark.found.instances.items()}
        )
        if mark.found.failure is not None:
            grade.metric_failures[names.key(mark.scorer, mark.grading)] = mark.found.failure
        for name, failure in mark.found.broken.items():
            grade.metric_failures[names.key(name, mark.grading)] = failure
    grade.table = list(table.values())
    grade.scores = names.flat(marks, grade.table, grade.main, Counts(asked, len(grade.failures)))
    return grade


def _scores_of(mark: Mark, names: ScoreNames) -> Iterator[Score]:
    for score in mark.found.scores:
        yield replace(score, name=names.key(score.name, mark.grading), grading=mark.grading or score.grading)
