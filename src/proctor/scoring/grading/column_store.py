"""Columns that cost little memory: equal values are kept once, and what is large or many lies in a temporary file.

Grading sees every answer of an exam, and an exam may have a million. A :class:`Store` takes the values of all columns
of one exam; a :class:`StoredColumn` holds eight bytes for each of its entries and reads the values back where somebody
looks at them.
"""

from __future__ import annotations

import marshal
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any, Final, overload
from weakref import finalize

MOST_KEPT: Final = 100_000
"""Distinct values that are remembered to be shared: labels and short answers repeat, and so many cost some 20 MB."""

LARGEST_KEPT: Final = 512
"""Bytes of a value that stays in memory: longer texts seldom repeat."""

MOST_BYTES: Final = 16 << 20
"""Bytes of values in memory before all further ones go to the file: small exams touch no disk."""

_LENGTH_BITS: Final = 26  # leaves 37 bits of a 64-bit integer for the offset: files of 128 GB
_LONGEST: Final = 1 << _LENGTH_BITS
"""A place in the file is one integer of offset and length, which is at most 64 MB; longer values stay in memory."""

_VERSION: Final = 2  # of :mod:`marshal`: the last one in which equal values have equal bytes
_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def is_plain(value: object) -> bool:
    """Return whether a value is texts, numbers, lists, tuples and dicts all the way down.

    :mod:`marshal` would write numbers and arrays of NumPy, too: as bare bytes, which come back as something else.

    Raises:
        RecursionError: The value is nested deeper than Python goes, or holds itself.
    """
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is list or kind is tuple:
        return _holds_plain(value)  # type: ignore[arg-type]
    return kind is dict and _holds_plain(value) and _holds_plain(value.values())  # type: ignore[arg-type, attr-defined]


def _holds_plain(values: Iterable[object]) -> bool:
    if _SCALARS.issuperset(map(type, values)):  # nearly always, and without a step of Python for each
        return True
    return all(map(is_plain, [value for value in values if type(value) not in _SCALARS]))


def are_plain(values: Iterable[object]) -> bool:
    """Return whether all values are plain (:func:`is_plain`).

    They are looked at level by level, so that many of them take hardly a step of Python each.

    Raises:
        RecursionError: As :func:`is_plain`.
    """
    level = list(values)
    for _ in range(_LEVELS):
        kinds = set(map(type, level)) - _SCALARS
        if not kinds:
            return True
        if not kinds <= _HOLDERS:
            return False
        level = _held(level)
    return all(map(is_plain, level))


_LEVELS: Final = 8
"""Rows are seldom deeper. Behind them each value is followed by itself, so that one that holds itself has an end."""

_HOLDERS: Final = frozenset({list, tuple, dict})


def _held(values: list[Any]) -> list[object]:
    """Return what values hold: entries of lists and tuples, keys and values of dicts."""
    dicts = [each for each in values if type(each) is dict]
    listed = [each for each in values if type(each) is list or type(each) is tuple]
    return [*chain.from_iterable(listed), *chain.from_iterable(dicts), *chain.from_iterable(map(dict.values, dicts))]


