"""The tables that say how dataset classes make their rows, by the classes' names.

``types*.json`` have an entry for each class. An entry may be ``like`` another one, hold for ``only`` one project, or
say something else for ``opencompass`` and ``aisbench``. Where two classes have one name, the key begins with their
module: ``needlebench_v2.origin.NeedleBenchOriginDataset``.
"""

from __future__ import annotations

import ast
import json
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any

from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.dataset_spec import DatasetSpec

_OF_CIRCULAR = frozenset({"option_keys", "answer_key", "circular_splits", "circular_patterns", "labels"})


def argument_names(spec: DatasetSpec) -> frozenset[str] | None:
    """Return the arguments that a dataset type reads; ``None`` where functions read them, or the hub's library."""
    if spec.generator or spec.function or spec.row_function or (spec.files is None and not spec.load):
        return None
    found = {
        *spec.defaults,
        *spec.derived,
        *spec.choices,
        spec.repeat,
        spec.repeat_whole[0],
        *map(str, spec.sample[:1]),
    }
    found.update(name for text in _texts((spec.files, spec.takes)) for name in _places(text))
    found.update(name for text in (*spec.derived.values(), *spec.load.values()) for name in _names(text))
    found.update(name for text in _expressions(spec) for name in _of_args(text))
    return frozenset(found | (_OF_CIRCULAR if spec.circular else set())) - {""}


def _expressions(spec: DatasetSpec) -> Iterator[str]:
    single = (spec.where, spec.each, spec.also, spec.keep, *map(str, spec.sample[2:3]))
    yield from (text for text in (*single, *spec.columns.values(), *spec.update.values()) if text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts(each)


def _places(template: str) -> Iterator[str]:
    """Yield the arguments that a path names: ``{name}``, or the whole of it as ``@name``."""
    if template.startswith("@"):
        yield template[1:]
        return
    for _, name, _, _ in string.Formatter().parse(template):
        if name:
            yield name.partition(".")[0].partition("[")[0]


def _names(expression: str) -> Iterator[str]:
    return (node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name))


def _of_args(expression: str) -> Iterator[str]:
    """Yield what an expression reads of ``args``: ``args['name']``, ``args.get('name')``."""
    for node in ast.walk(ast.parse(expression, mode="eval")):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and _is_args(node.value):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_args(node.func.value):
            key = node.args[0] if node.args else None
        if isinstance(key, ast.Constant):
            yield str(key.value)


def _is_args(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "args"


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
