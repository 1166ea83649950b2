"""The reading of answers: which pattern found what counts, and what another reading of the same answers finds.

A text function that looks for something in an answer hands over what its pattern finds (:func:`taken`), and what it
falls back on where none finds anything (:func:`or_else`). Whoever grades under :func:`reading_as` gets another of the
matches; whoever grades under :func:`hearing` is told where each prediction came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeVar, get_args

T = TypeVar("T")

Way = Literal["first", "last", "strict"]
"""Which of the matches of the pattern that finds something counts: the first, the last, or only one that all others
equal. ``strict`` takes no last resort."""

WAYS: Final[tuple[Way, ...]] = get_args(Way)


class Note(NamedTuple):
    """Where a prediction came from.

    Attributes:
        by: What found it.
        is_last_resort: Whether it was taken because what states an answer was not there.
    """

    by: str
    is_last_resort: bool = False


@dataclass(slots=True)
class Hearing:
    """Notes on answers, by their places among those that are read together.

    Attributes:
        notes: What was said; of answers that are read in several steps the latest, and a last resort stays one.
        unread: Answers of which a judge said something that is not a verdict.
    """

    notes: dict[int, Note] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    _places: Sequence[int] | None = None
    _place: int = 0
    _is_alone: bool = False

    def each(self, values: Iterable[T]) -> Iterator[T]:
        """Yield values, and know which one is being read."""
        for place, value in enumerate(values):
            if not self._is_alone:
                self._place = place if self._places is None else self._places[place]
            yield value

    def note(self, by: str, *, is_last_resort: bool) -> None:
        """File where the prediction of the answer that is being read came from."""
        before = self.notes.get(self._place)
        if before is None or is_last_resort or not before.is_last_resort:
            self.notes[self._place] = Note(by, is_last_resort)

    def no_verdict(self) -> None:
        """File that what a judge said of the answer that is being read is not a verdict."""
        self.unread.add(self._place)

    def among(self, places: Sequence[int]) -> AbstractContextManager[None]:
        """Let the answers that are read meanwhile be those at some places."""
        outer = self._places
        return self._within(places if outer is None or self._is_alone else [outer[place] for place in places])

    def alone(self) -> AbstractContextManager[None]:
        """Let what is read meanwhile be the answer that is being read."""
        return self._within(self._places, is_alone=True)

    @contextmanager
    def _within(self, places: Sequence[int] | None, *, is_alone: bool = False) -> Iterator[None]:
        outer = self._places, self._is_alone
        self._places, self._is_alone = places, is_alone or self._is_alone
        try:
            yield
        finally:
            self._places, self._is_alone = outer


_HEARING: ContextVar[Hearing | None] = ContextVar("hearing", default=None)
_WAY: ContextVar[Way | None] = ContextVar("way", default=None)


@contextmanager
def hearing() -> Iterator[Hearing]:
    """Return what hears how the answers that are read meanwhile were read."""
    heard = Hearing()
    token = _HEARING.set(heard)
    try:
        yield heard
    finally:
        _HEARING.reset(token)


@contextmanager
def reading_as(way: Way | None) -> Iterator[None]:
    """Read answers in another way than their exam does; ``None`` is its own."""
    token = _WAY.set(way)
    try:
        yield
    finally:
        _WAY.reset(token)


def each_of(values: Iterable[T]) -> Iterable[T]:
    """Return values to be read one after the other, each an answer."""
    heard = _HEARING.get()
    return values if heard is None else heard.each(values)


def among(places: Sequence[int]) -> AbstractContextManager[None]:
    """Say which of the answers that are read together the following ones are."""
    heard = _HEARING.get()
    return nullcontext() if heard is None else heard.among(places)


def alone() -> AbstractContextManager[None]:
    """Say that what is read meanwhile, in whatever steps, is the answer that is being read."""
    heard = _HEARING.get()
    return nullcontext() if heard is None else heard.alone()


@contextmanager
def as_they_are() -> Iterator[None]:
    """Read references, which are not answers: as the exam does, and nobody hears of it."""
    heard, way = _HEARING.set(None), _WAY.set(None)
    try:
        yield
    finally:
        _HEARING.reset(heard)
        _WAY.reset(way)


def taken(found: Iterable[T | None], by: str, own: int = 0, *, is_last_resort: bool = False) -> T | None:
    """Return the match that counts; ``None`` where there is none.

    Args:
        found: What a pattern finds in an answer, in order.
        by: What people call the pattern.
        own: Which of the matches the function takes: 0 or -1.
        is_last_resort: Whether the pattern finds what may not be meant as the answer.

    Raises:
        IndexError: There are matches, and no such one.
    """
    way = _WAY.get()
    match: T | None
    if way is None and own == 0:
        match = next(iter(found), None)
    elif way is None:
        every = list(found)
        match = every[own] if every else None
    else:
        every = [each for each in found if each is not None]
        is_clear = not is_last_resort and all(each == every[0] for each in every)
        match = None if not every or (way == "strict" and not is_clear) else every[-1 if way == "last" else 0]
    if match is not None:
        _note(by, is_last_resort=is_last_resort)
    return match


def or_else(text: T, by: str, nothing: T) -> T:
    """Return what a function falls back on where no pattern finds anything; ``nothing`` of strict readings."""
    if _WAY.get() == "strict":
        return nothing
    _note(by, is_last_resort=True)
    return text


def no_verdict() -> None:
    """Say that a judge gave no verdict, where they count as some: ``--retry-verdicts`` asks the judge again."""
    if (heard := _HEARING.get()) is not None:
        heard.no_verdict()


def _note(by: str, *, is_last_resort: bool) -> None:
    if (heard := _HEARING.get()) is not None:
        heard.note(by, is_last_resort=is_last_resort)
