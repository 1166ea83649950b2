"""Turns what a config left behind into plain data for everybody else."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from proctor.dialects.aisbench.sources import source_of
from proctor.dialects.aisbench.values import ConfigDict, ConfigFileError, ConfigFunction, InheritedDict, Reference
from proctor.errors import Location
from proctor.safe_python.budget import Budget
from proctor.safe_python.file_modules import Environment
from proctor.safe_python.files import TextFile
from proctor.safe_python.functions import Builtin
from proctor.safe_python.methods import BoundMethod
from proctor.safe_python.modules import ModuleValue

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


_DELETE_KEY = "_delete_"

_NO_DATA = (ModuleValue, Environment, TextFile, BoundMethod, ConfigFunction, ModuleType, FunctionType)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def data_names(names: Mapping[str, Any], imported: Iterable[str]) -> list[str]:
    """Return the names of a file that are data: not what it imported, not its functions and modules."""
    return [
        name
        for name, value in names.items()
        if not name.startswith("__")
        and not isinstance(value, _NO_DATA)
        and not hasattr(value, "__next__")
        and not (name in imported and (isinstance(value, (Reference, Builtin)) or callable(value)))
    ]


def exported(names: Mapping[str, Any], imported: Iterable[str], budget: Budget) -> dict[str, Any]:
    """Return the data among the names of a file, as plain values that nobody else holds.

    Raises:
        ConfigFileError: A value contains itself, or an iterator or an open file.
        ExhaustedError: There is more of it than the budget has steps.
    """
    exporter = _Exporter(budget)
    return {name: exporter.value(names[name], name) for name in data_names(names, imported)}


class _Exporter:
    """Copies values out of what was read, so that nobody's change reaches what is kept; sharing stays as it was."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._done: dict[int, Any] = {}

    def value(self, value: Any, path: str) -> Any:
        kind = value.__class__
        if kind in (str, int, float, bool, type(None)):
            return value
        if isinstance(value, (dict, list, tuple, set, frozenset, *_VIEWS)):
            if id(value) in self._done:
                made = self._done[id(value)]
                if made is _UNFINISHED:
                    raise ConfigFileError("a value of the config contains itself", path=path)
                return made
            self._done[id(value)] = _UNFINISHED
            made = self._done[id(value)] = self._container(value, path)
            return made
        if isinstance(value, Builtin):
            return Reference(value.name if "." in value.name else f"builtins.{value.name}")
        if hasattr(value, "__next__"):
            hint = "list(…) keeps what it gives"
            raise ConfigFileError("a value of the config is an iterator, which is read once", path=path, hint=hint)
        if isinstance(value, (ModuleValue, Environment, TextFile, BoundMethod)):
            raise ConfigFileError(f"a value of the config is not data but a {kind.__name__}", path=path)
        return value

    def _container(self, value: Any, path: str) -> Any:
        self._budget.spend(len(value) >> 1)
        if isinstance(value, dict):
            location = getattr(value, "location", None)
            made = ConfigDict(location=location)
            for key, each in value.items():
                made[key] = self.value(each, f"{path}.{key}")
            return made
        items = [self.value(each, f"{path}[{position}]") for position, each in enumerate(value)]
        return type(value)(items) if isinstance(value, (tuple, set, frozenset)) else items


_UNFINISHED = object()


def merged(base: InheritedDict, own: dict[str, Any]) -> dict[str, Any]:
    """Return old-style bases with the names of a file merged in; ``_delete_=True`` replaces instead of merging."""
    united: dict[str, Any] = dict(base)
    for key, value in own.items():
        if isinstance(value, dict) and key in base and not value.pop(_DELETE_KEY, False):
            if not isinstance(base[key], dict):
                raise ConfigFileError(
                    f"'{key}' is a dictionary here and none in the base",
                    location=getattr(value, "location", None),
                    hint=f"set {_DELETE_KEY}=True in it to replace the value of the base",
                )
            united[key] = ConfigDict(merged(base[key], value), location=getattr(value, "location", None))
        else:
            united[key] = value
    return united
