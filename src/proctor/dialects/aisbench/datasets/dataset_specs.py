"""The tables that say how dataset classes make their rows, by the classes' names.

``types*.json`` have an entry for each class. An entry may be ``like`` another one, hold for ``only`` one project, or
say something else for ``opencompass`` and ``aisbench``. Where two classes have one name, the key begins with their
module: ``needlebench_v2.origin.NeedleBenchOriginDataset``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.dataset_spec import DatasetSpec

_LAYOUT = {each.name for each in fields(FileFormat)}
_PROJECT_NAMES = ("opencompass", "aisbench")


def _entries() -> dict[str, Any]:
    files = sorted(each.name for each in resources.files(__package__).iterdir() if each.name.startswith("types"))
    read = (json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8")) for name in files)
    return {name: entry for entries in read for name, entry in entries.items()}


@cache
def _specs() -> Mapping[str, Mapping[str, DatasetSpec]]:
    table: dict[str, dict[str, DatasetSpec]] = {}
    entries = _entries()
    for name, entry in entries.items():
        base = _inherited(entry, entries)
        common = {key: value for key, value in base.items() if key not in (*_PROJECT_NAMES, "like", "only")}
        projects = [entry["only"]] if "only" in entry else list(_PROJECT_NAMES)
        table[name] = {project: _spec({**common, **base.get(project, {})}) for project in projects}
    return table


def _inherited(entry: Mapping[str, Any], entries: Mapping[str, Any]) -> dict[str, Any]:
    return {**_inherited(entries[entry["like"]], entries), **entry} if "like" in entry else dict(entry)


def _spec(entry: Mapping[str, Any]) -> DatasetSpec:
    layout = FileFormat(**{key: value for key, value in entry.items() if key in _LAYOUT})
    return DatasetSpec(layout=layout, **{key: value for key, value in entry.items() if key not in _LAYOUT})


def spec_of(name: str, project: str) -> DatasetSpec | None:
    """Return how a project's class makes its rows, by its name or dotted name; ``None`` where that is not known."""
    parts = name.rpartition(".datasets.")[2].split(".")
    known = (_specs().get(".".join(parts[i:]), {}) for i in range(len(parts)))
    return next((found for found in known if found), {}).get(project)


def spec_names() -> list[str]:
    """Return the names of all classes that are known, some with their module."""
    return sorted(_specs())
