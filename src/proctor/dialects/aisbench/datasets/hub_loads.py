"""``HFDataset`` and its kin: what a class loads with the arguments of ``datasets.load_dataset``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from proctor.data.fields import Row
from proctor.data.lazy_rows import read_through
from proctor.dialects.aisbench.datasets.files import find_file, hub_id, hub_source, local_path
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.effects import author_of_file
from proctor.errors import DataError, DatasetNotFoundError, Location
from proctor.lazy import Deferred

if TYPE_CHECKING:
    from proctor.data import hub
else:
    hub = Deferred("proctor.data.hub")

_FILE_KINDS = {"json", "csv", "parquet", "text"}
_OWN = {"path", "name", "split", "data_files", "data_dir", "revision", "streaming", "num_proc", "trust_remote_code"}


def loaded_splits(arguments: Mapping[str, Any], place: Location | None = None) -> Splits:
    """Return the splits that ``datasets.load_dataset(**arguments)`` gives; nothing is read before it is asked for.

    Raises:
        DataError: ``path`` is missing.
        DatasetNotFoundError: The dataset or a file of it is nowhere.
    """
    if not isinstance(arguments.get("path"), str):
        raise DataError("the dataset needs the argument 'path'", location=place)
    if arguments["path"] in _FILE_KINDS and arguments.get("data_files") is not None:
        return _file_splits(arguments, place)
    dataset = _dataset(arguments, arguments.get("data_files"), place)
    split = arguments.get("split")
    if split is not None:
        return {WHOLE: partial(_rows, dataset, str(split))}
    return {name: partial(_rows, dataset, name) for name in hub.split_names(dataset)}


def _file_splits(arguments: Mapping[str, Any], place: Location | None) -> Splits:
    files = arguments["data_files"]
    by_split = files if isinstance(files, Mapping) else {"train": files}
    readers = {str(name): _reader(arguments, paths, place) for name, paths in by_split.items()}
    split = arguments.get("split")
    if split is None:
        return readers
    if str(split) not in readers:
        dataset = _dataset(arguments, {name: _found(paths, place) for name, paths in by_split.items()}, place)
        return {WHOLE: partial(_rows, dataset, str(split))}
    return {WHOLE: readers[str(split)]}


def _reader(arguments: Mapping[str, Any], paths: Any, place: Location | None) -> Callable[[], Sequence[Row]]:
    names = [local_path(path) for path in ([paths] if isinstance(paths, str) else paths)]

    def read() -> Sequence[Row]:
        sources = [hub_source(name) if find_file(name, place) is None else None for name in names]
        if all(sources):
            return [row for source, name in zip(sources, names, strict=True) if source for row in source.rows(name)]
        dataset = _dataset(arguments, {"train": _found(names, place)}, place)
        return _rows(dataset, "train")

    return read


def _found(paths: Any, place: Location | None) -> list[str]:
    found = []
    for path in [paths] if isinstance(paths, str) else paths:
        file = find_file(local_path(path), place)
        if file is None:
            raise DatasetNotFoundError(
                f"there is no file '{local_path(path)}'",
                location=place,
                hint="set COMPASS_DATA_CACHE or AIS_BENCH_DATASETS_CACHE to the folder that holds it",
            )
        found.append(str(file.resolve()))
    return found


def _dataset(arguments: Mapping[str, Any], files: Any, place: Location | None) -> hub.Dataset:
    path = arguments["path"]
    return hub.Dataset(
        _folder_or_id(path, place) if files is None else path,
        arguments.get("name"),
        data_dir=arguments.get("data_dir"),
        data_files=files,
        revision=arguments.get("revision"),
        num_proc=arguments.get("num_proc"),
        extra={key: value for key, value in arguments.items() if key not in _OWN},
        author=author_of_file(place.file) if place is not None and place.file else None,
    )


def _folder_or_id(path: str, place: Location | None) -> str:
    """Return the folder that a path of a config names, the hub's id of the same dataset, or the path."""
    local = local_path(path)
    found = find_file(local, place)
    return str(found.resolve()) if found is not None and found.is_dir() else hub_id(local)


def _rows(dataset: hub.Dataset, split: str) -> Sequence[Row]:
    return read_through(lambda: hub.rows(dataset, split), is_uniform=True)
