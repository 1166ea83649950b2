"""Datasets of the Hugging Face hub as tables: ``hf/ORG/DATASET[/CONFIGURATION][/SPLIT][@REVISION]``.

Where a dataset brings its exam along (``eval.yaml``), that is meant and not its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from proctor.data import hub
from proctor.data.dataset_file import dataset_file
from proctor.data.hub_dataset import not_there
from proctor.dialects.tables.reader import Row, Rows, class_names, columns_of, read_table, with_class_names
from proctor.dialects.tables.usual_columns import usual_answers
from proctor.effects import author
from proctor.errors import DatasetNotFoundError, UsageError
from proctor.logs import get_logger

PREFIX: Final = "hf/"
_EXAM: Final = "eval.yaml"
_SPLITS: Final = ("test", "validation", "valid", "val", "dev", "train")
"""Splits that are asked where nobody names one: the first that there is."""
_OF_DEMOS: Final = ("train", "dev", "validation")
"""Splits that demos come from: the first that is not asked."""
_PARTS: Final = range(2, 5)
_PART: Final = re.compile(r"\w[\w.-]*")
"""Of a dataset's name: nothing that leads to another folder."""


class HubTable(NamedTuple):
    """The rows of a split, the dataset, and the rows that demos come from where these are of another split."""

    rows: Rows
    source: hub.Dataset
    demos: Callable[[], Rows] | None


def hub_table(name: str) -> HubTable | None:
    """Return the rows that a name means; ``None`` where the dataset brings an exam along.

    Raises:
        UsageError: The name is not that of a dataset.
        NotAllowedError: A file names it, and nobody allowed that to ask the hub.
        DatasetNotFoundError: The dataset, the configuration or the split is neither mapped, nor cached, nor on the hub.
    """
    spec, _, revision = name.removeprefix(PREFIX).partition("@")
    parts = spec.split("/")
    if len(parts) not in _PARTS or not all(map(_PART.fullmatch, parts)):
        raise UsageError(f"'{name}' names no dataset", hint="write hf/ORG/DATASET, hf/ORG/DATASET/CONFIGURATION")
    path = "/".join(parts[:2])
    whole = hub.Dataset(path, revision=revision or None, author=author())
    whole.act()
    try:
        dataset_file(path, _EXAM, revision or None)
    except DatasetNotFoundError:
        source, split = _chosen(whole, parts[2:])
        rows = _rows_of(source, split)
        if parts[-1] != split:
            split, rows, why = _labelled(source, split, rows)
            get_logger().warning("%s: the split '%s' is asked%s", name, split, why)
        others = [each for each in hub.split_names(source) if each != split]
        pool = next((each for each in _OF_DEMOS if each in others), None)
        return HubTable(rows, source, None if pool is None else partial(_rows_of, source, pool))
    return None


def _chosen(whole: hub.Dataset, named: Sequence[str]) -> tuple[hub.Dataset, str]:
    """Return the dataset with its configuration, and the split: one part alone may be either."""
    if not named:
        return whole, _split_of(whole, hub.split_names(whole))
    source = replace(whole, name=named[0])
    try:
        splits = hub.split_names(source)
    except DatasetNotFoundError:
        if len(named) == 1 and named[0] in _splits_of(whole):
            return whole, named[0]
        raise
    return source, _split_of(source, splits, *named[1:])


def _splits_of(whole: hub.Dataset) -> Sequence[str]:
    try:
        return hub.split_names(whole)
    except DatasetNotFoundError:
        return ()


def _split_of(source: hub.Dataset, splits: Sequence[str], named: str = "") -> str:
    if named and named not in splits:
        raise not_there(source, "split", named, splits)
    return named or next((each for each in _SPLITS if each in splits), splits[0])


def _labelled(source: hub.Dataset, split: str, rows: Rows) -> tuple[str, Rows, str]:
    """Return the split that is asked, its rows and why it is another than the usual one, whose answers are secret."""
    others = [each for each in _SPLITS if each != split and each in hub.split_names(source)]
    if others and _is_secret(rows) and not _is_secret(found := _rows_of(source, others[0])):
        return others[0], found, f", since '{split}' has no right answers"
    return split, rows, ""


def _is_secret(rows: Rows) -> bool:
    answer = usual_answers(rows, columns_of(rows))
    return answer is not None and all(row.get(answer) in (None, "") for row in rows)


def _rows_of(source: hub.Dataset, split: str) -> Rows:
    folder = hub.local_folder(source.path)
    files = None if folder is None else hub.mapped_files(folder, source)
    if files is not None:
        return [row for file in files[split] for row in read_table(file)]
    found = hub.library_split(source, split)
    rows: Sequence[Row] = list(hub.rows_of(found))
    return with_class_names(rows, class_names(found))
