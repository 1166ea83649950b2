"""Datasets as the ``datasets`` library gives them: its splits, its rows, and what its errors mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from proctor.data.bounds import check_file
from proctor.data.dataset_folders import files_beside_runs
from proctor.data.hub_access import hub_answers
from proctor.data.hub_dataset import FILE_FORMATS, Dataset, paths_in
from proctor.data.mapped_folder import configurations, hub_folder, local_folder
from proctor.errors import DataError, DatasetNotFoundError, did_you_mean
from proctor.settings import settings

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
        raise DatasetNotFoundError(
            f"the dataset {dataset} has no configuration '{name}'"
            if name
            else f"the dataset {dataset} needs a configuration",
            path=str(folder),
            hint=did_you_mean(name, known) or f"choose one of {', '.join(list(known)[:20])}",
        )
    files = known[name]
    plain = all(paths and all(path.endswith(".parquet") for path in paths) for paths in files.values())
    return files if plain and files else None


def split_names(dataset: Dataset) -> list[str]:
    """Return the splits of a dataset.

    Raises:
        DatasetNotFoundError: It is neither mapped, nor cached, nor on a hub that can be reached.
    """
    dataset.act()
    folder = local_folder(dataset.path)
    if folder is not None and (files := mapped_files(folder, dataset)) is not None:
        return list(files)
    if isinstance(dataset.data_files, Mapping):
        return list(dataset.data_files)
    if dataset.data_files is not None:
        return ["train"]
    datasets = library_for(dataset, folder)
    try:
        place = _place(dataset, folder)
        if (beside_runs := _files_beside_runs(place)) is not None:
            return list(beside_runs)
        return list(datasets.get_dataset_split_names(place, dataset.name, revision=dataset.revision))
    except _load_errors() as error:
        raise not_found(dataset, error) from error


def _is_local(dataset: Dataset, folder: Path | None) -> bool:
    """Whether a dataset consists of files of this machine, so that nobody else need be asked."""
    if folder is not None or (dataset.path not in FILE_FORMATS and Path(dataset.path).exists()):
        return True
    return dataset.path in FILE_FORMATS and "://" not in f"{dataset.data_files} {dataset.data_dir}"


@contextmanager
def local_files_in_silence(dataset: Dataset, folder: Path | None) -> Iterator[None]:
    """Show no progress of ``datasets`` while it reads files of this machine, and let it tell nobody.

    Downloads are shown as ever.
    """
    import datasets
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if not _is_local(dataset, folder):
        yield
        return
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
    """Return a split as the ``datasets`` library gives it.

    Raises:
        DatasetNotFoundError: The library finds no such dataset or split, or cannot read its files.
    """
    folder = local_folder(dataset.path)
    for path in _local_files(dataset, folder):
        check_file(path, is_json=True if dataset.path == "json" else None)
    datasets = library_for(dataset, folder)
    arguments: dict[str, Any] = {"streaming": True} if dataset.streaming else {"num_proc": dataset.num_proc}
    if settings.disable_hf_datasets_cache:
        arguments["download_mode"] = "force_redownload"
    place, files = _place(dataset, folder), dataset.data_files
    if files is None and dataset.data_dir is None:
        files = _files_beside_runs(place)
    try:
        with local_files_in_silence(dataset, folder):
            return datasets.load_dataset(
                place,
                name=dataset.name,
                data_dir=dataset.data_dir,
                data_files=files,
                revision=dataset.revision,
                split=split,
                verification_mode="no_checks",
                **arguments,
                **dataset.extra,
            )
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


def _unknown_argument(dataset: Dataset, error: TypeError) -> DataError:
    unknown = str(error).rpartition("argument ")[2]
    return DataError(
        f"'load_dataset' takes no argument {unknown} for the dataset {dataset}",
        why=f"it is given {', '.join(map(repr, dataset.extra))} beside what every dataset has",
        hint="take it out",
    )


def _unknown_split(dataset: Dataset, split: str) -> DatasetNotFoundError:
    known: Sequence[str] = ()
    with suppress(DatasetNotFoundError):  # what is wrong is the split; this would only name the others
        known = split_names(dataset)
    hint = did_you_mean(split, known) or (f"choose one of {', '.join(known)}" if known else "")
    return DatasetNotFoundError(f"the dataset {dataset} has no split '{split}'", hint=hint)


def _local_files(dataset: Dataset, folder: Path | None) -> Iterator[str]:
    """Yield the files of this machine that the library will read, as far as can be told before it looks."""
    if not _is_local(dataset, folder):
        return
    is_format = folder is None and dataset.path in FILE_FORMATS
    base = Path() if is_format else (folder or Path(dataset.path))
    named = [*paths_in(dataset.data_files), *paths_in(dataset.data_dir)]
    for place in [base / name for name in named] or [base] * (not is_format):
        for found in Path(place.anchor).glob(str(place.relative_to(place.anchor))):
            yield from map(str, found.rglob("*") if found.is_dir() else (found,))


def _place(dataset: Dataset, folder: Path | None) -> str:
    return str(folder) if folder is not None else dataset.path


def _files_beside_runs(place: str) -> Mapping[str, Sequence[str]] | None:
    return files_beside_runs(Path(place)) if Path(place).is_dir() else None


def library_for(dataset: Dataset, folder: Path | None) -> Any:
    """Return the ``datasets`` library; offline where the hub is needed and does not answer, or must not be asked."""
    if settings.offline:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import datasets
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE or (_is_local(dataset, folder) and not settings.offline):
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
