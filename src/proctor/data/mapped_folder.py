"""The folder of mapped datasets (``PROCTOR_HUB_DIR``): where ids and addresses lie in it, its files by split."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from proctor.data.dataset_card import card_configurations
from proctor.errors import DataError, Location
from proctor.foreign_text import parse_json
from proctor.safe_files import Stamp, stamp_of
from proctor.settings import settings


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
    """Return a web address as a path in the mapped folder: ``host/path`` without the query, ``index`` after a slash."""
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
    return _read_aliases(str(path), stamp_of(path))


@lru_cache(maxsize=16)
def _read_aliases(path: str, modified: Stamp) -> Mapping[str, str]:
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


def configurations(folder: Path) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the patterns of the files of each split of each configuration of a folder, as its card or its order says.

    Where there is no card that says it, these are the parquet files in the folder and in those below it.

    Raises:
        DataError: The header of its dataset card cannot be read.
    """
    declared = card_configurations(folder)
    found = {name: dict(each.files) for name, each in declared.items() if each.files}
    if not found:
        found = {each.name: _files_by_name(each, f"{each.name}/") for each in sorted(folder.iterdir()) if each.is_dir()}
        found = {name: splits for name, splits in found.items() if splits}
        if own := _files_by_name(folder, ""):
            found.setdefault("default", own)
    return found


def _files_by_name(folder: Path, prefix: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(folder.glob("*.parquet")):
        split = path.stem.partition("-")[0]
        found[split] = (*found.get(split, ()), f"{prefix}{path.name}")
    return found
