"""Datasets as the ``datasets`` library gives them: its splits, its rows, and what its errors mean."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from proctor.data.bounds import check_file
from proctor.data.found_files import files_named
from proctor.data.hub_access import hub_answers
from proctor.data.hub_dataset import FILE_FORMATS, Dataset, not_there
from proctor.data.mapped_folder import configurations, hub_folder
from proctor.data.read_once import once
from proctor.effects import INSIDE, has_scheme, parts_of_address
from proctor.errors import DataError, DatasetNotFoundError
from proctor.settings import settings

Make = Callable[[Any], Any]
_PLAIN = ("Json",)  # types whose decoding opens nothing: values of several kinds, kept as text


def undecoded(dataset: Any) -> Any:
    """Return a dataset of the library whose pictures are opened when a row is looked at, and by us."""
    features = getattr(dataset, "features", None) or {}
    makers: dict[str, Make] = {}
    for name, feature in features.items():
        raw = _raw(feature)
        if raw != feature:
            dataset = dataset.cast_column(name, raw)
        if make := _maker(raw):
            makers[name] = make
    if not makers:
        return dataset

    def pictures(batch: Mapping[str, Any]) -> dict[str, Any]:
        return {name: [makers[name](each) for each in values] if name in makers else values
                for name, values in batch.items()}  # fmt: skip

    if hasattr(dataset, "with_transform"):
        return dataset.with_transform(pictures)
    return dataset.map(lambda row: {**row, **{name: make(row[name]) for name, make in makers.items()}})


def _raw(feature: Any) -> Any:
    """Return the type of a column without decoding, at any depth."""
    if isinstance(feature, Mapping):
        made: Callable[[dict[str, Any]], Any] = type(feature)  # a dict, or the library's own
        return made({name: _raw(each) for name, each in feature.items()})
    if isinstance(feature, (list, tuple)):
        return [_raw(each) for each in feature]
    is_media = getattr(feature, "_type", "") not in _PLAIN and getattr(feature, "decode", False) is True
    if is_media and is_dataclass(feature):
        return replace(feature, decode=False)  # type: ignore[type-var]
    if is_dataclass(feature) and hasattr(feature, "feature"):
        inner = _raw(feature.feature)
        return feature if inner == feature.feature else replace(feature, feature=inner)  # type: ignore[type-var]
    return feature


def _maker(feature: Any) -> Make | None:
    """Return what makes pictures of a column's values; ``None`` where it holds none."""
    if getattr(feature, "_type", "") == "Image":
        return _picture
    if isinstance(feature, Mapping):
        inside = {name: make for name, each in feature.items() if (make := _maker(each))}
        if not inside:
            return None
        return lambda value: value and {name: inside[name](each) if name in inside else each
                                        for name, each in value.items()}  # fmt: skip
    inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
    make = _maker(inner) if inner is not None else None
    if make is None:
        return None
    return lambda value: value and [make(each) for each in value]


def _picture(value: Any) -> Any:
    if value is None or (isinstance(value, Mapping) and not any(value.values())):
        return None
    from PIL import ImageOps

    from proctor.data.images import open_image

    return ImageOps.exif_transpose(open_image(value))


_LONGEST_REASON = 300  # letters: the library lists every kind of file that it knows


def mapped_files(folder: Path, dataset: Dataset) -> Mapping[str, tuple[str, ...]] | None:
    """Return the parquet files of each split, or ``None`` where the folder has to be read by ``datasets``.

    Raises:
        DatasetNotFoundError: The folder does not have the configuration.
    """
    if dataset.data_files is not None or dataset.data_dir is not None:
        return None
    known = configurations(folder)
    if not known:
        return None
    name = dataset.name or ("default" if "default" in known else "")
    if not name and len(known) == 1:
        name = next(iter(known))
    if name not in known:
        raise not_there(dataset, "configuration", name, list(known), folder)
    who = dataset.author
    files = {
        split: tuple(path for each in patterns for path in files_named(each, folder, who, "the dataset"))
        for split, patterns in known[name].items()
    }
    plain = all(paths and all(path.endswith(".parquet") for path in paths) for paths in files.values())
    return files if plain and files else None


