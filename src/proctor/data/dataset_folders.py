"""Folders with the files of a dataset: which files belong to which split, and what reads them.

Runs of Proctor may lie in such a folder, too: whoever runs an exam beside its data has a folder ``runs`` there
afterwards, whose samples are not part of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.data.dataset_card import CardConfiguration, card_configurations
from proctor.data.found_files import below, file_named, files_named, matching
from proctor.data.hub_dataset import FILE_FORMATS, Dataset, not_there
from proctor.effects import Author
from proctor.errors import DatasetNotFoundError

_NOT_DATA = (".yaml", ".yml", ".md", ".py")  # exams, configs and words about data; nothing of it is read as rows
_OF_RUNS = ("samples.jsonl", "results.json")  # in a folder that is of data and of a run, by --output .
_SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}")
_READERS = FILE_FORMATS | {"videofolder", "pdffolder", "conll"}
"""What reads files of a folder: readers of ``datasets`` that open these files and no other."""
_BY = "the dataset"


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """The files of a folder as a reader takes them.

    Attributes:
        reader: Its name in ``datasets``.
        files: Absolute paths by split.
        options: Further arguments.
    """

    reader: str
    files: Mapping[str, list[str]]
    options: Mapping[str, Any]


def folder_files(dataset: Dataset, folder: Path) -> FolderFiles:
    """Return what to read of a folder.

    Raises:
        NotAllowedError: One of its files lies elsewhere (a link, a name in its card), and nobody allowed that.
        DatasetNotFoundError: It has no such configuration, no files, or files that nothing here reads.
    """
    known = card_configurations(folder, dataset.author)
    chosen = _chosen(dataset, known, folder)
    files = _files(dataset, folder, chosen)
    reader, options = _reader(files, folder)
    kept = {split: _kept(paths, reader) for split, paths in files.items()}
    more = {**options, **chosen.options}
    if chosen.columns is not None and "features" not in dataset.extra:
        from datasets import Features

        more["features"] = Features._from_yaml_list(chosen.columns)  # noqa: SLF001 - the only way to read a card's
    return FolderFiles(reader, kept, _taken(reader, more))


def _chosen(dataset: Dataset, known: Mapping[str, CardConfiguration], folder: Path) -> CardConfiguration:
    name = dataset.name or next((each.name for each in known.values() if each.is_default or len(known) == 1), "")
    if name in known:
        return known[name]
    if name not in ("", "default") or known:
        raise not_there(dataset, "configuration", name, list(known), folder)
    return CardConfiguration("default")


def _files(dataset: Dataset, folder: Path, chosen: CardConfiguration) -> dict[str, list[str]]:
    who, base = dataset.author, folder / (dataset.data_dir or chosen.folder)
    patterns: Mapping[str, Sequence[str]] = {} if dataset.data_dir else chosen.files
    if dataset.data_files is not None:
        patterns = patterns_by_split(dataset.data_files)
    if patterns:
        found = {split: [file for each in named for file in files_named(each, base, who, _BY)]
                 for split, named in patterns.items()}  # fmt: skip
        if missing := [split for split, files in found.items() if not files]:
            raise DatasetNotFoundError(
                f"the dataset {dataset} has no files for its split '{missing[0]}'",
                path=str(folder),
                why=f"nothing is named {', '.join(patterns[missing[0]])}",
            )
        return found
    return splits_of(base, who)


def patterns_by_split(files: Any) -> dict[str, list[str]]:
    """Return ``data_files`` as patterns by split; without splits, all are of ``train``."""
    if not isinstance(files, Mapping):
        files = {"train": files}
    return {str(split): [named] if isinstance(named, str) else list(map(str, named)) for split, named in files.items()}


def splits_of(folder: Path, who: Author | None = None) -> dict[str, list[str]]:
    """Return the files of each split of a folder, told by their names as ``datasets.data_files`` tells them.

    Raises:
        NotAllowedError: One of them is a link to where nobody allowed to read.
    """
    names = below(folder, who, _BY) if folder.is_dir() else []
    runs = [name.removesuffix("run.yaml") for name in names if name.rpartition("/")[2] == "run.yaml"]
    passed = tuple(each for each in runs if each) + (_OF_RUNS if "" in runs else ())
    data = [each for each in names if not each.startswith(passed) and not each.lower().endswith(_NOT_DATA)]
    found = _splits(data)
    return {split: [file_named(folder / each, who, _BY) for each in paths] for split, paths in found.items()}


def _splits(names: Sequence[str]) -> Mapping[str, list[str]]:
    from datasets.data_files import ALL_DEFAULT_PATTERNS, ALL_SPLIT_PATTERNS

    for pattern in ALL_SPLIT_PATTERNS:
        shards: dict[str, list[str]] = {}
        for path in matching(pattern.replace("{split}", "*"), names):
            if named := _SHARD.match(Path(path).name):
                shards.setdefault(named["split"], []).append(path)
        if shards:
            return shards
    for patterns in ALL_DEFAULT_PATTERNS:
        found = {
            str(split): list(dict.fromkeys(path for each in texts for path in matching(each, names)))
            for split, texts in patterns.items()
        }
        if splits := {split: paths for split, paths in found.items() if paths}:
            return splits
    return {}


def _reader(files: Mapping[str, list[str]], folder: Path) -> tuple[str, Mapping[str, Any]]:
    """Return what reads the files of a folder, by the endings that most of them have."""
    from datasets.load import infer_module_for_data_files_list

    found = {split: infer_module_for_data_files_list(paths) for split, paths in files.items()}
    name, options = next(iter(found.values()), (None, {}))
    if any(each != (name, options) for each in found.values()):
        kinds = ", ".join(f"{split}: {each}" for split, (each, _) in found.items())
        raise DatasetNotFoundError("the splits have files of different kinds", path=str(folder), why=kinds)
    if name not in _READERS:
        why = f"its files are read by '{name}', which may open others" if name else "it has none that could be"
        raise DatasetNotFoundError("the folder holds no files of rows", path=str(folder), why=why)
    return name, options


def _kept(paths: Sequence[str], reader: str) -> list[str]:
    from datasets.packaged_modules import _EXTENSION_TO_MODULE

    described = reader.endswith("folder")

    def is_read(path: str) -> bool:
        name = Path(path).name
        kinds = {_EXTENSION_TO_MODULE.get(f".{each.lower()}", ("",))[0] for each in name.split(".")[1:]}
        return reader in kinds or name.endswith(".zip") or (described and name.startswith("metadata."))

    return [each for each in paths if is_read(each)]


def _taken(reader: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options of a card that a reader has."""
    from datasets.packaged_modules import _PACKAGED_DATASETS_MODULES

    module = __import__(_PACKAGED_DATASETS_MODULES[reader][0], fromlist=["*"])
    fields = {name for each in vars(module).values() for name in getattr(each, "__dataclass_fields__", ())}
    return {name: value for name, value in options.items() if name in fields}
