"""Names of configs: the files of installed packages, found without importing them, and of further folders.

A config is called what its file is called, as upstream does it. Only paths are looked at: finding two thousand names
takes a few hundredths of a second, so nothing is kept on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from proctor.dialects.dialect import Entry, Named
from proctor.errors import UsageError
from proctor.foreign_text import read_head
from proctor.packages import package_folder
from proctor.safe_files import Stamp, stamp_of
from proctor.settings import settings

DATASET, MODEL, SUMMARIZER, COLLECTION = "dataset", "model", "summarizer", "collection"
EXAMS = (DATASET, COLLECTION)
"""Kinds of configs that have exams."""

_PACKAGES = (("opencompass", "opencompass/configs"), ("aisbench", "ais_bench/benchmark/configs"))
_KINDS = {
    "datasets": DATASET,
    "chatml_datasets": DATASET,
    "models": MODEL,
    "summarizers": SUMMARIZER,
    "dataset_collections": COLLECTION,
    "all_obj": COLLECTION,
    "examples": COLLECTION,
}
_SIGNS = {DATASET: (b"reader_cfg", b"_datasets", b"datasets ="), MODEL: (b"models =",), SUMMARIZER: (b"summarizer =",)}
_MOST_BYTES = 1_000_000  # more than any config has; a data file that is called .py is not read whole


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """A config and where it is.

    Attributes:
        name: What to type: the name of the file without its ending.
        kind: ``dataset``, ``model``, ``summarizer`` or ``collection``.
        source: ``opencompass``, ``aisbench``, or the folder that somebody named.
        path: The file.
        address: The path below the source, without the ending; unlike the name, it is unique.
    """

    name: str
    kind: str
    source: str
    path: Path
    address: str


def config_entries(
    include_paths: Iterable[str] = (), named: Callable[[str], object] | None = None
) -> Mapping[str, ConfigEntry]:
    """Return all configs by ``source/address``; those of named folders first.

    Args:
        include_paths: More folders, before those of ``PROCTOR_CONFIG_DIRS`` and the installed packages.
        named: Whether a name in lower case is wanted; files of other names are not looked into. ``None`` is all.
    """
    folders = [*map(str, include_paths), *filter(None, (settings.config_dirs or "").split(os.pathsep))]
    is_wanted = named or (lambda _name: True)
    entries = [entry for folder in folders for entry in _walk(folder, folder, is_wanted)]
    for source, folder in _installed():
        entries += (entry for entry in _entries(source, _stamped(folder)) if is_wanted(entry.name.lower()))
    return {f"{entry.source}/{entry.address}": entry for entry in entries}


def find_config(name: str, include_paths: Iterable[str] = (), kinds: Collection[str] = ()) -> Path | None:
    """Return the file of a config: by its name, or by the end of its path (``mmlu/mmlu_gen``).

    Args:
        name: As typed; an ending ``.py`` does not matter.
        include_paths: More folders with configs.
        kinds: Only configs of these kinds, where any are given.

    Raises:
        UsageError: Two files of one source have the name.
    """
    wanted = name.removesuffix(".py")
    last = wanted.rpartition("/")[2].lower()
    entries = [
        entry
        for address, entry in config_entries(include_paths, last.__eq__).items()
        if (entry.name == wanted or f"/{address}".endswith(f"/{wanted}")) and (not kinds or entry.kind in kinds)
    ]
    first = [entry for entry in entries if entry.source == entries[0].source]
    if len(first) > 1:
        addresses = ", ".join(entry.address for entry in first)
        raise UsageError(f"'{name}' means {len(first)} configs", hint=f"say which: {addresses}")
    return first[0].path if first else None


def _installed() -> Iterator[tuple[str, str]]:
    for source, place in _PACKAGES:
        package, _, below = place.partition("/")
        folder = package_folder(package)
        if folder is not None and (configs := folder / below).is_dir():
            yield source, str(configs)


def _stamped(folder: str) -> tuple[str, Stamp]:
    """Return a folder with what changes when files come and go directly below it."""
    try:
        return folder, stamp_of(folder)
    except OSError:
        return folder, ()


@lru_cache(maxsize=8)
def _entries(source: str, stamped: tuple[str, Stamp]) -> tuple[ConfigEntry, ...]:
    """Return the configs of an installed package: unlike those of a folder, they stay while a process runs."""
    return tuple(_walk(source, stamped[0], lambda _name: True))


def _walk(source: str, base: str, named: Callable[[str], object]) -> Iterator[ConfigEntry]:
    is_package = source in dict(_PACKAGES)
    for folder, names, files in os.walk(base):
        names[:] = sorted(name for name in names if not name.startswith((".", "__")))
        parts = Path(folder).relative_to(base).parts
        kind_here = next((_KINDS[part] for part in parts if part in _KINDS), None)
        for file in sorted(files):
            stem = file.removesuffix(".py")
            if stem == file or file.startswith("_") or not named(stem.lower()):
                continue
            path = Path(folder, file)
            kind = kind_here or (DATASET if is_package else _kind_by_content(path))
            if kind is not None:
                yield ConfigEntry(stem, kind, source, path, "/".join((*parts, stem)))


def _kind_by_content(path: Path) -> str | None:
    try:
        text = read_head(path, _MOST_BYTES)
    except OSError:
        return None
    return next((kind for kind, signs in _SIGNS.items() if any(sign in text for sign in signs)), None)


_LISTED_AS = {DATASET: "exam", COLLECTION: "suite"}


def list_configs(include_paths: Iterable[str], named: Named) -> Iterator[Entry]:
    """Yield configs whose names are wanted."""
    for entry in config_entries(include_paths, named).values():
        kind = _LISTED_AS.get(entry.kind, f"{entry.kind} config")
        yield Entry(entry.name, kind, f"config {entry.address}", f"{entry.source} {entry.path}")


def knows(name: str, include_paths: Iterable[str]) -> bool:
    """Whether a config has a name, with ``::ABBR`` behind it or not."""
    base = name.partition("::")[0].partition("@")[0]
    source, _, rest = base.partition("/")
    return find_config(rest if source in dict(_PACKAGES) else base, include_paths) is not None
