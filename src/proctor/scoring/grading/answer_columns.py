"""Columns kept of passing answers: readings that gradings share, predictions and references of each grading.

A :class:`Sheet` has the readings of all answers that were read in one way. A :class:`Book` has what the steps of one
grading made of them: steps that need not see everything run block by block, the others when all answers have passed.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from proctor.ir import Failure
from proctor.ir.question import Answered, Question
from proctor.scoring.columns import Columns
from proctor.scoring.grading.column_store import Store, StoredColumn
from proctor.scoring.grading.protocols import Extract, Grading, Need, Reading, Step, as_step
from proctor.scoring.metric import failure_of
from proctor.scoring.text.how_read import Note, among, hearing

_ONE: Final = frozenset({1})


class Sheet:
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


class Book:
    """The predictions and references of one grading.

    Attributes:
        sheet: Its readings.
        failures: Readings that a step could not process.
        read_by: How many were read by what.
        last_resorts: Those that hang on a last resort.
        unread: Those of which a judge gave no verdict.
    """

    def __init__(self, grading: Grading, store: Store, sheet: Sheet) -> None:
        self.grading = grading
        self.sheet = sheet
        self.failures: dict[int, Failure] = {}
        self._store = store
        self._predictions = StoredColumn(store)
        self._references = StoredColumn(store)
        self.read_by: Counter[str] = Counter()
        self.last_resorts: set[int] = set()
        self.unread: set[int] = set()
        self._steps = _Steps(grading)
        self._later: dict[tuple[int, ...], _Later] = {}

    def add(self, columns: Columns, questions: Sequence[Question]) -> None:
        """Process a block of readings, as far as that can be done before all are there."""
        first = len(self._predictions)
        predictions, references = list(columns.predictions), list(columns.references)
        for steps, positions in self._steps.of(questions):
            with hearing() as heard:
                part, rest = _processed(columns.select(positions), steps)
            self.hear(heard.notes, positions, first, heard.unread)
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
            with hearing() as heard:
                for step in later.steps:
                    columns = _stepped(step, columns)
            self.hear(heard.notes, places, 0, heard.unread)
            for place, *pair in zip(places, columns.predictions, columns.references, strict=True):
                self._note(place, *pair)
                self._predictions.replace(place, pair[0])
                self._references.replace(place, pair[1])
        self._later.clear()

    def hear(
        self, notes: Mapping[int, Note], places: Sequence[int], first: int = 0, unread: Collection[int] = ()
    ) -> None:
        """File how answers were read, those that hang on a last resort, and those without a verdict."""
        self.unread.update(first + places[place] for place in unread)
        for place, note in notes.items():
            self.read_by[note.by] += 1
            if note.is_last_resort:
                self.last_resorts.add(first + places[place])

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
            with among([place]):
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
