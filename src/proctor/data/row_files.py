"""Rows of files as they stand: JSON lines, JSON documents, tables, parquet, lines of text.

A loader of :mod:`~proctor.data.files` reads files as pandas does, which finds out types. Here a cell is a text
unless the layout says otherwise, and a damaged line need not end a file.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from proctor.data.bounds import check_file
from proctor.data.fields import Row
from proctor.errors import DataError, Location, reason_of
from proctor.foreign_text import parse_json
from proctor.ir import Failure

_LOOKED_AT = 1 << 20  # bytes from which the encoding is guessed
_HIGH = re.compile(rb"[\x80-\xff]+")
_CHINESE = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")


def not_utf8(path: str, error: UnicodeDecodeError, line: int = 0) -> DataError:
    """Return the error that names the encoding that a file seems to have, and the command that changes it.

    Args:
        path: The file.
        error: What Python says of the bytes.
        line: Where, where that is known.
    """
    found = guessed_encoding(bytes(error.object))
    place = Path(path)
    to = shlex.quote(str(place.with_name(f"{place.stem}-utf8{place.suffix}")))
    hint = f"iconv -f {found.upper()} -t UTF-8 {shlex.quote(path)} > {to}" if found else "save it as UTF-8"
    seems = f"; it seems to be {found.upper()}{' (GBK)' if found == 'gb18030' else ''}" if found else ""
    why = f"{error.reason} at byte {error.start}{seems}"
    return DataError("the file is not UTF-8 text", location=Location(path, line), why=why, hint=hint)


def guessed_encoding(data: bytes) -> str:
    """Return the encoding that bytes seem to be of, ``""`` where nothing tells.

    Of Chinese, most bytes beyond ASCII are pairs of the common characters and marks of GB 2312.
    """
    head = data[:_LOOKED_AT]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    common = sum(map(len, _CHINESE.findall(head)))
    found = "gb18030" if 2 * common > sum(map(len, _HIGH.findall(head))) else "cp1252"
    return found if _reads(head, found) else ""


def _reads(head: bytes, encoding: str) -> bool:
    try:
        head.decode(encoding)
    except UnicodeDecodeError as error:
        return len(head) == _LOOKED_AT and error.start >= len(head) - 4  # a character that the end of the part cuts
    return True


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A reader of one kind of file.

    Attributes:
        header: Column names of a table that has no header line.
        at: Keys that lead to the rows of a JSON document.
        delimiter: What separates the columns of a table; by default the file's extension says it.
        encoding: Of the file.
        skip: Lines to leave out at the start of a table.
        positional: Whether a table's columns are called ``c0``, ``c1`` …, whatever its header says.
        lines: Whether the file is JSON lines, ``document``: one JSON document, ``text``: lines of text, whatever it is
            called, ``whole``: one row, the JSON document as ``value``.
        typed: Whether a table's columns get the types that pandas finds in them; missing values are ``None``.
    """

    header: Sequence[str] = ()
    at: Sequence[str] = ()
    delimiter: str = ""
    encoding: str = "utf-8"
    skip: int = 0
    positional: bool = False
    lines: bool = False
    document: bool = False
    text: bool = False
    whole: bool = False
    typed: bool = False


PLAIN = FileFormat()
"""A file read as its name says."""


def read_rows(path: Path, layout: FileFormat = PLAIN, *, passing: bool = False) -> Iterator[Any]:
    """Yield the rows of a file: JSON lines, JSON, CSV, TSV, parquet; of any other file, its lines as ``line``.

    Args:
        path: The file.
        layout: How to read it.
        passing: Whether a damaged line is passed on as a :class:`~proctor.ir.Failure`, rather than an error.

    Raises:
        DataError: The file is not what its name says.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            from proctor.data.hub import read_parquet

            yield from read_parquet([str(path)])
        elif layout.whole:
            with _opened(path, layout) as file:
                yield {"value": _parsed(file.read(), path, 0), "name": path.name}
        elif layout.typed:
            yield from _typed_rows(path, layout)
        elif layout.text:
            yield from _text_lines(path, layout)
        elif layout.lines or (suffix == ".jsonl" and not layout.document):
            yield from _json_lines(path, layout, passing=passing)
        elif suffix == ".json" or layout.document:
            yield from _json_rows(path, layout)
        elif suffix in (".csv", ".tsv") or layout.delimiter:
            yield from _table_rows(path, layout, passing=passing)
        else:
            yield from _text_lines(path, layout)
    except UnicodeDecodeError as error:
        raise not_utf8(str(path), error) from None
    except (OSError, csv.Error) as error:
        raise DataError("the file cannot be read", location=Location(str(path)), why=reason_of(error)) from None


def json_object(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises:
        DataError: It cannot be read, is not JSON, or holds something else.
    """
    found = next(read_rows(path, FileFormat(whole=True)))["value"]
    if not isinstance(found, dict):
        raise DataError("the file is not a JSON object", location=Location(str(path)))
    return found


