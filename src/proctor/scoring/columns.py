"""Columns of instance scores that cost little: constant ones, and ones that few instances have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, overload


class _Absent(Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent.ABSENT
"""Stands in a column where an instance does not have the score at all (``None``: it has it, without a value)."""


class ConstantColumn(Sequence[Any]):
    """The same value for every instance."""

    def __init__(self, value: Any, length: int) -> None:
        self._value = value
        self._length = length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ConstantColumn(self._value, len(range(*index.indices(self._length))))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._value

    def __len__(self) -> int:
        return self._length


class SparseColumn(Sequence[Any]):
    """Values of some instances; the others have ``missing``."""

    def __init__(self, values: Mapping[int, Any], length: int, missing: Any = ABSENT) -> None:
        self._values = values
        self._length = length
        self._missing = missing

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._values.get(index % self._length, self._missing)

    def __len__(self) -> int:
        return self._length


def to_columns(rows: Iterable[Mapping[str, Any]], length: int) -> dict[str, Sequence[Any]]:
    """Turn one dict per instance into columns; keys that few instances have become sparse columns."""
    dense: dict[str, list[Any]] = {}
    sparse: dict[str, dict[int, Any]] = {}
    for position, row in enumerate(rows):
        for key, value in row.items():
            if (column := dense.get(key)) is not None and len(column) == position:
                column.append(value)
            elif position == 0:
                dense[key] = [value]
            else:
                sparse.setdefault(key, {})[position] = value
    columns: dict[str, Sequence[Any]] = {}
    for key, column in dense.items():
        if len(column) == length:
            columns[key] = column
        else:
            columns[key] = SparseColumn({**dict(enumerate(column)), **sparse.pop(key, {})}, length)
    columns.update({key: SparseColumn(values, length) for key, values in sparse.items()})
    return columns


def scatter(column: Sequence[Any], positions: Sequence[int], length: int) -> Sequence[Any]:
    """Put the entries of ``column`` at ``positions`` of a longer column that has ``None`` elsewhere."""
    if len(positions) == length:
        return column
    return SparseColumn(dict(zip(positions, column, strict=True)), length, missing=None)


def row_of(columns: Mapping[str, Sequence[Any]], position: int) -> dict[str, Any]:
    """Return the scores that one instance has."""
    row = {name: column[position] for name, column in columns.items()}
    return {name: value for name, value in row.items() if value is not ABSENT}


def rows_of(columns: Mapping[str, Sequence[Any]], length: int) -> Iterator[dict[str, Any]]:
    """Yield the scores of every instance."""
    for position in range(length):
        yield row_of(columns, position)
