"""Questions that were asked, kept in a temporary file until they are graded.

Putting a row in words costs more than anything else that a run does with it, and asking and grading both need the
words. So whoever asks writes down what grading reads: a :class:`QuestionSpool` takes the questions of all exams of a
run, a block at a time, and gives them back equal. It holds nothing that could not be had again: an exam that it does
not hold to the end (a budget stopped the run, a row has a picture, the file has grown too large) is put in words anew.

What a prompt's parts are (:attr:`~proctor.ir.Prompt.turns`) is not kept: engines and people look at it, graders do not.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from operator import is_
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import IO, Any, Final, Self, TypeAlias

from msgspec import structs

from proctor.ir import (
    Choose,
    Converse,
    Decoding,
    Exchange,
    Failure,
    Generate,
    Likelihood,
    Media,
    Pair,
    Prompt,
    Request,
    Rolling,
    Span,
    Turn,
)
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.running.log import Key
from proctor.running.plan import Block, Wanted
from proctor.scoring.grading.column_store import are_plain

MOST_BYTES: Final = 1 << 30
"""Bytes of the file: a million short questions have half of it, and temporary folders may be small."""

MOST_IN_MEMORY: Final = 16 << 20
"""Bytes before there is a file at all: small runs touch no disk."""

MOST_SHARED: Final = 1_000
"""Distinct decodings and lists of processors: exams have one or a few; where each row has its own, nothing is saved."""

_VERSION: Final = 2
"""Of :mod:`marshal`: later ones look for values that occur twice, which takes longer than to write them twice."""

_TEXT: Final = frozenset({str})
_ROLES: Final = frozenset({str, type(None)})

_ONE: Final = frozenset({1})
_GENERATE: Final = frozenset({Generate})
_SPAN: Final = frozenset({Span})
_DICT: Final = frozenset({dict})

_Packed: TypeAlias = tuple[Any, ...]
"""Columns that are nearly always of one form (a request to write, a turn of one span) are flat lists then."""


class QuestionSpool:
    """Keeps the questions of a run. A ``with`` block deletes the file at its end."""

    def __init__(self) -> None:
        self._file: IO[bytes] = SpooledTemporaryFile(MOST_IN_MEMORY, prefix="proctor-")  # noqa: SIM115 - until the run ends
        self._end = 0
        self._held: dict[int, Recording] = {}
        self.shared = _Shared()

    def record(self, exam: Exam) -> Recording:
        """Return what takes the questions of an exam, in order; until it is finished, the spool does not hold them."""
        return Recording(self, exam)

    def hold(self, recording: Recording) -> None:
        """Hold what was recorded."""
        self._held[id(recording.exam)] = recording  # the recording keeps the exam, so its id stays its own

    def blocks(self, exam: Exam) -> Iterator[Block] | None:
        """Return the questions of an exam as they were recorded; ``None`` where the spool does not hold them."""
        recording = self._held.get(id(exam))
        return None if recording is None else self._read(recording.places)

    def _read(self, places: Sequence[tuple[int, int]]) -> Iterator[Block]:
        for start, length in places:
            self._file.seek(start)
            packed, keys = marshal.loads(self._file.read(length))  # noqa: S302 - our own bytes, which nobody else can write
            questions = self.shared.unpacked(packed)
            yield questions, _asked(questions, keys)

    def write(self, data: bytes) -> tuple[int, int] | None:
        """Add bytes and return their place; ``None`` where there is no room for them."""
        start = self._end
        if start + len(data) > MOST_BYTES:
            return None
        try:
            self._file.seek(start)
            self._file.write(data)
        except OSError:  # a full disk: rows are put in words twice then
            return None
        self._end += len(data)
        return start, len(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.clear()
        self._file.close()


class Recording:
    """The questions of one exam on their way into a spool.

    Attributes:
        exam: The exam.
        places: Start and length of each block.
    """

    def __init__(self, spool: QuestionSpool, exam: Exam) -> None:
        self.exam = exam
        self.places: list[tuple[int, int]] = []
        self._spool = spool
        self._fits = True

    def add(self, questions: Sequence[Question], asked: Sequence[Sequence[Wanted]]) -> None:
        """Add questions with their requests."""
        if not self._fits:
            return
        try:
            packed = self._spool.shared.packed(questions)
        except (_UnfitError, RecursionError):
            self._fits = False
            return
        place = self._spool.write(marshal.dumps((packed, _packed_keys(asked)), _VERSION))
        if place is None:
            self._fits = False
        else:
            self.places.append(place)

    def finish(self) -> None:
        """Hand the questions to the spool: these were all."""
        if self._fits:
            self._spool.hold(self)


def _packed_keys(asked: Sequence[Sequence[Wanted]]) -> _Packed:
    """Return the keys of requests; where each question has one request, as two columns."""
    if _ONE.issuperset(map(len, asked)):
        return "one", [each[0].key.request for each in asked], [each[0].key.repeat for each in asked]
    return "any", [[tuple(entry.key) for entry in own] for own in asked], None


def _asked(questions: Sequence[Question], packed: _Packed) -> list[list[Wanted]]:
    form, keys, repeats = packed
    if form == "one":
        each = zip(questions, keys, repeats, strict=True)
        return [[Wanted(question.requests[0], Key(key, repeat))] for question, key, repeat in each]
    return [
        [Wanted(request, Key(*key)) for request, key in zip(question.requests, own, strict=True)]
        for question, own in zip(questions, keys, strict=True)
    ]


class _UnfitError(Exception):
    """A question holds something that cannot be written down."""


class _Shared:
    """Questions as columns of plain values; what many of them share is kept here, and has a number in them."""

    def __init__(self) -> None:
        self._values: list[Any] = []
        self._numbers: dict[int, int] = {}

    def _number(self, value: object) -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = len(self._values)
            if number >= MOST_SHARED:
                raise _UnfitError
            self._values.append(value)  # what is kept here keeps its id
            self._numbers[id(value)] = number
        return number

    def packed(self, questions: Sequence[Question]) -> _Packed:
        """Return questions as columns of plain values; raise :class:`_UnfitError` where one has others."""
        exchanges = [each.exchange for each in questions]
        turns = (
            _packed_turns([each.question for each in exchanges]),
            _packed_turns([each.opening for each in exchanges]),
        )
        scalars = (
            [each.number for each in questions],
            [each.answer_prefix for each in exchanges],
            [each.answer for each in exchanges],
            [each.gold for each in exchanges],
        )
        rows = _packed_rows([each.instance for each in questions])
        nested = (
            [each.references for each in exchanges],
            [each.choices for each in exchanges],
            [each.labels for each in questions],
        )
        requests = self._packed_requests([each.requests for each in questions])
        plain = are_plain(chain(*scalars)) and are_plain(chain(*nested, requests[1], _values_of(rows)))
        if not (plain and all(map(_are_texts, turns))):
            raise _UnfitError
        own = (
            [self._number(each.processors) for each in questions],
            [None if each.failure is None else structs.astuple(each.failure) for each in questions],
            [each.digest for each in questions],
        )
        return turns, requests, rows, (*scalars, *nested, *own)

    def unpacked(self, packed: _Packed) -> list[Question]:
        (asked, opening), requests, rows, rest = packed
        values = self._values
        columns = zip(_turns(asked), _turns(opening), self._requests(requests), _rows(rows), *rest, strict=True)
        return [
            Question(
                number,
                instance,
                Exchange(turns, opened, prefix, answer, references, choices, gold),
                own,
                values[processors],
                labels,
                None if failure is None else Failure(*failure),
                digest,
            )
            for (
                turns,
                opened,
                own,
                instance,
                number,
                prefix,
                answer,
                gold,
                references,
                choices,
                labels,
                processors,
                failure,
                digest,
            ) in columns
        ]

    def _packed_requests(self, requests: Sequence[tuple[Request, ...]]) -> _Packed:
        every = list(chain.from_iterable(requests))
        if _ONE.issuperset(map(len, requests)) and _GENERATE.issuperset(map(type, every)):
            return "one", [each.prompt.payload for each in every], [self._number(each.decoding) for each in every]  # type: ignore[union-attr]
        return "any", [list(map(self._packed_request, own)) for own in requests], None

    def _requests(self, packed: _Packed) -> list[tuple[Request, ...]]:
        form, parts, numbers = packed
        if form == "one":
            values = self._values
            return [(Generate(Prompt(each), values[number]),) for each, number in zip(parts, numbers, strict=True)]
        return [tuple([self._unpacked_request(each) for each in own]) for own in parts]

    def _packed_request(self, request: Request) -> _Packed:
        match request:
            case Generate():
                packed: _Packed = "generate", request.prompt.payload, self._number(request.decoding)
            case Choose():
                packed = "choose", [(pair.context.payload, pair.continuation) for pair in request.pairs]
            case Likelihood():
                packed = "likelihood", request.context.payload, request.continuation
            case Rolling():
                packed = "rolling", request.text, request.from_start, request.messages
            case Converse():
                packed = "converse", request.turns, self._number(request.decoding)
        return packed

    def _unpacked_request(self, packed: _Packed) -> Request:
        match packed:
            case ("generate", payload, number):
                return Generate(Prompt(payload), self._decoding(number))
            case ("choose", pairs):
                return Choose(tuple(Pair(Prompt(context), words) for context, words in pairs))
            case ("likelihood", payload, words):
                return Likelihood(Prompt(payload), words)
            case ("rolling", text, from_start, messages):
                return Rolling(text, from_start, tuple(messages))
            case (_, turns, number):
                return Converse(turns, self._decoding(number))
        raise ValueError(packed)

    def _decoding(self, number: int) -> Decoding:
        value: Decoding = self._values[number]
        return value


def _packed_rows(rows: Sequence[Any]) -> _Packed:
    """Return dicts as columns, where all have the same names; a value that they share (the very object) once."""
    names = tuple(rows[0]) if rows and type(rows[0]) is dict else ()
    alike = names and _DICT.issuperset(map(type, rows)) and _TEXT.issuperset(map(type, names))
    if not alike or {names} != set(map(tuple, rows)):
        return "any", rows, None
    columns = zip(*map(dict.values, rows), strict=True)
    return "one", names, [_packed_values(values) for values in columns]


def _packed_values(values: tuple[Any, ...]) -> _Packed:
    if all(map(is_, values, repeat(values[0]))):
        return "same", values[:1], len(values)
    return _packed_rows(values) if type(values[0]) is dict else ("any", values, None)


def _values_of(packed: _Packed) -> Iterator[Any]:
    """Yield what packed rows consist of, names included."""
    form, values, columns = packed
    yield from values
    if form == "one":
        yield from chain.from_iterable(map(_values_of, columns))


def _rows(packed: _Packed) -> Sequence[Any]:
    form, values, more = packed
    if form == "one":
        return [dict(zip(values, each, strict=True)) for each in zip(*map(_rows, more), strict=True)]
    found: Sequence[Any] = values if form == "any" else values * more
    return found


def _packed_turns(turns: Sequence[tuple[Turn, ...]]) -> _Packed:
    """Return the turns of questions; where each has one of one span, as columns."""
    every = list(chain.from_iterable(turns))
    parts = list(chain.from_iterable([each.parts for each in every]))
    one_each = _ONE.issuperset(map(len, turns)) and _ONE.issuperset([len(each.parts) for each in every])
    if one_each and _SPAN.issuperset(map(type, parts)):
        spans = [each.text for each in parts], [each.origin for each in parts]  # type: ignore[union-attr]
        return "one", [each.role for each in every], [each.fallback_role for each in every], *spans
    return "any", [list(map(_packed_turn, own)) for own in turns], None, None, None


def _packed_turn(turn: Turn) -> _Packed:
    return turn.role, list(map(structs.astuple, turn.parts)), turn.fallback_role


def _are_texts(packed: _Packed) -> bool:
    """Whether what packed turns consist of are texts, and not something derived from them."""
    form, turns, fallbacks, texts, origins = packed
    if form == "one":
        return _TEXT.issuperset(map(type, chain(turns, texts, origins))) and _ROLES.issuperset(map(type, fallbacks))
    found = list(chain.from_iterable(turns))
    words = chain.from_iterable(chain.from_iterable([parts for _, parts, _ in found]))
    roles = chain.from_iterable([(role, fallback) for role, _, fallback in found])
    return _TEXT.issuperset(map(type, words)) and _ROLES.issuperset(map(type, roles))


def _turns(packed: _Packed) -> list[tuple[Turn, ...]]:
    form, turns, *columns = packed
    if form == "one":
        each = zip(turns, *columns, strict=True)
        return [(Turn(role, (Span(text, origin),), fallback),) for role, fallback, text, origin in each]
    return [tuple([_unpacked_turn(*turn) for turn in own]) for own in turns]


def _unpacked_turn(role: str, parts: Sequence[_Packed], fallback: str | None) -> Turn:
    spans = [Span(*each) if len(each) == 2 else Media(*each) for each in parts]  # noqa: PLR2004
    return Turn(role, tuple(spans), fallback)
