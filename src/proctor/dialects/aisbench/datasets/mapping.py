"""User-supplied places of data for dataset classes that are not known here: a JSON file.

``PROCTOR_DATASET_MAP`` names it. Its keys are the ``abbr``, the type or the path of a dataset (looked up in this
order); a value is a file, or an object:

* ``file``: JSON lines, JSON, CSV, TSV or parquet, or an object of split → file; relative to the JSON file's folder;
* ``hub``, ``name``, ``splits``: a dataset of the hub, its configuration, and an object of split → the hub's split;
* ``columns``: new column → expression over the columns there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.fields import Row
from proctor.data.lazy_rows import AnyRow, read_through
from proctor.data.row_files import json_object, read_rows
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.errors import DataError
from proctor.ir import Failure
from proctor.lazy import Deferred
from proctor.safe_python import compile_expression

if TYPE_CHECKING:
    from proctor.data import hub
else:
    hub = Deferred("proctor.data.hub")

VARIABLE = "PROCTOR_DATASET_MAP"


def dataset_map(path: str | Path | None = None) -> tuple[Mapping[str, Any], Path]:
    """Return the user's map and the folder it lies in; empty where there is none.

    Raises:
        DataError: The file cannot be read, or is not a JSON object.
    """
    name = path or os.environ.get(VARIABLE)
    if not name:
        return {}, Path()
    file = Path(name).expanduser()
    return json_object(file), file.parent


def mapped_dataset(names: Sequence[str], path: str | Path | None = None) -> Splits | None:
    """Return the splits of the first of ``names`` that the user's map has, or ``None``.

    Raises:
        DataError: The entry is not one of those described above.
    """
    table, folder = dataset_map(path)
    name = next((each for each in names if each in table), None)
    if name is None:
        return None
    entry = table[name] if isinstance(table[name], dict) else {"file": table[name]}
    readers = _readers(entry, folder, name)
    columns = {
        column: compile_expression(text, ("re", "json", "math")) for column, text in entry.get("columns", {}).items()
    }
    return {split: partial(_rows, read, columns) for split, read in readers.items()}


def _readers(entry: Mapping[str, Any], folder: Path, name: str) -> Mapping[str, Callable[[], Iterator[AnyRow]]]:
    if "file" in entry:
        files = entry["file"] if isinstance(entry["file"], Mapping) else {WHOLE: entry["file"]}
        if all(isinstance(file, str) for file in files.values()):
            return {split: partial(_file, folder / file) for split, file in files.items()}
    elif isinstance(entry.get("hub"), str):
        dataset = hub.Dataset(entry["hub"], entry.get("name"))
        splits = entry.get("splits") or {each: each for each in hub.split_names(dataset)}
        return {split: partial(_hub, dataset, origin) for split, origin in splits.items()}
    raise DataError(f"the map of datasets has no 'file' and no 'hub' for '{name}'")


def _file(path: Path) -> Iterator[AnyRow]:
    return read_rows(path.expanduser(), passing=True)


def _hub(dataset: hub.Dataset, split: str) -> Iterator[Row]:
    return hub.rows(dataset, split)


def _rows(read: Callable[[], Iterator[AnyRow]], columns: Mapping[str, Callable[[Row], Any]]) -> Sequence[AnyRow]:
    return read_through(lambda: (_with_columns(row, columns) for row in read()), is_uniform=True)


def _with_columns(row: AnyRow, columns: Mapping[str, Callable[[Row], Any]]) -> AnyRow:
    if isinstance(row, Failure) or not columns:
        return row
    try:
        return {**row, **{name: make(row) for name, make in columns.items()}}
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, DataError) as error:
        return Failure(
            "row", f"the map of datasets makes no row of it: {type(error).__name__}: {error}", retryable=False
        )
