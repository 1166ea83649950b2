"""Names that modules beside a config register (``@MODELS.register_module()``), found without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.sources import source_of
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import Location

_REGISTER = "register_module"


def with_registered(values: dict[str, Any], names: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """Return the data of a config in which types that modules beside it register are references to what they name.

    Args:
        values: The data, which is changed.
        names: The names of the config, imported ones included.
        file: The config.
    """
    known = {name: place for module in _modules(values, names) for name, place in _registered(module, file.parent)}
    if known:
        _refer(values, known, Location(str(file)))
    return values


def _modules(values: Mapping[str, Any], names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the modules that a config imports itself, and those that its ``custom_imports`` name."""
    from proctor.guests.table import TABLES

    custom = values.get("custom_imports")
    listed = custom.get("imports") if isinstance(custom, Mapping) else ()
    imported = [each.name for each in names.values() if isinstance(each, Reference)]
    for name in dict.fromkeys([*imported, *([listed] if isinstance(listed, str) else listed or ())]):
        if name.partition(".")[0] not in TABLES:
            yield from (name, name.rpartition(".")[0])


def _registered(module: str, folder: Path) -> Iterator[tuple[str, str]]:
    file = folder.joinpath(*module.split(".")).with_suffix(".py") if module.strip(".") == module != "" else folder
    if not file.is_file():
        return
    try:
        tree = ast.parse(source_of(file, None))
    except (SyntaxError, ValueError):
        return  # said when it is run
    for node in (each for each in tree.body if isinstance(each, ast.ClassDef | ast.FunctionDef)):
        for each in node.decorator_list:
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == _REGISTER:
                given = [*each.args[:1], *(word.value for word in each.keywords if word.arg == "name")]
                texts = [text.value for value in given for text in ast.walk(value) if isinstance(text, ast.Constant)]
                yield from ((str(name), f"{module}.{node.name}") for name in texts or [node.name])


def _refer(value: Any, known: Mapping[str, str], file: Location) -> None:
    if isinstance(value, dict):
        kind = value.get("type")
        if isinstance(kind, str) and kind in known:
            place = value.location if isinstance(value, ConfigDict) else None
            value["type"] = Reference(known[kind], place or file)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        _refer(each, known, file)
