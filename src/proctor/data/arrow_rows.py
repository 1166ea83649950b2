"""Rows of Arrow tables, made when they are asked for: a million of them take the room of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

from proctor.data.fields import Row

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES: Final = 256 << 20
"""Bytes of a file that is held in memory; the library keeps larger ones on the disk."""

_DATE: Final = r"^\d{4}-\d{2}-\d{2}"
"""How texts begin that Arrow takes for points in time, where a whole column has them."""

_OF_TRACES: Final = "cwd"
"""A column of the logs of coding agents, which the library (since version 5) turns into conversations."""


def plain_table(path: Path) -> pa.Table | None:
    """Return the rows of a file of JSON lines as the ``datasets`` library would; ``None`` where it has to read them.

    Args:
        path: A file of this machine.
    """
    if not path.is_file() or not 0 < path.stat().st_size <= MOST_BYTES:
        return None
    with path.open("rb") as file:
        if file.read(1) != b"{":  # a list, a compressed file, a mark of its encoding
            return None
    table = _read(path)
    return table if table is not None and _is_plain(table) else None


def _read(path: Path) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import json

    try:
        table = json.read_json(path)
        table.validate(full=True)  # texts that are none
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        return None
    return table


def _is_plain(table: pa.Table) -> bool:
    """Whether each part of a table is read alike: texts that are not dates, whole numbers, truth values; no gaps."""
    import pyarrow as pa
    from pyarrow import compute

    names = table.column_names
    if not names or len(set(names)) < len(names) or _OF_TRACES in names:
        return False
    for column in table.columns:
        if column.null_count or column.type not in (pa.string(), pa.int64(), pa.bool_()):
            return False
        if column.type == pa.string() and compute.any(compute.match_substring_regex(column, _DATE)).as_py():
            return False
    return True


BATCH = 1000
"""Rows made at once: enough that the cost of a call into Arrow does not show."""

KEPT_BATCHES = 32
"""Batches that stay made. Small datasets are made once, and larger ones on each pass; demos are looked up in them."""

Columns = Mapping[str, Sequence[Any]]


class ArrowRows(Sequence[Row]):
    """The rows of a table as dictionaries; looking twice at one place may give two equal ones.

    Args:
        read: Returns the columns of the rows from one place to another as Python values.
        length: How many rows there are.
    """

    def __init__(self, read: Callable[[int, int], Columns], length: int) -> None:
        self._length = length
        self._batch = lru_cache(maxsize=KEPT_BATCHES)(lambda number: self._rows(number * BATCH))
        self._read = read

    @classmethod
    def of_dataset(cls, dataset: Any) -> ArrowRows:
        """Return the rows of a dataset of the ``datasets`` library, without its formatting."""
        plain = dataset.with_format(None)
        return cls(lambda start, end: plain[start:end], len(plain))

    @classmethod
    def of_table(cls, table: Any) -> ArrowRows:
        """Return the rows of a ``pyarrow.Table``."""
        return cls(lambda start, end: table.slice(start, end - start).to_pydict(), len(table))

    def _rows(self, start: int) -> list[Row]:
        columns = self._read(start, min(start + BATCH, self._length))
        names = list(columns)
        return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def __copy__(self) -> ArrowRows:
        return ArrowRows(self._read, self._length)  # with rows of its own

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(self._length))]
        wanted = place + self._length if place < 0 else place
        if not 0 <= wanted < self._length:
            raise IndexError(place)
        number, offset = divmod(wanted, BATCH)
        return self._batch(number)[offset]

    def __iter__(self) -> Iterator[Row]:
        for number in range(-(-self._length // BATCH)):
            yield from self._batch(number)
