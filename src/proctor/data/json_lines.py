"""JSON lines as pandas reads them, without pandas where it would change nothing.

``pandas.read_json`` makes numbers of texts that all look like numbers, dates of columns that are called like dates,
NaN of what is missing, and reads decimals with a parser of its own. Most files of exams have nothing of the kind:
texts, whole numbers, lists, dicts. Their rows are what the lines say, and importing pandas to find that out takes
longer than everything else that is done with a small exam.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

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

_MOST_INTEGER: Final = 1 << 53
"""Beyond it, whole numbers and decimals part: pandas would have to choose."""


def unchanged_rows(data: bytes, limit: int | None = None) -> list[Row] | None:
    """Return the rows of JSON lines, or ``None`` where pandas might read them in another way.

    Args:
        data: What the file holds.
        limit: Rows to read.
    """
    lines = data.split(b"\n") if b"\r" not in data else []
    if lines and not lines[-1]:
        lines.pop()
    if not all(lines) or b"\\u0000" in data:
        return None
    try:
        rows = list(map(_LINE.decode, lines[:limit]))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return rows if rows and _is_unchanged(rows) else None


def _is_unchanged(rows: Sequence[Any]) -> bool:
    if not all(type(row) is dict for row in rows):
        return False
    names = list(rows[0])
    if not all(list(row) == names for row in rows) or not any(map(_is_no_date, names)):
        return False
    return all(not _DATE_COLUMN.match(name) and _is_kept([row[name] for row in rows]) for name in names)


def _is_no_date(name: str) -> bool:
    """Whether the name of a column holds a word that no date has."""
    return any(word not in _DATE_WORDS for word in _WORD.findall(name.lower()))


def _is_kept(values: list[Any]) -> bool:
    """Whether pandas leaves a column as it is."""
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return any(value is not None and not _is_number(value) for value in values)
    if kinds == {int}:
        return all(-_MOST_INTEGER < value < _MOST_INTEGER for value in values)
    return kinds == {bool} or (kinds in ({list}, {dict}) and all(_is_exact(values)))


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
