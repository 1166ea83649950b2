"""Splits of a dataset type by name, each a function that reads it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from proctor.data.fields import Row
from proctor.data.lazy_rows import AnyRow
from proctor.errors import DataError
from proctor.ir import Failure
from proctor.safe_python import compile_expression

ALL = "*"
"""Stands for every split."""


def usable(rows: Iterable[AnyRow]) -> Iterator[Row]:
    """Yield rows that have to be seen together.

    Raises:
        DataError: One of them cannot be used.
    """
    for row in rows:
        if isinstance(row, Failure):
            raise DataError(row.message, why="the dataset type makes its rows of all rows together")
        yield row


def joined(read: Sequence[Sequence[AnyRow]], names: Sequence[str]) -> list[AnyRow]:
    """Return rows whose columns come from several files, line by line; lines of text are ``line0``, ``line1`` ….

    Raises:
        DataError: The files differ in length.
    """
    if len(read) == 1:
        return list(read[0])
    if len({len(rows) for rows in read}) != 1:
        lengths = ", ".join(f"{name} has {len(rows)}" for name, rows in zip(names, read, strict=True))
        raise DataError("files that belong together differ in their number of lines", why=lengths)
    return [_beside(parts) for parts in zip(*read, strict=True)]


def _beside(parts: Sequence[AnyRow]) -> AnyRow:
    made: dict[str, Any] = {}
    for file, row in enumerate(parts):
        if isinstance(row, Failure):
            return row
        made |= {f"line{file}" if key == "line" else key: value for key, value in row.items()}
    return made


def drawn(rows: list[Row], sample: Sequence[Any], split: str, arguments: Mapping[str, Any]) -> list[Row]:
    """Return rows drawn as upstream draws them; all, where nothing asks for it.

    Args:
        rows: Of the split.
        sample: As :class:`~.dataset_spec.DatasetSpec` has it.
        split: Its name.
        arguments: Of the config.

    Raises:
        DataError: More rows are asked for than there are.
    """
    asked, of_split, size, seed = sample
    if not arguments.get(asked) or of_split not in (split, ALL):
        return rows
    count = compile_expression(size)({"count": len(rows), "args": arguments})
    if count is None:
        return rows
    if count > len(rows):
        raise DataError(f"{asked} draws {count} rows", why=f"the dataset has {len(rows)}")
    return random.Random(seed).sample(rows, count)


def split_of(splits: Splits, name: str) -> Callable[[], Sequence[Row]]:
    """Return a function that reads a split; it says which splits there are where there is none of the name."""

    def read() -> Sequence[Row]:
        if name not in splits:
            raise DataError(f"the dataset has no split '{name}'", why=f"it has {', '.join(map(repr, splits))}")
        return splits[name]()

    return read


Splits = Mapping[str, Callable[[], Sequence[Any]]]
"""Splits of a dataset, each a function that reads its rows; a failure stands for one that cannot be used."""

WHOLE = ""
"""Name of the only split of a dataset that has none."""
