"""Datasets by hub id: a folder that the user maps, then the local cache, then the hub.

``settings.hub_dir`` (``PROCTOR_HUB_DIR``) is a folder with one folder per dataset, ``<hub_dir>/<hub id>/``, as the hub
has them; ``aliases.json`` in it maps other ids to these. Parquet files in such a folder are read directly; everything
else goes through the ``datasets`` library, which looks in its own cache before it asks the hub.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

from proctor.data.arrow_rows import ArrowRows
from proctor.data.bounds import check_file
from proctor.data.dataset_folders import files_beside_runs
from proctor.data.fields import Row
from proctor.data.hub_access import hub_answers
from proctor.data.parquet_bounds import check_parquet, held_table
from proctor.data.plain_json import plain_table
from proctor.effects import Author, Effect, reading, require, writing
from proctor.errors import DataError, DatasetNotFoundError, Location, did_you_mean
from proctor.foreign_text import parse_json
from proctor.foreign_yaml import parse_yaml
from proctor.settings import settings

_LONGEST_REASON = 300  # letters: the library lists every kind of file that it knows
_BATCH = 1000  # rows made at once: enough that the cost of a call into Arrow does not show
# Types of datasets whose columns hold encoded bytes, which only that package turns into media.
_DECODED_FEATURES = ("Image", "Audio", "Video", "Pdf")


@dataclass(frozen=True)
class Dataset:
    """What to load: the arguments of ``datasets.load_dataset`` that say so."""

    path: str
    name: str | None = None
    data_dir: str | None = None
    data_files: Any = None
    revision: str | None = None
    streaming: bool = False
    num_proc: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    author: Author | None = field(default=None, compare=False)

    def effects(self, by: str = "") -> list[Effect]:
        """Return what loading does beside reading mapped folders: other folders and files, the hub, servers."""
        effects: list[Effect] = []
        is_files = self.path in FILE_FORMATS
        if not is_files and local_folder(self.path) is None:
            is_place = "://" in self.path or Path(self.path).expanduser().exists()
            effects += reading(self.path, self.author, by) if is_place else [Effect("hub", self.path, by)]
        for path in (*_paths_in(self.data_files), *_paths_in(self.data_dir)):
            if is_files or "://" in path or Path(path).is_absolute() or ".." in Path(path).parts:
                effects += reading(path, self.author, by)
        if self.extra.get("cache_dir"):
            effects += writing(str(self.extra["cache_dir"]), by)
        return effects

    def act(self) -> None:
        """Pass the gate: called directly before anything is loaded.

        Raises:
            NotAllowedError: Nobody allowed one of the :meth:`effects` to the file that names the dataset.
        """
        if self.author is not None:
            require(self.effects("loading the dataset"), self.author)

    def __str__(self) -> str:
        return f"'{self.path}'" + (f" ({self.name})" if self.name else "")


def _paths_in(files: Any) -> Iterator[str]:
    if isinstance(files, Mapping):
        files = list(files.values())
    if isinstance(files, (list, tuple)):
        for each in files:
            yield from _paths_in(each)
    elif files is not None:
        yield str(files)


# -- the mapped folder ----------------------------------------------------------------------------------------


def hub_folder() -> Path | None:
    """Return the folder of mapped datasets, where the user has set one."""
    return Path(settings.hub_dir).expanduser() if settings.hub_dir else None


def local_folder(hub_id: str) -> Path | None:
    """Return the folder of a dataset in the mapped folder, or ``None``."""
    base = hub_folder()
    if base is None or Path(hub_id).is_absolute() or ".." in Path(hub_id).parts:
        return None
    for name in (hub_id, aliases(base).get(hub_id)):
        if name and (base / name).is_dir():
            return base / name
    return None


def local_file(url: str) -> Path | None:
    """Return the file of a web address in the mapped folder, or ``None``; see :func:`place_of`."""
    base, place = hub_folder(), place_of(url)
    if base is None or not place or ".." in Path(place).parts:
        return None
    return base / place if (base / place).is_file() else None


def place_of(url: str) -> str:
    """Return where the mapped folder has a web address: ``host/path``, the query left out, ``index`` after a slash."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"}:
        return ""
    path = unquote(parts.path)
    return f"{parts.netloc}{path}index" if path.endswith("/") else f"{parts.netloc}{path}"


