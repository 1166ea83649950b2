"""Reads a table: rows of CSV, TSV, JSON, parquet or a workbook, with what a file does not say of itself found out.

What separates the cells of a CSV file is what gives all its first rows the same number of cells; its encoding is what
its first bytes say, else UTF-8, else GB18030 or Windows-1252, which is said. Cells are
texts as they stand: ``007`` stays ``007``.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

from proctor.data.bounds import check_file
from proctor.data.files import opened
from proctor.errors import DataError, Location, needed
from proctor.foreign_text import parse_json, parse_printed
from proctor.logs import get_logger
from proctor.safe_files import Stamp, stamp_of

Row = Mapping[str, Any]
Rows = Sequence[Row]

ENDINGS: Final = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".xlsx", ".json")
"""Files that are tables; JSON where it is a list, or an object that has one under a usual name."""
PACKED: Final = ".gz"
"""What may stand behind the ending of a table that is text."""
_WRAPPED: Final = ("data", "examples", "rows", "questions", "items", "instances")
_IS_WRAPPED: Final = re.compile(rb'\s*\{.*"(?:%s)"\s*:\s*\[\s*\{' % "|".join(_WRAPPED).encode(), re.DOTALL)

SEPARATORS: Final = (",", ";", "\t", "|")
_LOOKED_AT: Final = 50  # rows: enough to tell a separator from a mark that texts have, too
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_START: Final = 4096  # bytes: more blanks than stand before any list
_LARGEST_CELL: Final = 1 << 30  # characters: a document may be a cell, and Python's own limit is 131,072


def is_table(path: str) -> bool:
    """Whether a path is a file that is read as a table."""
    ending = ending_of(path)
    if ending not in ENDINGS or not Path(path).is_file():
        return False
    return ending != ".json" or is_json_list(path)


def ending_of(path: str) -> str:
    """Return the ending of a file in lower case, without ``.gz`` behind it."""
    return Path(path.lower().removesuffix(PACKED)).suffix


def name_of(path: str) -> str:
    """Return what the exam of a file is called: its name, with the folder's where it is that of a split.

    >>> name_of("cities.csv.gz"), name_of("gsm8k/main/test-00000-of-00001.parquet"), name_of("test.csv")
    ('cities', 'gsm8k-test', 'test')
    """
    file = Path(path)
    stem = Path(file.name[: -len(PACKED)] if file.name.lower().endswith(PACKED) else file.name).stem
    if (split := _SPLIT_FILE.fullmatch(stem)) is None:
        return stem
    folder = next((each for each in reversed(file.parts[:-1]) if each not in _ANY_FOLDER), "")
    return f"{folder}-{split[1]}" if folder else stem


_SPLIT_FILE: Final = re.compile(r"(train|test|validation|valid|val|dev)(?:-\d{5}-of-\d{5})?")
_ANY_FOLDER: Final = frozenset({"data", "default", "main", "plain_text", "all", "/", ".", ".."})
"""Names of folders that say nothing of the dataset in them."""


def is_json_list(path: str) -> bool:
    """Whether a file begins as a list of rows in JSON, whatever its encoding, or as an object that has one."""
    start = _content(path, _START)
    start = start.lstrip(codecs.BOM_UTF8 + codecs.BOM_UTF16_LE + codecs.BOM_UTF32_BE + b" \t\r\n")
    return start.startswith(b"[") or (_IS_WRAPPED.match(start) is not None and b'"__type__"' not in start)


def _content(path: str, most: int = -1) -> bytes:
    """Return the bytes of a file, unpacked, or the first of them."""
    with opened(path) as file:
        if not path.lower().endswith(PACKED):
            return bytes(file.read(most))
        import gzip  # which most tables do not need

        try:
            return gzip.GzipFile(fileobj=file).read(most)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError("the file is not packed by gzip", location=Location(path), why=str(error)) from None


def read_table(path: str) -> Rows:
    """Return the rows of a file.

    Raises:
        DataError: It has no rows, or is not what its name says; the message has the place.
        MissingExtraError: It is a parquet file or a workbook, and what reads it is not installed.
    """
    file = Path(path)
    return _read(str(file.resolve()), path, stamp_of(file))


@lru_cache(maxsize=4)
def _read(absolute: str, path: str, changed: Stamp) -> Rows:
    del absolute, changed  # parts of the key: another folder, another content
    ending = ending_of(path)
    if ending in _LOADED:
        rows: list[Row] = _LOADED[ending](path)
    else:
        text = decoded(path)
        rows = list(_KINDS.get(ending, _cells)(text, path))
        if ending not in _KINDS and "{'" in text:
            rows = [{name: _object(cell) for name, cell in row.items()} for row in rows]
    if not rows:
        hint = "write a row below its header: one question and its answer"
        raise DataError("the table has no rows", location=Location(path), hint=hint)
    return rows


_PRINTED: Final = re.compile(r"\{'text': \[|\{'.*\barray\(\[", re.DOTALL)
"""An object with lists as Python prints it, which is what CSV files have of datasets' answers and choices."""


