"""Columns: what metrics see, and instance scores that cost little (constant ones, and ones that few instances have)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, overload

from proctor.data.policy import POLICY_FIELD
from proctor.ir import Response


@dataclass(frozen=True, slots=True)
class Columns:
    """What metrics see, one entry for each thing that is graded. Columns may be lazy; most metrics touch only two.

    Attributes:
        predictions: What is scored. Before processors the raw answer, after them the task's ``prediction_type``. A
            :class:`~proctor.ir.Failure` stands where there is no prediction.
        references: Acceptable answers of each instance.
        task_data: Fields of the task, with ``metadata``; of other dialects the row.
        responses: The responses behind each prediction, where a model was asked here.
        classes: Data classification of each instance (``public``, ``proprietary`` …), where it is known.
        rows: Further fields beside these, where instances are rows that no task made.
        prompts: What was asked, where a scorer needs it.
        raw: What was answered, before text functions.
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    task_data: Sequence[Mapping[str, Any]] = ()
    responses: Sequence[Sequence[Response]] = ()
    classes: Sequence[Sequence[str]] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    prompts: Sequence[Any] = ()
    raw: Sequence[Any] = ()

    def __len__(self) -> int:
        return len(self.predictions)

    def select(self, positions: Sequence[int]) -> Columns:
        """Return the entries at ``positions``; the same columns where that is all of them."""
        if len(positions) == len(self) and _is_everything(positions):
            return self
        return Columns(
            picked(self.predictions, positions),
            picked(self.references, positions),
            picked(self.task_data, positions),
            picked(self.responses, positions),
            picked(self.classes, positions),
            picked(self.rows, positions),
            picked(self.prompts, positions),
            picked(self.raw, positions),
        )

    def all_fields(self) -> Sequence[Mapping[str, Any]]:
        """Return the task data of every instance."""
        return self.task_data or [{}] * len(self)


def picked(column: Sequence[Any], positions: Sequence[int]) -> Sequence[Any]:
    """Return the entries of a column at positions, nothing of a column that is not there."""
    if not column:
        return column
    at: Callable[[Sequence[int]], Sequence[Any]] | None = getattr(column, "at", None)
    return [column[position] for position in positions] if at is None else at(positions)


def _is_everything(positions: Sequence[int]) -> bool:
    if isinstance(positions, range):
        return positions == range(len(positions))
    return all(place == position for place, position in enumerate(positions))


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return rows as columns; what is neither prediction nor references stays a field beside them."""
    named = ("prediction", "references", "task_data")
    return Columns(
        [row.get("prediction") for row in rows],
        [row.get("references", []) for row in rows],
        [row.get("task_data", row) for row in rows],
        classes=[row.get(POLICY_FIELD) or [] for row in rows],
        rows=[{name: value for name, value in row.items() if name not in named} for row in rows],
    )


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
