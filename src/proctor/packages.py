"""The packages of the systems whose exams are read: installed, or fetched by ``proctor get``. None is ever imported.

A fetched package lies in the cache, with its version and the digest of its wheel: ``packages/lm_eval/0.4.13/lm_eval/…``
and, beside the versions, ``package.json``, which says which of them counts.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from proctor.foreign_text import parse_json
from proctor.safe_files import read_bytes
from proctor.settings import settings

_MOST_BYTES: Final = 1 << 16  # of package.json, which has four short entries


class Collection(NamedTuple):
    """Exams that a system publishes as a package.

    Attributes:
        name: What ``proctor get`` takes.
        package: The package's name where packages are published.
        module: The folder in it.
        below: Where its exams lie in that folder.
        what: What it holds, for people.
    """

    name: str
    package: str
    module: str
    below: str
    what: str


COLLECTIONS: Final = {
    each.name: each
    for each in (
        Collection("lm-eval", "lm_eval", "lm_eval", "tasks", "the tasks of lm-evaluation-harness"),
        Collection("opencompass", "opencompass", "opencompass", "configs", "the configs of OpenCompass"),
        Collection("ais-bench", "ais_bench_benchmark", "ais_bench", "benchmark/configs", "the configs of AISBench"),
        Collection("unitxt", "unitxt", "unitxt", "catalog", "the catalog of Unitxt"),
    )
}


def package_folder(module: str) -> Path | None:
    """Return the folder of a package by the name it is imported under, installed or fetched; ``None`` without one."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    for found in (spec, PathFinder.find_spec(module)):  # the first may be an alias of ours, which has no folder
        if found is not None and found.submodule_search_locations:
            return next((Path(each) for each in found.submodule_search_locations if Path(each).is_dir()), None)
    return fetched_folder(module)


def fetched_folder(module: str) -> Path | None:
    """Return the folder of a package that ``proctor get`` fetched; ``None`` without one."""
    about = fetched(module)
    if about is None:
        return None
    folder = packages_folder() / module / str(about["version"]) / module
    return folder if folder.is_dir() else None


def packages_folder() -> Path:
    """Return the folder of fetched packages."""
    return Path(settings.cache_dir) / "packages"


def fetched(module: str) -> dict[str, Any] | None:
    """Return facts about a fetched package: ``package``, ``version``, ``sha256`` of its wheel, ``files``."""
    path = packages_folder() / module / "package.json"
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return None
    return _about(path, changed)


@lru_cache(maxsize=16)
def _about(path: Path, changed: int) -> dict[str, Any] | None:
    del changed  # part of the key: another version may be fetched meanwhile
    try:
        found = parse_json(read_bytes(path, _MOST_BYTES))
    except (OSError, json.JSONDecodeError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("version"), str) else None
