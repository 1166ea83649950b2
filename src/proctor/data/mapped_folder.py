"""The folder of mapped datasets (``PROCTOR_HUB_DIR``): where ids and addresses lie in it, its files by split."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from proctor.errors import DataError, Location
from proctor.foreign_text import parse_json
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


def configurations(folder: Path) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the parquet files of each split of each configuration of a folder; none where it has none.

    Raises:
        DataError: The header of its dataset card cannot be read.
    """
    return _configurations(str(folder), folder.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _configurations(folder: str, modified: int) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    del modified  # part of the cache key: a changed folder is read again
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
    import yaml

    from proctor.foreign_yaml import parse_yaml

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
