"""Folders with the files of a dataset, in which runs of Proctor lie, too.

Whoever runs an exam beside its data has a folder ``runs`` there afterwards, whose samples are not part of the dataset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

Find = Callable[[str], Sequence[str]]

_NOT_DATA = frozenset({".yaml", ".yml", ".md", ".py"})  # exams, configs and words about data; the library reads none
_OF_RUNS = ("samples.jsonl", "results.json")  # in a folder that is of data and of a run, by --output .
_SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}")


def run_files(folder: Path) -> list[str]:
    """Return the runs in and below a folder: run folders, with a slash at the end, and files.

    A run folder has a ``run.yaml`` from its beginning on, whether samples are kept or not.
    """
    found = [each.parent for each in folder.rglob("run.yaml")]
    own = [str(folder / name) for name in _OF_RUNS] if folder in found else []
    return own + [f"{each}/" for each in found if each != folder]


def files_beside_runs(folder: Path) -> Mapping[str, Sequence[str]] | None:
    """Return the files of each split of a dataset's folder, without those of runs.

    Splits are told as ``datasets.data_files.get_data_patterns`` tells them, from the files that are left.

    Returns:
        ``None`` where the library may read the folder as it is: there is no run in it, or its card says what is data.
    """
    runs = run_files(folder)
    card = folder / "README.md"
    if not runs or (card.is_file() and re.search(r"^configs:", card.read_text(encoding="utf-8"), re.MULTILINE)):
        return None
    return _splits(partial(_files, folder, runs))


def _files(folder: Path, runs: Sequence[str], pattern: str) -> Sequence[str]:
    from datasets.data_files import resolve_pattern

    try:
        found = resolve_pattern(pattern, str(folder))
    except FileNotFoundError:  # no file is named so
        return []
    return [each for each in found if not each.startswith(tuple(runs)) and Path(each).suffix.lower() not in _NOT_DATA]


def _splits(find: Find) -> Mapping[str, Sequence[str]]:
    from datasets.data_files import ALL_DEFAULT_PATTERNS, ALL_SPLIT_PATTERNS

    for pattern in ALL_SPLIT_PATTERNS:
        shards: dict[str, list[str]] = {}
        for path in find(pattern.replace("{split}", "*")):
            if named := _SHARD.match(Path(path).name):
                shards.setdefault(named["split"], []).append(path)
        if shards:
            return shards
    for patterns in ALL_DEFAULT_PATTERNS:
        found = {
            str(split): list(dict.fromkeys(path for each in texts for path in find(each)))
            for split, texts in patterns.items()
        }
        if splits := {split: paths for split, paths in found.items() if paths}:
            return splits
    return {}