def aliases(base: Path) -> Mapping[str, str]:
    """Return other ids of the datasets in a mapped folder.

    Raises:
        DataError: ``aliases.json`` is not a JSON object of strings.
    """
    path = base / "aliases.json"
    if not path.is_file():
        return {}
    return _read_aliases(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _read_aliases(path: str, modified: int) -> Mapping[str, str]:
    del modified  # part of the cache key: a changed file is read again
    try:
        table = parse_json(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise DataError(
            "the aliases are not valid JSON", location=Location(path, error.lineno, error.colno), why=error.msg
        ) from None
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise DataError("the aliases are not an object of strings", location=Location(path, 1, 1))
    return table


@lru_cache(maxsize=256)
def _configurations(folder: str, modified: int) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the parquet files of each split of each configuration of a folder."""
    del modified
    base = Path(folder)
    card = base / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    declared = _front_matter(text, card).get("configs") or []
    found = {str(each.get("config_name", "default")): _declared_files(base, each) for each in declared}
    if not found:
        found = {each.name: _files_by_name(each) for each in sorted(base.iterdir()) if each.is_dir()}
        found = {name: splits for name, splits in found.items() if splits}
        if own := _files_by_name(base):
            found.setdefault("default", own)
    return found


def _front_matter(text: str, card: Path) -> Mapping[str, Any]:
    head, _, rest = text.partition("---\n")
    if head.strip() or not rest:
        return {}
    try:
        return parse_yaml(rest.partition("\n---")[0]) or {}
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Location(str(card), mark.line + 2 if mark else 0, mark.column + 1 if mark else 0)
        raise DataError(
            "the header of the dataset card is not valid YAML", location=place, why=str(error.problem)
        ) from None


def _declared_files(base: Path, configuration: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    entries = configuration.get("data_files") or []
    if isinstance(entries, str):
        entries = [{"split": "train", "path": entries}]
    found = {}
    for entry in entries:
        patterns = [entry["path"]] if isinstance(entry["path"], str) else entry["path"]
        found[str(entry["split"])] = tuple(str(path) for pattern in patterns for path in sorted(base.glob(pattern)))
    return found


def _files_by_name(folder: Path) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.parquet")):
        split = path.stem.partition("-")[0]
        found[split] = (*found.get(split, ()), str(path))
    return found


def mapped_files(folder: Path, dataset: Dataset) -> Mapping[str, tuple[str, ...]] | None:
    """Return the parquet files of each split, or ``None`` where the folder has to be read by ``datasets``.

    Raises:
        DatasetNotFoundError: The folder does not have the configuration.
    """
    if dataset.data_files is not None or dataset.data_dir is not None:
        return None
    configurations = _configurations(str(folder), folder.stat().st_mtime_ns)
    if not configurations:
        return None
    name = dataset.name or ("default" if "default" in configurations else "")
    if not name and len(configurations) == 1:
        name = next(iter(configurations))
    if name not in configurations:
        raise DatasetNotFoundError(
            f"the dataset {dataset} has no configuration '{name}'"
            if name
            else f"the dataset {dataset} needs a configuration",
            path=str(folder),
            hint=did_you_mean(name, configurations) or f"choose one of {', '.join(list(configurations)[:20])}",
        )
    files = configurations[name]
    plain = all(paths and all(path.endswith(".parquet") for path in paths) for paths in files.values())
    return files if plain and files else None


def read_parquet(paths: Iterable[str]) -> Iterator[Row]:
    """Yield the rows of parquet files, a batch in memory at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                check_parquet(file, path)
                for batch in file.iter_batches(_BATCH):
                    columns = [column.to_pylist() for column in batch.columns]
                    names = batch.schema.names
                    yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
        except (pa.ArrowInvalid, OSError) as error:
            raise _unreadable_parquet(path, error) from None


def _unreadable_parquet(path: str, error: Exception) -> DataError:
    return DataError("the file cannot be read as parquet", location=Location(path), why=str(error))


def needs_decoding(paths: Iterable[str]) -> bool:
    """Whether files hold media, which only ``datasets`` decodes."""
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        try:
            metadata = parquet.read_schema(path).metadata or {}
        except (pa.ArrowInvalid, OSError):
            return False  # whoever reads the file says what is wrong with it
        features = metadata.get(b"huggingface", b"").decode()
        return any(f'"_type": "{name}"' in features for name in _DECODED_FEATURES)
    return False


# -- the datasets library -------------------------------------------------------------------------------------


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


def rows(dataset: Dataset, split: str) -> Iterator[Row]:
    """Yield the rows of a split.

    Raises:
        DatasetNotFoundError: The dataset or the split is neither mapped, nor cached, nor on a hub that can be reached.
    """
    files = _parquet_of(dataset, split)
    yield from read_parquet(files) if files is not None else library_split(dataset, split)


def held_rows(dataset: Dataset, split: str) -> Sequence[Row]:
    """Return the rows of a split to look up by place; they are kept as columns and made when they are asked for.

    Raises:
        DatasetNotFoundError: As :func:`rows`.
    """
    files = _parquet_of(dataset, split)
    if files is not None:
        return _held_parquet(files)
    table = _plain_json_of(dataset, split)
    return rows_of(library_split(dataset, split)) if table is None else ArrowRows.of_table(table)


def _plain_json_of(dataset: Dataset, split: str) -> Any:
    """Return the table of a split that is one file of JSON lines; ``None`` where the library has to read it.

    The library takes the types of columns from the first of several splits.
    """
    named = dataset.data_files if isinstance(dataset.data_files, Mapping) else {}
    paths = list(_paths_in(named.get(split)))
    is_bare = not (dataset.name or dataset.data_dir or dataset.revision or dataset.streaming or dataset.extra)
    if dataset.path != "json" or local_folder("json") is not None or len(named) != 1 or len(paths) != 1 or not is_bare:
        return None
    check_file(paths[0], is_json=True)
    return plain_table(Path(paths[0]))


def rows_of(dataset: Any) -> Sequence[Row]:
    """Return the rows of a dataset of the ``datasets`` library (or of another collection), decoded as it does."""
    if isinstance(dataset, list):
        return dataset
    features = getattr(dataset, "features", None)
    if features is None or not hasattr(dataset, "with_format") or not hasattr(dataset, "__len__"):
        return list(dataset)
    has_media = any(f"{kind}(" in str(features) for kind in _DECODED_FEATURES)
    return list(dataset) if has_media else ArrowRows.of_dataset(dataset)


def _parquet_of(dataset: Dataset, split: str) -> tuple[str, ...] | None:
    """Return the files of a split that can be read directly; ``None`` where the ``datasets`` library has to."""
    dataset.act()
    folder = local_folder(dataset.path)
    files = None if folder is None else mapped_files(folder, dataset)
    if files is None:
        return None
    if split not in files and "[" not in split:
        raise DatasetNotFoundError(
            f"the dataset {dataset} has no split '{split}'",
            path=str(folder),
            hint=did_you_mean(split, files) or f"choose one of {', '.join(files)}",
        )
    return files[split] if split in files and not needs_decoding(files[split]) else None


def _held_parquet(paths: Sequence[str]) -> Sequence[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    tables = []
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                tables.append(held_table(file, path))
        except (pa.ArrowInvalid, OSError) as error:
            raise _unreadable_parquet(path, error) from None
    if any(not table.schema.equals(tables[0].schema) for table in tables):  # as one table, values would change types
        return [row for table in tables for row in ArrowRows.of_table(table)]
    return ArrowRows.of_table(pa.concat_tables(tables))


FILE_FORMATS = frozenset({"json", "csv", "parquet", "text", "arrow", "webdataset", "imagefolder", "audiofolder"})
"""Names of ``datasets`` that read files instead of a dataset of that name."""


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
        unknown = str(error).rpartition("argument ")[2]
        raise DataError(
            f"'load_dataset' takes no argument {unknown} for the dataset {dataset}",
            why=f"it is given {', '.join(map(repr, dataset.extra))} beside what every dataset has",
            hint="take it out",
        ) from None
    except _load_errors() as error:
        if str(error).startswith("Unknown split"):
            known: Sequence[str] = ()
            with suppress(DatasetNotFoundError):  # what is wrong is the split; this would only name the others
                known = split_names(dataset)
            hint = did_you_mean(split, known) or (f"choose one of {', '.join(known)}" if known else "")
            raise DatasetNotFoundError(f"the dataset {dataset} has no split '{split}'", hint=hint) from None
        raise not_found(dataset, error) from error


def _local_files(dataset: Dataset, folder: Path | None) -> Iterator[str]:
    """Yield the files of this machine that the library will read, as far as can be told before it looks."""
    if not _is_local(dataset, folder):
        return
    is_format = folder is None and dataset.path in FILE_FORMATS
    base = Path() if is_format else (folder or Path(dataset.path))
    named = [*_paths_in(dataset.data_files), *_paths_in(dataset.data_dir)]
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