def split_names(dataset: Dataset) -> list[str]:
    """Return the splits of a dataset.

    Raises:
        DatasetNotFoundError: It is neither mapped, nor cached, nor on a hub that can be reached.
    """
    dataset.act()
    folder = dataset.folder
    if folder is not None and (files := mapped_files(folder, dataset)) is not None:
        return list(files)
    if isinstance(dataset.data_files, Mapping):
        return list(dataset.data_files)
    if dataset.data_files is not None:
        return ["train"]
    datasets = library_for(dataset)
    try:
        if (local := _local_arguments(dataset)) is not None:
            return list(local["data_files"])
        with _own_files_only(dataset):
            return list(datasets.get_dataset_split_names(dataset.path, dataset.name, revision=dataset.revision))
    except _load_errors() as error:
        raise not_found(dataset, error) from error


def _local_arguments(dataset: Dataset) -> dict[str, Any] | None:
    """Return the arguments with which the library reads files of this machine; ``None`` for a dataset of the hub.

    The library is told a reader and absolute paths, so that there is nothing left for it to find.
    """
    from proctor.data import dataset_folders

    if (folder := dataset.folder) is not None:
        found = dataset_folders.folder_files(dataset, folder)
        named = {"path": found.reader, "data_files": found.files, **found.options}
    elif dataset.path in FILE_FORMATS:
        named = {"path": dataset.path, "name": dataset.name, "data_files": _named_files(dataset)}
    else:
        return None
    for path in (each for files in named["data_files"].values() for each in files):
        check_file(path, is_json=True if named["path"] == "json" else None)
    named["data_files"] = {split: list(map(_as_pattern, files)) for split, files in named["data_files"].items()}
    return named


def _named_files(dataset: Dataset) -> Mapping[str, list[str]]:
    from proctor.data.dataset_folders import patterns_by_split, splits_of

    base = Path(dataset.data_dir or "").absolute()
    if dataset.data_files is None:
        return splits_of(base, dataset.author)
    patterns = patterns_by_split(dataset.data_files)
    found = {
        split: [path for each in named for path in files_named(each, base, dataset.author, "the dataset")]
        for split, named in patterns.items()
    }
    if missing := [named for split, named in patterns.items() if not found[split]]:
        raise FileNotFoundError(f"there is no file {', '.join(missing[0])}")
    return found


def _as_pattern(path: str) -> str:
    """Return a path as the library takes it: as a pattern that means this file."""
    if "::" in path:
        raise DataError(f"the file {path} cannot be read", why="'::' in its path means a chain", hint="rename it")
    return glob.escape(path)


@contextmanager
def _in_silence() -> Iterator[None]:
    """Show no progress of ``datasets`` while it reads files of this machine, and let it tell nobody."""
    import datasets
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    was_shown, counts = not are_progress_bars_disabled(), datasets.config.HF_UPDATE_DOWNLOAD_COUNTS
    disable_progress_bars()
    datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False  # to count, it would wait for a server
    try:
        yield
    finally:
        datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = counts
        if was_shown:
            enable_progress_bars()


def library_split(dataset: Dataset, split: str) -> Any:
    """Return a split as the ``datasets`` library gives it, its media as they are written.

    Raises:
        NotAllowedError: One of its files lies where nobody allowed to read.
        DatasetNotFoundError: The library finds no such dataset or split, or cannot read its files.
    """
    if dataset.streaming:
        return _library_split(dataset, split)
    return once(("library", repr(dataset), split), lambda: _library_split(dataset, split))


def _library_split(dataset: Dataset, split: str) -> Any:
    datasets = library_for(dataset)
    arguments: dict[str, Any] = {"streaming": True} if dataset.streaming else {"num_proc": dataset.num_proc}
    if settings.disable_hf_datasets_cache:
        arguments["download_mode"] = "force_redownload"
    try:
        local = _local_arguments(dataset)
        named = {key: getattr(dataset, key) for key in ("path", "name", "data_dir", "data_files", "revision")}
        with _own_files_only(dataset) if local is None else _in_silence():
            arguments = {**(local or named), **arguments, **dataset.extra}
            return undecoded(datasets.load_dataset(split=split, verification_mode="no_checks", **arguments))
    except StopIteration:  # what the library says of files without a row
        return []
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise _unknown_argument(dataset, error) from None
    except _load_errors() as error:
        if str(error).startswith("Unknown split"):
            raise _unknown_split(dataset, split) from None
        raise not_found(dataset, error) from error


