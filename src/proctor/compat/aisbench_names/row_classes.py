"""Dataset classes of AISBench and OpenCompass as programs use them: ``GSM8KDataset.load(path=…)`` returns rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial, wraps
from typing import Any

from proctor.compat.aisbench_names import base_datasets, error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.loader_seams import LoaderSeams
from proctor.compat.opencompass_names import datasets as opencompass
from proctor.dialects.aisbench.datasets import dataset_splits
from proctor.dialects.aisbench.datasets.dataset_spec import DatasetSpec
from proctor.dialects.aisbench.datasets.dataset_specs import spec_of
from proctor.dialects.aisbench.datasets.splits import WHOLE
from proctor.dialects.aisbench.signatures import Signature, signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError, DatasetNotFoundError
from proctor.ir import Failure

_TOPS = {"aisbench": "ais_bench.benchmark.datasets", "opencompass": "opencompass.datasets"}


class MissingFileError(DatasetNotFoundError, FileNotFoundError):
    """A file of a dataset that is not there: a ``FileNotFoundError``, which programs wait for."""


@cache
def dataset_class(name: str, project: str) -> type[Any] | None:
    """Return the class of a dataset type by its name, or by its module and name; ``None`` where Proctor has none."""
    spec = spec_of(name, project)
    if spec is None:
        return None
    short = name.rpartition(".")[2]
    kind, taken = Reference(f"{_TOPS[project]}.{name}"), signature(project, "datasets", short)

    def load(*arguments: Any, **named: Any) -> Any:
        given = _named_arguments(f"{short}.load", taken, arguments, named)
        if "path" in spec.wanted() and "path" not in given:
            code = error_codes.DSET_CODES.INVALID_DATASET_CONFIG  # type: ignore[attr-defined]
            raise errors.ConfigError(code, f"{short}.load needs the argument 'path'")  # type: ignore[attr-defined]
        seams = LoaderSeams(made)
        with seams.reading():
            given = seams.resolved(given)
            load_dataset = seams.replaced("load_dataset")
            if load_dataset is None:
                found = dataset_splits({**given, "type": kind})
            else:
                loaded = _loaded(spec, load_dataset, given)
                if _has_columns_only(loaded, spec):
                    return _remade(loaded, spec, given)
                parts = dict(loaded) if isinstance(loaded, Mapping) else {WHOLE: loaded}
                found = spec.over({split: partial(list, rows) for split, rows in parts.items()}, given)
            splits = {key: _rows(read(), seams.replaced("Dataset")) for key, read in found.items()}
        return splits[WHOLE] if splits.keys() == {WHOLE} else _together(splits)

    @wraps(load)
    def loading(*arguments: Any, **named: Any) -> Any:
        try:
            return load(*arguments, **named)
        except DatasetNotFoundError as error:
            raise MissingFileError(error.diagnostics) from error

    loading.__doc__ = "Return the rows, or splits of rows."
    body: dict[str, Any] = {"load": staticmethod(loading), "__doc__": f"``{short}``, with the rows that Proctor reads."}
    base = base_datasets.BaseDataset if project == "aisbench" else opencompass.BaseDataset
    made = type(short, (base,), body)
    return made


def _named_arguments(
    function: str, taken: Signature | None, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all arguments by name.

    Raises:
        TypeError: There are too many, or one lacks that is needed, as Python says it.
    """
    order, needed = ([], ()) if taken is None else ([*taken.needed, *taken.defaults], taken.needed)
    if len(arguments) > len(order):
        raise TypeError(f"{function} takes {len(order)} arguments at most, and {len(arguments)} are given")
    given = {**dict(zip(order, arguments, strict=False)), **named}
    if missing := [each for each in needed if each not in given]:
        raise TypeError(f"{function} needs {', '.join(missing)}")
    return given


def _loaded(spec: DatasetSpec, load: Any, given: dict[str, Any]) -> Any:
    """Return what a program's own ``load_dataset`` gives."""
    return load("json", data_files=spec.file_names(given)) if spec.files else load(**spec.load_arguments(given))


def _has_columns_only(loaded: Any, spec: DatasetSpec) -> bool:
    """Whether a program's splits are no rows, but have columns that can be asked for, as upstream asks."""
    from datasets import Dataset, DatasetDict

    is_rows = isinstance(loaded, Dataset | DatasetDict | list) or (isinstance(loaded, Mapping) and bool(loaded))
    return isinstance(spec.files, Mapping) and not is_rows and hasattr(loaded, "__setitem__")


def _remade(loaded: Any, spec: DatasetSpec, given: dict[str, Any]) -> Any:
    """Put the rows that columns stand for in the place of the splits that have them; return what was loaded."""
    from datasets import Dataset

    names = spec.column_names()
    for split in spec.files:
        columns = loaded[split]
        rows = [{name: columns[name][place] for name in names} for place in range(len(columns))]
        loaded[split] = Dataset.from_list(list(spec.over({split: partial(list, rows)}, given)[split]()))
    return loaded


def _rows(rows: Sequence[Any], maker: Any = None) -> Any:
    """Return rows as a ``Dataset``; as a list where its columns cannot hold them.

    Args:
        rows: The rows.
        maker: What a program has put in the place of ``Dataset``.

    Raises:
        DataError: One of them cannot be used.
    """
    from datasets import Dataset

    listed = list(rows)
    if wrong := next((each for each in listed if isinstance(each, Failure)), None):
        raise DataError(wrong.message)
    if maker is not None:
        return maker.from_list([dict(each) for each in listed])
    try:
        return Dataset.from_list([dict(each) for each in listed])
    except (TypeError, ValueError, OverflowError):  # values of several types in a column: pyarrow has no such column
        return listed


def _together(splits: dict[str, Any]) -> Any:
    from datasets import Dataset, DatasetDict

    plain = all(isinstance(each, Dataset) for each in splits.values())
    return DatasetDict(splits) if plain else splits