class Store:
    """Keeps values of columns, and hands out equal ones.

    Values that consist of texts, numbers, lists, tuples and dicts are written with :mod:`marshal` to a file that has no
    name: only this process writes and reads it. Whatever else there is (a failure, an image) is kept as it is.
    """

    def __init__(self) -> None:
        self._kept: list[Any] = []
        self._encoded = bytearray()
        self._known: dict[Any, int] = {}
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._end = 0
        self._is_at_end = True
        self._lock = Lock()

    def put(self, value: Any) -> int:
        """Keep a value and return its place."""
        if type(value) is str and len(value) <= LARGEST_KEPT:
            place = self._known.get(value)
            if place is not None:
                return place
        try:
            written = marshal.dumps(value, _VERSION)
            if len(written) <= LARGEST_KEPT and type(value) is not str and written in self._known:
                return self._known[written]  # it is plain: whatever is not would have an entry of bytes among its own
            data = written if is_plain(value) else None
        except (ValueError, RecursionError):  # nested too deep, as answers may be when they are read as lists
            data = None
        if data is None:
            return self._keep(value, encoded=False)
        if type(value) is str:
            return self._put(value, data, value, encoded=False)
        return self._put(data, data, value if type(value) in _SCALARS else data, encoded=type(value) not in _SCALARS)

    def _put(self, key: Any, data: bytes, kept: Any, *, encoded: bool) -> int:
        size = len(data)
        if size <= LARGEST_KEPT and (place := self._known.get(key)) is not None:
            return place
        if size >= _LONGEST:
            return self._keep(kept, encoded=encoded)
        if size > LARGEST_KEPT or len(self._known) >= MOST_KEPT:
            if self._bytes < MOST_BYTES:
                self._bytes += size
                return self._keep(kept, encoded=encoded)
            return self._write(data)
        self._bytes += size
        place = self._known[key] = self._keep(kept, encoded=encoded)
        return place

    def _keep(self, value: Any, *, encoded: bool) -> int:
        self._kept.append(value)
        self._encoded.append(encoded)
        return len(self._kept) - 1

    def _write(self, data: bytes) -> int:
        with self._lock:
            if self._file is None:
                self._file = TemporaryFile(prefix="proctor-")  # noqa: SIM115 - lives as long as the columns do
                finalize(self, self._file.close)
            if not self._is_at_end:
                self._file.seek(self._end)
                self._is_at_end = True
            self._file.write(data)
            place = -1 - (self._end << _LENGTH_BITS | len(data))
            self._end += len(data)
        return place

    def read(self, places: Iterable[int]) -> Iterator[Any]:
        """Yield the values at places, as :meth:`get` returns them one by one."""
        kept, encoded = self._kept, self._encoded
        for place in places:
            if place < 0 or encoded[place]:
                yield self.get(place)
            else:
                yield kept[place]

    def get(self, place: int) -> Any:
        """Return the value at a place; lists and dicts are new each time."""
        if place >= 0:
            value = self._kept[place]
            return marshal.loads(value) if self._encoded[place] else value  # noqa: S302 - our own bytes, which nobody else can write
        code = -1 - place
        with self._lock:
            self._is_at_end = False
            self._file.seek(code >> _LENGTH_BITS)  # type: ignore[union-attr]
            data = self._file.read(code & (_LONGEST - 1))  # type: ignore[union-attr]
        return marshal.loads(data)  # noqa: S302 - our own bytes, which nobody else can write


class ListLike(Sequence[Any]):
    """A column that equals, and is written as, the list of its entries."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class StoredColumn(ListLike):
    """A column whose values are in a store.

    Args:
        store: Keeps the values.
        values: The first entries.
    """

    def __init__(self, store: Store, values: Iterable[Any] = ()) -> None:
        self._store = store
        self._places = array("q")
        self.extend(values)

    def extend(self, values: Iterable[Any]) -> None:
        """Add entries."""
        self._places.extend(map(self._store.put, values))

    def extend_from(self, column: StoredColumn, originals: Sequence[Any], values: Sequence[Any]) -> None:
        """Add entries that were made of the last ones of another column; what did not change is not kept twice.

        Args:
            column: The other column, of the same store.
            originals: Its last entries.
            values: What became of them.
        """
        places = column._places[len(column) - len(originals) :]
        for place, original, value in zip(places, originals, values, strict=True):
            self._places.append(place if value is original else self._store.put(value))

    def replace(self, position: int, value: object) -> None:
        """Put another value at a position."""
        self._places[position] = self._store.put(value)

    def at(self, positions: Sequence[int]) -> StoredColumn:
        """Return the entries at positions; nothing is read."""
        twin = StoredColumn(self._store)
        places = self._places
        twin._places = array("q", (places[position] for position in positions))
        return twin

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self._store.get(place) for place in self._places[index]]
        return self._store.get(self._places[index])

    def __iter__(self) -> Iterator[Any]:
        return self._store.read(self._places)

    def __len__(self) -> int:
        return len(self._places)
