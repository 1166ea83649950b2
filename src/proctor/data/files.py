"""Loaders of files: CSV, JSON and JSON lines, IOB.

Values have the types that pandas gives them, because saved cards were written against that: numbers in CSV cells are
numbers, an empty cell is NaN. Small files are read at once; a large one is read twice, first for the types of its
columns, then in pieces, so that memory stays flat. A file that does not parse is reported with line and column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, cast

from typing_extensions import override

from proctor import foreign_text
from proctor.artifacts import NON_POSITIONAL
from proctor.data.bounds import check_file
from proctor.data.dataframes import frames, tabular
from proctor.data.fields import MISSING, Row, finder
from proctor.data.found_files import beside, file_named
from proctor.data.json_lines import unchanged_lines
from proctor.data.loaders import LazyLoader
from proctor.data.mapped_folder import local_file
from proctor.data.row_files import not_utf8
from proctor.effects import Effect, reading
from proctor.errors import (
    DataError,
    DatasetNotFoundError,
    Location,
    ProctorError,
    ValidationError,
    did_you_mean,
    reason_of,
)
from proctor.safe_files import Stamp, stamp_of

if TYPE_CHECKING:
    import pandas as pd

WHOLE_FILE_BYTES = 64 * 1024 * 1024
"""Files up to this size are read at once, which is faster; as rows they take a few times as much memory."""


_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst", ".tar")  # endings by which pandas itself unpacks a file
_EXPECTED_CELLS = re.compile(r"Expected (?P<cells>\d+) fields in line (?P<line>\d+)")


@contextmanager
def opened(path: str, mode: str = "rb", encoding: str | None = None) -> Iterator[IO[Any]]:
    """Open a file, or what an address leads to; what the mapped folder has of a URL is read there.

    Raises:
        DatasetNotFoundError: It does not exist or cannot be reached.
    """
    place = file_named(path)
    if place.endswith(_PACKED):
        check_file(place)
    try:
        with Path(place).open(mode, encoding=encoding) as file:
            yield file
    except OSError as error:
        raise DatasetNotFoundError(f"the file {path} cannot be read", why=reason_of(error)) from None


def located(path: str) -> str:
    """Return the path of a file: ``package:proctor.catalog.samples/data/x.jsonl`` lies inside this package.

    A URL is a file of the mapped folder, where that has it.

    Raises:
        DatasetNotFoundError: The path leaves the package.
    """
    scheme, _, rest = path.partition(":")
    if scheme != "package":
        return str(local_file(path) or path)
    module, _, inside = rest.partition("/")
    root = Path(__file__).resolve().parents[1]
    found = root.joinpath(*module.split(".")[1:], inside).resolve()
    if module.split(".")[0] != "proctor" or not found.is_relative_to(root):
        raise DatasetNotFoundError(f"'{path}' lies outside the package proctor", hint="give an ordinary path")
    return str(found)


class FileLoader(LazyLoader):
    """Base of loaders that read one file for each split.

    Attributes:
        files: A path or URL for each split.
        chunksize: Rows to hold in memory while reading a large file.
        compression: How the files are packed (``gzip``, ``zip`` …); guessed from their names where it is ``None``.
    """

    _default_policy = ["proprietary"]

    files: dict[str, str]
    chunksize: int = 1000
    loader_limit: Annotated[int | None, NON_POSITIONAL] = None
    streaming: Annotated[bool | None, NON_POSITIONAL] = True
    compression: str | None = None
    indirect_read: bool = False

    @override
    def get_splits(self) -> list[str]:
        return list(self.files)

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        path = self.files.get(split)
        if path is None:
            raise DatasetNotFoundError(
                f"there is no file for the split '{split}'", hint=did_you_mean(split, self.files)
            )
        self.act()
        return self.read(file_named(beside(located(path), self.author), self.author, self.type_name()))

    @override
    def effects(self) -> Iterable[Effect]:
        places = (beside(located(path), self.author) for path in self.files.values())
        return [effect for place in places for effect in reading(place, self.author, self.type_name())]

    def read(self, path: str) -> Iterator[Row]:  # noqa: ARG002 - for those who override it
        """Yield the rows of a file."""
        raise ValidationError(f"{type(self).__name__} does not define read(path)")

    def _is_large(self, path: str) -> bool:
        limit = self.get_limit()
        if limit is not None and limit <= self.chunksize:
            return False
        return Path(path).is_file() and Path(path).stat().st_size > WHOLE_FILE_BYTES

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self.compression is not None:
            options["compression"] = self.compression
        if (limit := self.get_limit()) is not None:
            options["nrows"] = limit
        return options


def records(pieces: Iterable[pd.DataFrame]) -> Iterator[Row]:
    """Yield the rows of data frames as dicts of plain Python values."""
    for frame in pieces:
        names = frame.columns.tolist()
        columns = [column.tolist() for _, column in frame.items()]
        if names and frame.columns.is_unique and all(_NATIVE.issuperset(map(type, column)) for column in columns):
            for values in zip(*columns, strict=True):
                yield dict(zip(names, values, strict=True))
        else:
            yield from cast("list[Row]", frame.to_dict("records"))


_NATIVE = frozenset({str, int, float, bool, type(None), list, dict})
"""What ``to_dict`` leaves as it is; it looks at every single value, which takes three times as long."""


class LoadCSV(FileLoader):
    r"""Rows of CSV files.

    Attributes:
        sep: What separates cells (``"\t"`` for TSV).
        column_names: Names of the columns, for files without a header.
    """

    sep: str = ","
    column_names: list[str] | None = None

    @override
    def read(self, path: str) -> Iterator[Row]:
        path = file_named(path)  # a missing file is reported before pandas is imported
        if self.compression is not None:
            check_file(path)
        options = {"sep": self.sep, "low_memory": bool(self.streaming), **self._options()}
        if self.column_names is not None:
            options.update(names=self.column_names, header=None)
        import pandas as pd

        try:
            if not self._is_large(path):
                yield from records([pd.read_csv(path, **options)])
                return
            options["chunksize"] = self.chunksize
            with pd.read_csv(path, **options) as chunks:
                types = column_types(chunks)
            with pd.read_csv(path, dtype=types, **options) as chunks:
                yield from records(chunks)
        except pd.errors.ParserError as error:
            raise self._malformed(path, error) from None
        except pd.errors.EmptyDataError:
            raise DataError("the file is empty", location=Location(path)) from None
        except UnicodeDecodeError as error:
            raise not_utf8(path, error) from None

    def _malformed(self, path: str, error: Exception) -> DataError:
        place = _EXPECTED_CELLS.search(str(error))
        cells, line = (int(place["cells"]), int(place["line"])) if place else (0, 0)
        column = _column_of_cell(path, line, cells, self.sep)
        return DataError("the file is not valid CSV", location=Location(path, line, column), why=str(error).strip())


def _column_of_cell(path: str, line: int, cell: int, separator: str) -> int:
    """Return the character column at which the first cell too many starts, 0 where that is unknown."""
    with opened(path, "r", "utf-8") as file:
        text = next((text for number, text in enumerate(file, 1) if number == line), "")
    parts = text.split(separator)
    return len(separator.join(parts[:cell])) + len(separator) + 1 if 0 < cell < len(parts) else 0


def column_types(chunks: Iterable[pd.DataFrame]) -> dict[str, Any]:
    """Return the types of columns that hold for all chunks of a file, as if it were read at once."""
    from numpy import result_type

    types: dict[str, Any] = {}
    for chunk in chunks:
        for name, kind in chunk.dtypes.items():
            known = types.get(str(name), kind)
            numbers = known.kind in "iuf" and kind.kind in "iuf"
            types[str(name)] = kind if known == kind else result_type(known, kind) if numbers else object
    return types


class LoadJsonFile(FileLoader):
    """Rows of JSON files: an array of objects, one object, or an object on each line.

    Attributes:
        lines: Each line is an object.
        data_field: Where in the file the array is, as a path ``a/b``.
    """

    lines: bool = False
    data_field: str | None = None

    @override
    def verify(self) -> None:
        super().verify()
        if self.lines and self.data_field is not None:
            raise ValidationError("'data_field' cannot be used with lines=True", why="each line is a row")

    @override
    def read(self, path: str) -> Iterator[Row]:
        path = file_named(path)
        return self._read_lines(path) if self.lines else iter(self._read_document(path))

    def _read_document(self, path: str) -> Iterable[Row]:
        with opened(path) as file:
            data = parse_json(file.read(), path)
        if self.data_field:
            found = finder(self.data_field)(data)
            if found is MISSING:
                raise DataError(f"the file has no '{self.data_field}'", location=Location(path), hint=_keys_hint(data))
            data = found
        elif isinstance(data, dict):
            data = [data]
        if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
            place = f"'{self.data_field}' of the file" if self.data_field else "the file"
            raise DataError(f"{place} is not a list of objects", location=Location(path))
        return tabular(data)

    def _read_lines(self, path: str) -> Iterator[Row]:
        options = {"lines": True, **self._options()}
        if self.compression is not None or path.endswith(_PACKED):
            check_file(path, is_json=True)
        is_large = self._is_large(path)
        if self.compression is None and not path.endswith(_PACKED):
            if not is_large:
                with opened(path) as file:
                    found = unchanged_lines(file, self.get_limit())
                    if found is not None:
                        yield from found
                        return
            check_lines(path, self.get_limit())  # pandas forgives what other readers of the file would not
        try:
            if is_large:
                yield from self._read_pieces(path, {**options, "chunksize": self.chunksize})
                return
            with frames() as pd:
                whole = pd.read_json(path, **options)
        except ProctorError:
            raise
        except ValueError as error:
            raise DataError("the file cannot be read as JSON lines", location=Location(path), why=str(error)) from None
        yield from records([whole])

    @staticmethod
    def _read_pieces(path: str, options: dict[str, Any]) -> Iterator[Row]:
        with frames() as pd, pd.read_json(path, **options) as pieces:
            types = column_types(pieces)
            again = pd.read_json(path, dtype=types, **options)
        with again as pieces:
            yield from records(pieces)


def _keys_hint(data: Any) -> str:
    return f"it has {', '.join(map(str, data))}" if isinstance(data, Mapping) else ""


def parse_json(text: bytes | str, path: str, line: int = 0) -> Any:
    """Return the value of a JSON text.

    Raises:
        DataError: It does not parse; with line and column.
    """
    try:
        return foreign_text.parse_json(text)
    except json.JSONDecodeError as error:
        place = Location(path, line or error.lineno, error.colno)
        raise DataError("the file is not valid JSON", location=place, why=error.msg) from None
    except UnicodeDecodeError as error:
        raise not_utf8(path, error, line) from None


def check_lines(path: str, limit: int | None = None) -> None:
    """Check that the first lines of a file are JSON objects.

    Raises:
        DataError: One is not; with line and column.
    """
    try:
        stamp = stamp_of(path)
    except OSError:  # an address, or a file that is not there: whoever opens it says so
        _check_lines(path, limit, ())
        _check_lines.cache_clear()
    else:
        _check_lines(path, limit, stamp)


@lru_cache(maxsize=1024)
def _check_lines(path: str, limit: int | None, changed: Stamp) -> None:
    """Check a version of a file once: exams are read for asking and again for grading."""
    del changed
    with opened(path) as file:
        for number, line in enumerate(islice(file, limit), 1):
            if line.strip() and not isinstance(parse_json(line, path, number), dict):
                raise DataError("the line is not a JSON object", location=Location(path, number, 1))