def _object(cell: Any) -> Any:
    """Return the object that a cell prints, and any other cell as it is."""
    if not (isinstance(cell, str) and cell[:2] == "{'" and _PRINTED.match(cell)):
        return cell
    try:
        return parse_printed(cell)
    except (SyntaxError, ValueError):
        return cell


def columns_of(rows: Rows) -> list[str]:
    """Return the names of all columns, those of the first rows first."""
    return list(dict.fromkeys(name for row in rows for name in row))


def is_nested(rows: Rows) -> bool:
    """Whether cells hold more than texts and numbers: what :mod:`proctor.dialects.tables.nested` is for."""
    return any(isinstance(value, (dict, list)) for value in rows[0].values())


def decoded(path: str) -> str:
    """Return the text of a file, without a byte order mark.

    Raises:
        DataError: It is not text.
    """
    data = _content(path)
    named = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if b"\0" in data and not named:
        raise DataError("the file is not text", location=Location(path), why="it has zero bytes in it")
    try:
        return data.decode(named or "utf-8")
    except UnicodeDecodeError as error:
        if named:
            raise DataError(f"the file is not {named} text", location=Location(path), why=str(error)) from None
    from proctor.data.row_files import guessed_encoding  # which most tables do not need

    is_chinese = guessed_encoding(data) == "gb18030"
    called = "GB18030 (GBK)" if is_chinese else "Windows-1252"
    get_logger().warning("%s is not UTF-8; it is read as %s. Save it as UTF-8 if letters look wrong", path, called)
    return data.decode("gb18030" if is_chinese else "cp1252", errors="replace")


# -- CSV --------------------------------------------------------------------------------------------------------------


def _cells(text: str, path: str) -> Iterator[Row]:
    separator = "\t" if ending_of(path) == ".tsv" else separator_of(text)
    lines = _lines(text, separator, path)
    header = next(lines, None)
    if header is None:
        hint = "write a header and rows, such as: question,answer"
        raise DataError("the file is empty", location=Location(path), hint=hint)
    names = _names(header[1], path, separator)
    for line, cells in lines:
        beyond = cells[len(names) :]  # a separator at the end of a line is not a cell; a lone one may be
        if len(cells) < len(names) or any(cell.strip() for cell in beyond) or (beyond and len(names) == 1):
            raise DataError(
                f"a row has {len(cells)} cells, and the table has {len(names)} columns",
                location=Location(path, line),
                why=f"the columns are {', '.join(map(repr, names))}; cells are separated by {_WORDS[separator]}",
                hint='a cell with a separator or a line break in it stands in quotes: "a, b"',
            )
        yield dict(zip(names, cells, strict=False))


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
        hint = "a cell that begins with a quote ends with one; a quote inside it is written twice"
        place = Location(path, reader.line_num)
        raise DataError("the file is not valid CSV", location=place, why=str(error), hint=hint) from None


def _names(header: Sequence[str], path: str, separator: str) -> list[str]:
    """Return the names of the columns; one without a name is called by its place.

    Raises:
        DataError: Two have the same name.
    """
    if len(header) == 1 and "\uff0c" in header[0]:
        what, why = f"the table has one column, '{header[0]}'", "a full-width comma separates no cells"
        raise DataError(what, location=Location(path, 1), why=why, hint="write , between cells")
    names = [cell.strip() or f"column {place}" for place, cell in enumerate(header, 1)]
    _check_names(names, path, separator and f"; cells are separated by {_WORDS[separator]}")
    return names


def _check_names(names: Sequence[str], path: str, more: str = "") -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(
            f"the table has {names.count(twice[0])} columns '{twice[0]}'",
            location=Location(path, 1),
            why=f"the columns are {', '.join(map(repr, names))}{more}",
            hint="give each a name of its own",
        )


# -- JSON lines, parquet -----------------------------------------------------------------------------------------------


