"""Rows of a dataset, read by column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from proctor.errors import ScoringError
from proctor.foreign_text import check_depth, parse_json

NEEDED = ("references", "metrics", "postprocessors", "task_data")


class Table:
    """The rows of one split as columns.

    Args:
        dataset: A Hugging Face dataset, or an iterable of rows.
        with_references: Whether rows need references; those that a program brings have none.

    Raises:
        ScoringError: It is several splits, or rows that did not come from a recipe.
    """

    def __init__(self, dataset: Any, *, with_references: bool = True) -> None:
        if isinstance(dataset, Mapping):
            raise ScoringError(
                "a dataset with several splits cannot be evaluated",
                why=f"it has {', '.join(map(str, dataset))}",
                hint="pass one split, as in evaluate(predictions, dataset['test'])",
            )
        self.columns = _hub_columns(dataset) if hasattr(dataset, "with_format") else _row_columns(dataset)
        self._check([name for name in NEEDED if with_references or name != "references"])

    def _check(self, needed: Sequence[str]) -> None:
        missing = [name for name in needed if name not in self.columns]
        if missing:
            raise ScoringError(
                f"the rows have no '{missing[0]}'",
                why=f"they have {', '.join(self.columns) or 'nothing'}",
                hint="load the dataset with a recipe: load_dataset(card=…, template=…)",
            )

    def __len__(self) -> int:
        return len(self.columns["task_data"])

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self.columns[name]

    def get(self, name: str, default: object) -> Sequence[Any]:
        """Return a column, or one that holds ``default`` everywhere."""
        return self.columns[name] if name in self.columns else [default] * len(self)

    def task_data(self) -> list[dict[str, Any]]:
        """Return the task data of each row, decoded; each dict is new."""
        return [decoded(value) for value in self.columns["task_data"]]

    def row(self, position: int) -> dict[str, Any]:
        """Return one row."""
        return {name: column[position] for name, column in self.columns.items()}


def _hub_columns(dataset: Any) -> dict[str, Sequence[Any]]:
    if not hasattr(dataset, "__len__"):
        return _row_columns(dataset)
    table = dataset.with_format("arrow")[:]
    columns: dict[str, Sequence[Any]] = {name: table.column(name).to_pylist() for name in table.column_names}
    if "source" in columns:
        columns["source"] = [_messages(text) for text in columns["source"]]
    return columns


def _messages(text: Any) -> Any:
    if isinstance(text, str) and text.startswith(('[{"role":', '[{"content":')):
        return parse_json(text)
    return text


def _row_columns(rows: Iterable[Any]) -> dict[str, Sequence[Any]]:
    columns: dict[str, list[Any]] = {}
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ScoringError(
                f"row {position} of the dataset is a {type(row).__name__}",
                hint="pass one split of a dataset, or a list of rows",
            )
        for name, value in row.items():
            columns.setdefault(name, [None] * position).append(value)
        for column in columns.values():
            if len(column) == position:
                column.append(None)
    return dict(columns)


def decoded(value: Any) -> dict[str, Any]:
    """Return task data as a new dict, from JSON text or from a mapping.

    Raises:
        ScoringError: It is neither.
    """
    if isinstance(value, Mapping):
        return dict(value)
    try:
        found = _decode(value)
    except (msgspec.DecodeError, json.JSONDecodeError, TypeError) as error:
        raise ScoringError("the task data of a row is not JSON", why=str(error)) from None
    if not isinstance(found, dict):
        raise ScoringError(f"the task data of a row is a {type(found).__name__}, not an object")
    return found


def _decode(text: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return parse_json(text)  # NaN and Infinity, which Python writes and JSON does not know
    check_depth(text, value)
    return value