@contextmanager
def _own_files_only(dataset: Dataset) -> Iterator[None]:
    """Let the library find files of a dataset of the hub in that dataset and nowhere else, whatever its card says.

    Raises:
        DataError: The name is that of a reader of files; inside, a name that leads elsewhere.
    """
    from datasets import config, data_files
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES

    if dataset.path in _PACKAGED_DATASETS_MODULES:
        raise DataError(
            f"'{dataset.path}' is a reader of 'datasets' that may do more than read rows, and is not used",
            hint=f"save the rows as JSON lines or parquet; {', '.join(sorted(FILE_FORMATS))} are read",
        )
    own = (f"hf://{dataset.path}", f"hf://datasets/{dataset.path}", f"{config.HF_ENDPOINT}/datasets/{dataset.path}/")

    def check(name: str) -> None:
        for part in parts_of_address(name):
            scheme, is_address, place = part.partition("://")
            inside = bool(is_address) and scheme in INSIDE
            if ".." in place.split("/") or not (inside or part.startswith(own) or is_inner(part)):
                raise DataError(f"the dataset {dataset} leads to '{part}'", why="it may name files of its own only")

    def is_inner(part: str) -> bool:
        return not (has_scheme(part) or Path(part).is_absolute() or ".." in Path(part).parts or part.startswith("~"))

    def resolved(pattern: str, base_path: str, *more: Any, **named: Any) -> Any:
        check(str(pattern))
        return resolve(pattern, base_path, *more, **named)

    with _resolving:
        resolve = data_files.resolve_pattern
        data_files.resolve_pattern = resolved
        try:
            yield
        finally:
            data_files.resolve_pattern = resolve


_resolving = threading.RLock()
"""Held while the library's own function that finds files stands aside: it is one for all threads."""


def _unknown_argument(dataset: Dataset, error: TypeError) -> DataError:
    unknown = str(error).rpartition("argument ")[2]
    return DataError(
        f"'load_dataset' takes no argument {unknown} for the dataset {dataset}",
        why=f"it is given {', '.join(map(repr, dataset.extra))} beside what every dataset has",
        hint="take it out",
    )


def _unknown_split(dataset: Dataset, split: str) -> DataError:
    known: Sequence[str] = ()
    with suppress(DatasetNotFoundError):  # what is wrong is the split; this would only name the others
        known = split_names(dataset)
    return not_there(dataset, "split", split, known)


def _is_local(dataset: Dataset) -> bool:
    """Whether a dataset consists of files that are named or lie here, so that the library need ask nobody."""
    return dataset.is_files or dataset.folder is not None


def library_for(dataset: Dataset) -> Any:
    """Return the ``datasets`` library; offline where the hub is needed and does not answer, or must not be asked."""
    if settings.offline:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import datasets
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or (_is_local(dataset) and not settings.offline):
        return datasets
    if settings.offline or not hub_answers():
        # The variable is read once, on import; without this each look-up would be tried again for half a minute.
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    return datasets


def _load_errors() -> tuple[type[Exception], ...]:
    from datasets.exceptions import DatasetsError

    return (DatasetsError, OSError, ValueError, RuntimeError, KeyError)


def not_found(dataset: Dataset, error: Exception) -> DatasetNotFoundError:
    """Return the error for a dataset that cannot be loaded; it says where it was looked for."""
    base = hub_folder()
    mapped = f"{base / dataset.path}" if base else "no folder (PROCTOR_HUB_DIR is not set)"
    cache = os.environ.get("HF_DATASETS_CACHE") or os.environ.get("HF_HOME") or "~/.cache/huggingface"
    reason = str(error).strip().splitlines()
    cause = error.__cause__ if str(error).startswith("An error occurred while") and error.__cause__ else error
    cause_line = (
        f"{type(cause).__name__}: {(str(cause).strip().splitlines() or ['no reason given'])[0][:_LONGEST_REASON]}"
    )
    if dataset.path in FILE_FORMATS:
        return DatasetNotFoundError(
            f"the data files of a dataset '{dataset.path}' cannot be read",
            why=cause_line,
            hint=f"relative paths start at {Path.cwd()}; those in a task file also beside that file",
        )
    if Path(dataset.path).is_dir():
        return DatasetNotFoundError(f"the files of the dataset in {dataset.path} cannot be read", why=cause_line)
    return DatasetNotFoundError(
        f"the dataset {dataset} cannot be loaded",
        why=f"looked in {mapped}, then in the cache {cache}, then on the hub: {type(error).__name__}: "
        f"{reason[0] if reason else 'no reason given'}",
        hint=f"put its files in <folder>/{dataset.path}/ and set PROCTOR_HUB_DIR=<folder>; "
        "aliases.json in that folder may map the id to another one",
    )
