"""Dataset classes of OpenCompass and AISBench: ``GSM8KDataset.load(path=…)`` returns rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from proctor.dialects.aisbench.classes.base_datasets import AisDataset, BaseDataset
from proctor.dialects.aisbench.datasets import dataset_splits
from proctor.dialects.aisbench.datasets.dataset_specs import spec_of
from proctor.dialects.aisbench.datasets.splits import WHOLE
from proctor.dialects.aisbench.signatures import Signature, signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError, DatasetNotFoundError
from proctor.ir import Failure

TOPS = {"aisbench": "ais_bench.benchmark.datasets", "opencompass": "opencompass.datasets"}


class MissingFileError(DatasetNotFoundError, FileNotFoundError):
    """A file of a dataset that is not there; also a ``FileNotFoundError``."""


@cache
def dataset_class(name: str, project: str = "opencompass") -> type[Any] | None:
    """Return the class of a dataset type; ``None`` where Proctor has none.

    Args:
        name: Its name, or its module and name.
        project: ``opencompass`` or ``aisbench``.
    """
    if (spec := spec_of(name, project)) is None:
        return None
    short = name.rpartition(".")[2]
    kind, taken = Reference(f"{TOPS[project]}.{name}"), signature(project, "datasets", short)

    def load(*arguments: Any, **named: Any) -> Any:
        """Return the rows, or splits of rows."""
        given = _named_arguments(f"{short}.load", taken, arguments, named)
        if "path" in spec.wanted() and "path" not in given:
            raise TypeError(f"{short}.load needs the argument 'path'")
        try:
            splits = {key: _rows(read()) for key, read in dataset_splits({**given, "type": kind}).items()}
        except DatasetNotFoundError as error:
            raise MissingFileError(error.diagnostics) from error
        return splits[WHOLE] if splits.keys() == {WHOLE} else _together(splits)

    body: dict[str, Any] = {"load": staticmethod(load), "__doc__": f"``{short}``, with the rows that Proctor reads."}
    return type(short, (AisDataset if project == "aisbench" else BaseDataset,), body)


def _named_arguments(
    function: str, taken: Signature | None, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all arguments by name.

    Raises:
        TypeError: There are too many, or one lacks that is needed.
    """
    order, needed = ([], ()) if taken is None else ([*taken.needed, *taken.defaults], taken.needed)
    if len(arguments) > len(order):
        raise TypeError(f"{function} takes {len(order)} arguments at most, and {len(arguments)} are given")
    given = {**dict(zip(order, arguments, strict=False)), **named}
    if missing := [each for each in needed if each not in given]:
        raise TypeError(f"{function} needs {', '.join(missing)}")
    return given


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
