"""Reads a table: rows of CSV, TSV, JSON lines or parquet, with what a file does not say of itself found out.

What separates the cells of a CSV file is what gives all its first rows the same number of cells; its encoding is what
its first bytes say, else UTF-8, else Windows-1252, which is said. Cells are texts as they stand: ``007`` stays ``007``.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from proctor.data.files import opened
from proctor.errors import DataError, Location, MissingExtraError
from proctor.foreign_text import parse_json
from proctor.logs import get_logger

Row = Mapping[str, Any]
Rows = Sequence[Row]

ENDINGS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
"""Files that are tables."""

SEPARATORS: Final = (",", ";", "\t", "|")
_LOOKED_AT: Final = 50  # rows: enough to tell a separator from a mark that texts have, too
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LARGEST_CELL: Final = 1 << 30  # characters: a document may be a cell, and Python's own limit is 131,072


def is_table(path: str) -> bool:
    """Whether a path is a file that is read as a table."""
    return path.lower().endswith(ENDINGS) and Path(path).is_file()


def read_table(path: str) -> Rows:
    """Return the rows of a file.

    Raises:
        DataError: It has no rows, or is not what its name says; the message has the place.
        MissingExtraError: ``pyarrow`` is not installed, and it is a parquet file.
    """
    file = Path(path)
    return _read(str(file.resolve()), path, file.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read(absolute: str, path: str, changed: int) -> Rows:
    del absolute, changed  # parts of the key: another folder, another content
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        rows: list[Row] = _parquet(path)
    else:
        text = decoded(path)
        rows = list(_json_lines(text, path)) if ending in (".jsonl", ".ndjson") else list(_cells(text, path))
    if not rows:
        raise DataError("the table has no rows", location=Location(path))
    return rows


def has_usual_form(path: str) -> bool:
    """Whether a file is CSV with commas, or JSON lines, in UTF-8, with columns ``question`` and ``answer``.

    Raises:
        DataError: It is no text, or has two columns of one name.
    """
    text = decoded(path)
    if not _is_utf8(path):
        return False
    if path.lower().endswith(".csv"):
        separator = separator_of(text)
        header = next(_parsed(text, separator), [])
        return separator == "," and {"question", "answer"} <= set(_names(header, path, separator))
    first = next((line for line in text.split("\n") if line.strip()), "")
    try:
        row = parse_json(first)
    except ValueError:
        return True  # who reads it says where it is not JSON
    return isinstance(row, dict) and {"question", "answer"} <= set(row)


def _is_utf8(path: str) -> bool:
    with opened(path) as file:
        data: bytes = file.read()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def columns_of(rows: Rows) -> list[str]:
    """Return the names of all columns, those of the first rows first."""
    return list(dict.fromkeys(name for row in rows for name in row))


def decoded(path: str) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        DataError: It is not text.
    """
    with opened(path) as file:
        data: bytes = file.read()
    named = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if b"\0" in data and not named:
        raise DataError("the file is not text", location=Location(path), why="it has zero bytes in it")
    try:
        return data.decode(named or "utf-8")
    except UnicodeDecodeError as error:
        if named:
            raise DataError(f"the file is not {named} text", location=Location(path), why=str(error)) from None
    get_logger().warning("%s is not UTF-8; it is read as Windows-1252. Save it as UTF-8 if letters look wrong", path)
    return data.decode("cp1252", errors="replace")


# -- CSV --------------------------------------------------------------------------------------------------------------


def _cells(text: str, path: str) -> Iterator[Row]:
    separator = "\t" if path.lower().endswith(".tsv") else separator_of(text)
    lines = _lines(text, separator, path)
    header = next(lines, None)
    if header is None:
        raise DataError("the file is empty", location=Location(path))
    names = _names(header[1], path, separator)
    for line, cells in lines:
        if len(cells) != len(names):
            raise DataError(
                f"a row has {len(cells)} cells, and the table has {len(names)} columns",
                location=Location(path, line),
                why=f"the columns are {', '.join(map(repr, names))}; cells are separated by {_WORDS[separator]}",
                hint='a cell with a separator or a line break in it stands in quotes: "a, b"',
            )
        yield dict(zip(names, cells, strict=True))


_WORDS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def separator_of(text: str) -> str:
    r"""Return what separates the cells of a text: what gives its first rows most cells, and all as many.

    >>> separator_of("question;answer\n1, 2 and 3?;6\n")
    ';'
    """
    best, most = ",", (False, 1)
    for separator in SEPARATORS:
        counts = [len(row) for row in islice(_parsed(text, separator), _LOOKED_AT)]
        if counts and (found := (len(set(counts)) == 1 and counts[0] > 1, counts[0])) > most:
            best, most = separator, found
    return best


def _parsed(text: str, separator: str) -> Iterator[list[str]]:
    csv.field_size_limit(_LARGEST_CELL)
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        if any(cell.strip() for cell in row):
            yield row


def _lines(text: str, separator: str, path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the lines that they end in; lines without anything are left out."""
    csv.field_size_limit(_LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError("the file is not valid CSV", location=Location(path, reader.line_num), why=str(error)) from None


def _names(header: Sequence[str], path: str, separator: str) -> list[str]:
    """Return the names of the columns; one without a name is called by its place.

    Raises:
        DataError: Two have the same name.
    """
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(header, 1)]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(
            f"the table has {names.count(twice[0])} columns '{twice[0]}'",
            location=Location(path, 1),
            why=f"the columns are {', '.join(map(repr, names))}; cells are separated by {_WORDS[separator]}",
            hint="give each a name of its own",
        )
    return names


# -- JSON lines, parquet -----------------------------------------------------------------------------------------------


def _json_lines(text: str, path: str) -> Iterable[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except json.JSONDecodeError as error:
            raise DataError("a line is not JSON", location=Location(path, number, error.colno), why=error.msg) from None
        if not isinstance(row, dict):
            raise DataError(f"a line is {type(row).__name__}, not an object", location=Location(path, number))
        yield row


def _parquet(path: str) -> list[Row]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtraError.of("pyarrow", "loaders", "a parquet file") from error
    try:
        return parquet.read_table(path).to_pylist()  # type: ignore[no-any-return]
    except (ArrowException, OSError) as error:
        raise DataError("the file is not parquet", location=Location(path), why=str(error)) from None
