"""JSON lines as pandas reads them, without pandas where it would change nothing.

``pandas.read_json`` makes numbers of texts that all look like numbers, dates of columns that are called like dates,
NaN of what is missing, and reads decimals with a parser of its own. Most files of exams have nothing of the kind:
texts, whole numbers, lists, dicts. Their rows are what the lines say, and importing pandas to find that out takes
longer than everything else that is done with a small exam.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any, Final

import msgspec

from proctor.data.fields import Row

_LINE: Final = msgspec.json.Decoder()
_WORD: Final = re.compile(r"[a-z]{4,}")

_DATE_WORDS: Final = frozenset(
    {"january", "february", "march", "april", "june", "july", "august", "sept", "september", "october", "november"}
    | {"december", "monday", "tuesday", "wednesday", "thurs", "thursday", "friday", "saturday", "sunday", "today"}
    | {"hour", "hours", "minute", "minutes", "second", "seconds"}
)
"""Words of four letters and more that a date may consist of. Names of columns that are all dates become dates."""

_DATE_COLUMN: Final = re.compile(r"(?:.*(?:_at|_time)|timestamp.*|modified|date|datetime)\Z", re.IGNORECASE | re.DOTALL)
"""Columns that pandas takes for dates by their name."""

_MOST_INTEGER: Final = 1 << 53  # beyond it, whole numbers and decimals part: pandas would have to choose


_BLOCK_BYTES: Final = 1 << 20
"""Bytes of lines that are looked at together. A file of one block is read once; of a larger one, rows are read a second
time rather than kept, for a million of them weigh 300 MB."""


def unchanged_lines(file: IO[bytes], limit: int | None = None) -> Iterator[Row] | None:
    """Return the rows of a file of JSON lines, or ``None`` where pandas might read them in another way.

    Args:
        file: The file, at its beginning; rows are read from it while they are asked for.
        limit: Rows to read.
    """
    columns: _Columns | None = None
    rows: list[Row] = []
    blocks = 0
    left = sys.maxsize if limit is None else limit
    while lines := file.readlines(_BLOCK_BYTES):
        text = b"".join(lines)
        if b"\r" in text or b"\\u0000" in text or b"\n" in lines:
            return None
        blocks += 1
        if left <= 0:  # what is not read may still change how the rest is
            continue
        try:
            rows = list(map(_LINE.decode, lines[:left]))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        left -= len(rows)
        if columns is None:
            columns = _Columns(rows[0])
        if not columns.take(rows):
            return None
    if columns is None or not columns.are_unchanged():
        return None
    if blocks == 1:
        return iter(rows)
    file.seek(0)
    return islice(_decoded(file), limit)


def _decoded(file: IO[bytes]) -> Iterator[Row]:
    while lines := file.readlines(_BLOCK_BYTES):
        yield from map(_LINE.decode, lines)


class _Columns:
    """What the columns of rows hold, as far as that decides whether pandas leaves them as they are.

    Args:
        first: The first row, whose names are those of the columns.
    """

    def __init__(self, first: Any) -> None:
        self._names = list(first) if type(first) is dict else []
        self._columns = [_Column() for _ in self._names]

    def take(self, rows: Sequence[Any]) -> bool:
        """Look at some rows; return whether they may still be unchanged."""
        names = self._names
        if not names or not all(type(row) is dict and list(row) == names for row in rows):
            return False
        values = zip(*map(dict.values, rows), strict=True)
        return all(column.take(each) for column, each in zip(self._columns, values, strict=True))

    def are_unchanged(self) -> bool:
        """Return whether pandas leaves all rows that were looked at as they are."""
        if not any(map(_is_no_date, self._names)) or any(map(_DATE_COLUMN.match, self._names)):
            return False
        return all(column.is_kept() for column in self._columns)


class _Column:
    """The values of one column: their types, and what decides whether pandas makes something else of them."""

    def __init__(self) -> None:
        self._kinds: set[type] = set()
        self._has_word = False
        self._is_exact = True

    def take(self, values: Sequence[Any]) -> bool:
        """Look at some values; return whether the column may still be left as it is."""
        kinds = set(map(type, values))
        self._kinds |= kinds
        if kinds <= _TEXTS:
            self._has_word = self._has_word or any(value is not None and not _is_number(value) for value in values)
        elif kinds == {int}:
            self._is_exact = self._is_exact and all(-_MOST_INTEGER < value < _MOST_INTEGER for value in values)
        elif kinds in _NESTED:
            self._is_exact = self._is_exact and all(_is_exact(values))
        return self._is_exact and (self._kinds <= _TEXTS or len(self._kinds) == 1)

    def is_kept(self) -> bool:
        """Return whether pandas leaves the column as it is."""
        if self._kinds <= _TEXTS:
            return self._has_word
        return self._is_exact and (self._kinds in ({int}, {bool}) or self._kinds in _NESTED)


_TEXTS: Final = frozenset({str, type(None)})
_NESTED: Final[tuple[set[type], ...]] = ({list}, {dict})


def _is_no_date(name: str) -> bool:
    """Whether the name of a column holds a word that no date has."""
    return any(word not in _DATE_WORDS for word in _WORD.findall(name.lower()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_exact(values: Iterable[Any]) -> Iterator[bool]:
    """Yield whether each part of nested values is read alike by every parser: decimals are not."""
    for value in values:
        match value:
            case list():
                yield from _is_exact(value)
            case dict():
                yield from _is_exact(value.values())
            case bool() | str() | None:
                yield True
            case int():
                yield -_MOST_INTEGER < value < _MOST_INTEGER
            case _:
                yield False