def _json_lines(text: str, path: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _json_row(_json(line, path, number - 1), Location(path, number))


def _json_list(text: str, path: str) -> Iterator[Row]:
    found = _json(text, path, 0)
    if isinstance(found, dict):
        found = next((found[each] for each in _WRAPPED if isinstance(found.get(each), list)), None)
    if found is None:
        hint = "write the list alone, or under a name such as data"
        raise DataError("the object is not a table", location=Location(path), why="it has no list of rows", hint=hint)
    for row in found:
        yield _json_row(row, Location(path))


def _json_row(row: Any, place: Location) -> Row:
    if not isinstance(row, dict):
        raise DataError(f"a row is {type(row).__name__}, not an object", location=place)
    return row


def _json(text: str, path: str, lines_before: int) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            name = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise DataError(f"an object has '{name}' twice", location=Location(path, lines_before + 1))
        return made

    try:
        return parse_json(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = Location(path, lines_before + error.lineno, error.colno)
        hint = "of .jsonl, each line is one whole object; of .json, the file is one list of them"
        raise DataError("this is not JSON", location=place, why=error.msg, hint=hint) from None


_KINDS: Final[Mapping[str, Callable[[str, str], Iterator[Row]]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
}


def _parquet(path: str) -> list[Row]:
    with needed("pyarrow", "loaders", "a parquet file"):
        from pyarrow import ArrowException, parquet
    try:
        place = Path(path).absolute()  # none that could be an address
        schema = parquet.read_schema(place)
        _check_names(schema.names, path)
        rows: list[Row] = parquet.read_table(place).to_pylist()
    except (ArrowException, OSError) as error:
        raise DataError("the file is not parquet", location=Location(path), why=str(error)) from None
    labels = _labels_in((schema.metadata or {}).get(b"huggingface", b"{}"))
    return with_class_names(rows, labels)


def with_class_names(rows: Sequence[Row], labels: Mapping[str, Sequence[str]]) -> list[Row]:
    """Return rows with the names of classes in place of their numbers."""
    if not labels:
        return list(rows)
    return [{**row, **{name: _label(row[name], labels[name]) for name in labels if name in row}} for row in rows]


def class_names(dataset: object) -> dict[str, Sequence[str]]:
    """Return the names of the classes that columns of a dataset of ``datasets`` number."""
    features = getattr(dataset, "features", None) or {}
    return {name: each.names for name, each in features.items() if hasattr(each, "str2int")}


def _labels_in(description: bytes) -> Mapping[str, Sequence[str]]:
    """Return the names of the classes that columns number (``ClassLabel``), by a dataset's own description."""
    try:
        features = parse_json(description.decode())["info"]["features"]
        return {name: list(each["names"]) for name, each in features.items() if each.get("_type") == "ClassLabel"}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


def _label(number: Any, names: Sequence[str]) -> Any:
    if number == _UNLABELLED:
        return None
    return names[number] if isinstance(number, int) and 0 <= number < len(names) else number


_UNLABELLED: Final = -1
"""What rows without a class have, of tests whose answers nobody publishes."""


def _workbook(path: str) -> list[Row]:
    """Return the rows of a workbook's first sheet, cells as texts."""
    with needed("openpyxl", "loaders", "a workbook (.xlsx)"):
        from openpyxl import load_workbook
    check_file(path)
    try:
        with opened(path) as file:
            book = load_workbook(file, read_only=True, data_only=True)
            lines = [[_cell(each) for each in line] for line in book.worksheets[0].iter_rows(values_only=True)]
    except (OSError, KeyError, ValueError, TypeError, IndexError, BadZipFile, SyntaxError) as error:
        hint = "save it as .xlsx in your spreadsheet program, or as CSV"
        raise DataError("the file is not a workbook", location=Location(path), why=str(error), hint=hint) from None
    if more := [sheet.title for sheet in book.worksheets[1:]]:
        get_logger().warning("%s: the first sheet is read, and not %s", path, ", ".join(map(repr, more)))
    kept = [line for line in lines if any(each.strip() for each in line)]
    if not kept:
        return []
    width = max(place for line in kept for place, each in enumerate(line, 1) if each)
    names = _names([*kept[0], *[""] * width][:width], path, "")
    return [dict(zip(names, [*line, *[""] * width][:width], strict=True)) for line in kept[1:]]


def _cell(value: Any) -> str:
    """Return a cell as it is written: 7 for 7.0, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ")
    return str(value)


_LOADED: Final[Mapping[str, Callable[[str], list[Row]]]] = {".parquet": _parquet, ".xlsx": _workbook}
"""Files that are not text."""