def _opened(path: Path, layout: FileFormat, errors: str = "strict") -> IO[str]:
    if path.suffix.lower() == ".gz":
        check_file(path)
        return gzip.open(path, "rt", encoding=layout.encoding, errors=errors)
    return path.open(encoding=layout.encoding, errors=errors)


def _typed_rows(path: Path, layout: FileFormat) -> Iterator[Row]:
    from pandas import isna, read_csv

    try:
        table = read_csv(path.absolute(), encoding="utf-8", sep=layout.delimiter or ",")
    except ValueError as error:
        raise DataError("the table cannot be read", location=Location(str(path)), why=str(error)) from None
    for row in table.to_dict(orient="records"):
        yield {str(key): None if isna(value) else value for key, value in row.items()}


def _text_lines(path: Path, layout: FileFormat) -> Iterator[Row]:
    with path.open(encoding=layout.encoding) as file:
        yield from ({"line": line.rstrip("\r\n")} for line in file)


def _json_lines(path: Path, layout: FileFormat, *, passing: bool) -> Iterator[Row | Failure]:
    with _opened(path, layout, "ignore") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _object(_parsed(line, path, number), path, number)
            except DataError as error:
                if not passing:
                    raise
                yield Failure("row", str(error), retryable=False)


def _json_rows(path: Path, layout: FileFormat) -> Iterator[Row]:
    with path.open(encoding=layout.encoding) as file:
        document = _parsed(file.read(), path, 0)
    for key in layout.at:
        if not isinstance(document, dict) or key not in document:
            raise DataError(f"the file has no '{key}'", location=Location(str(path)))
        document = document[key]
    if isinstance(document, dict):
        document = [{"key": key, "value": value} for key, value in document.items()]
    if not isinstance(document, list):
        raise DataError("the file holds no list of rows", location=Location(str(path)))
    for row in document:
        yield row if isinstance(row, dict) else {"value": row}


def _parsed(text: str, path: Path, line: int) -> Any:
    try:
        return parse_json(text)
    except (json.JSONDecodeError, RecursionError) as error:
        number, column = getattr(error, "lineno", 1), getattr(error, "colno", 0)
        place = Location(str(path), line or number, column)
        raise DataError("the file is not valid JSON", location=place, why=getattr(error, "msg", str(error))) from None


def _object(value: Any, path: Path, line: int) -> Row:
    if not isinstance(value, dict):
        raise DataError("a line is not a JSON object", location=Location(str(path), line))
    return value


def _table_rows(path: Path, layout: FileFormat, *, passing: bool) -> Iterator[Row | Failure]:
    delimiter = layout.delimiter or ("\t" if path.suffix.lower() == ".tsv" else ",")
    with path.open(encoding=layout.encoding) as file:  # line ends inside a cell become "\n", as upstream
        lines = csv.reader(file, delimiter=delimiter)
        for _ in range(layout.skip):
            next(lines, None)
        if layout.positional:
            yield from ({f"c{i}": cell for i, cell in enumerate(line)} for line in lines)
            return
        header = list(layout.header) or next(lines, [])
        for line in filter(None, lines):  # a blank line is not a row
            if len(line) != len(header) if layout.header else _is_ragged(line, len(header)):
                error = DataError(
                    f"a line has {len(line)} columns; there should be {len(header)}",
                    location=Location(str(path), lines.line_num),
                    why=f"the columns are {', '.join(header)}",
                )
                if not passing:
                    raise error
                yield Failure("row", str(error), retryable=False)
                continue
            yield dict(zip(header, line, strict=False))


def _is_ragged(line: Sequence[str], width: int) -> bool:
    """Whether a line has too few cells, or words beyond the last column."""
    return len(line) < width or any(cell.strip() for cell in line[width:])
