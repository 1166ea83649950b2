"""Dataset classes of AISBench and OpenCompass as programs use them: ``GSM8KDataset.load(path=…)`` returns rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from proctor.compat.aisbench_names import base_datasets
from proctor.compat.opencompass_names import datasets as opencompass
from proctor.dialects.aisbench.datasets import dataset_splits
from proctor.dialects.aisbench.datasets.dataset_specs import spec_of
from proctor.dialects.aisbench.datasets.splits import WHOLE
from proctor.dialects.aisbench.signatures import signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError
from proctor.ir import Failure

_TOPS = {"aisbench": "ais_bench.benchmark.datasets", "opencompass": "opencompass.datasets"}


@cache
def dataset_class(name: str, project: str) -> type[Any] | None:
    """Return the class of a dataset type by its name; ``None`` where Proctor has none."""
    if spec_of(name, project) is None:
        return None
    kind, taken = Reference(f"{_TOPS[project]}.{name}"), signature(project, "datasets", name)
    order = [] if taken is None else [*taken.needed, *taken.defaults]

    def load(*arguments: Any, **named: Any) -> Any:
        if len(arguments) > len(order):
            raise TypeError(f"{name}.load takes {len(order)} arguments at most, and {len(arguments)} are given")
        given = dict(zip(order, arguments, strict=False))
        splits = {key: _rows(read()) for key, read in dataset_splits({**given, **named, "type": kind}).items()}
        return splits[WHOLE] if splits.keys() == {WHOLE} else _together(splits)

    load.__doc__ = "Return the rows, or splits of rows."
    made: dict[str, Any] = {"load": staticmethod(load), "__doc__": f"``{name}``, with the rows that Proctor reads."}
    base = base_datasets.BaseDataset if project == "aisbench" else opencompass.BaseDataset
    return type(name, (base,), made)


def _rows(rows: Sequence[Any]) -> Any:
    """Return rows as a ``Dataset``; as a list where its columns cannot hold them.

    Raises:
        DataError: One of them cannot be used.
    """
    from datasets import Dataset

    listed = list(rows)
    if wrong := next((each for each in listed if isinstance(each, Failure)), None):
        raise DataError(wrong.message)
    try:
        return Dataset.from_list([dict(each) for each in listed])
    except (TypeError, ValueError, OverflowError):  # values of several types in a column: pyarrow has no such column
        return listed


def _together(splits: dict[str, Any]) -> Any:
    from datasets import Dataset, DatasetDict

    plain = all(isinstance(each, Dataset) for each in splits.values())
    return DatasetDict(splits) if plain else splits
