"""Runs a config with Python, for users who said that they trust its code.

As mmengine does it: names that the file imports from outside the standard library stay unimported references, so a
config runs where its packages are not installed. A reference is imported when the config calls it or inherits from it.
"""

from __future__ import annotations

import ast
import copy
import sys
from typing import Any

from proctor.dialects.aisbench.datasets.trusted import imported
from proctor.dialects.aisbench.values import ConfigDict, ConfigFileError, InheritedDict, Reference
from proctor.errors import Location, ProctorError, TrustError
from proctor.safe_python.scope import SourceFile


class ImportedName:
    """A name that running code imported: what it stands for is imported only when the code uses it."""

    def __init__(self, name: str, location: Location | None) -> None:
        self.imported_name = Reference(name, location)

    def __getattr__(self, name: str) -> ImportedName:
        if name.startswith("__"):
            raise AttributeError(name)
        return ImportedName(f"{self.imported_name.name}.{name}", self.imported_name.location)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Import it and call it."""
        return _loaded(self.imported_name)(*arguments, **named)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return (_loaded(self.imported_name),)

    def __repr__(self) -> str:
        return self.imported_name.short


class RunningDict(InheritedDict):
    """A dictionary of a base file for running code: with mmengine's attributes, ``deepcopy`` and merging ``update``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "location":
            object.__setattr__(self, name, value)
        else:
            self[name] = value

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, _running(value))

    def copy(self) -> RunningDict:
        """Return a shallow copy."""
        return RunningDict(self, location=self.location)

    def deepcopy(self) -> RunningDict:
        """Return a deep copy."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> RunningDict:
        made = memo[id(self)] = RunningDict(location=self.location)
        for key, value in self.items():
            made[key] = copy.deepcopy(value, memo)
        return made

    def update(self, *others: Any, **named: Any) -> None:
        """Merge other dictionaries."""
        for other in (*others, named):
            for key, value in dict(other).items():
                known = self.get(key)
                if isinstance(known, dict) and isinstance(value, dict):
                    known.update(value)
                else:
                    self[key] = value

    def pop(self, key: str, default: object = None) -> Any:
        """Take a value out; ``None`` where there is none."""
        return super().pop(key, default)


def execute(module: SourceFile, body: list[ast.stmt]) -> dict[str, Any]:
    """Run the statements of a file and return its names.

    Raises:
        ConfigFileError: The code fails.
    """
    names: dict[str, Any] = {name: _running(value) for name, value in module.names.items()}
    names["__file__"] = str(module.path)
    names[_IMPORT] = lambda name, line: ImportedName(name, Location(str(module.path), line))
    tree = ast.fix_missing_locations(_Imports(module).visit(ast.Module(body, type_ignores=[])))
    try:
        exec(compile(tree, str(module.path), "exec"), names)  # noqa: S102 - the user said --trust-code
    except Exception as error:
        raise _failed(module, error) from error
    done: dict[int, Any] = {}
    return {name: _data(value, done) for name, value in names.items() if name not in ("__builtins__", _IMPORT)}


_IMPORT = "__imported__"


class _Imports(ast.NodeTransformer):
    """Turns imports of anything but the standard library into names that are imported on first use."""

    def __init__(self, module: SourceFile) -> None:
        self._module = module

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for alias in node.names:
            if alias.name.partition(".")[0] in sys.stdlib_module_names:
                self._module.imported.add(alias.asname or alias.name.partition(".")[0])
                made.append(ast.copy_location(ast.Import([alias]), node))
                continue
            full = alias.name if alias.asname else alias.name.partition(".")[0]
            made.append(self._binding(alias.asname or full, full, node))
        return made

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = node.module or ""
        if not node.level and module.partition(".")[0] in sys.stdlib_module_names:
            self._module.imported.update(alias.asname or alias.name for alias in node.names)
            return [node]
        prefix = "." * node.level + module
        separator = "" if prefix.endswith(".") else "."
        return [
            self._binding(alias.asname or alias.name, f"{prefix}{separator}{alias.name}", node) for alias in node.names
        ]

    def _binding(self, name: str, full: str, node: ast.stmt) -> ast.stmt:
        self._module.imported.add(name)
        arguments: list[ast.expr] = [ast.Constant(full), ast.Constant(node.lineno)]
        called = ast.Call(ast.Name(_IMPORT, ast.Load()), arguments, [])
        return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], called), node)


def _loaded(reference: Reference) -> Any:
    """Import what a reference names.

    Raises:
        TrustError: It cannot be imported here.
    """
    try:
        return imported(reference.name, reference.location)
    except (ImportError, ValueError) as error:
        raise TrustError(
            f"the config uses '{reference.name}', which cannot be imported",
            location=reference.location,
            why=str(error),
            hint=f"install the package '{reference.name.partition('.')[0]}'",
        ) from None


def _running(value: Any) -> Any:
    if isinstance(value, RunningDict):
        return value
    if isinstance(value, dict):
        made = RunningDict(location=getattr(value, "location", None))
        for key, each in value.items():
            made[key] = each
        return made
    if isinstance(value, (list, tuple)):
        return type(value)([_running(each) for each in value])
    return ImportedName(value.name, value.location) if isinstance(value, Reference) else value


def _data(value: Any, done: dict[int, Any]) -> Any:
    """Return plain data of what running code made: references for names that were not imported."""
    if isinstance(value, ImportedName):
        return value.imported_name
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, dict):
        made = done[id(value)] = ConfigDict(location=getattr(value, "location", None))
        made.update({key: _data(each, done) for key, each in dict.items(value)})
        return made
    if isinstance(value, list):
        items: list[Any] = []
        done[id(value)] = items
        items.extend(_data(each, done) for each in value)
        return items
    return tuple(_data(each, done) for each in value) if type(value) is tuple else value


def _failed(module: SourceFile, error: Exception) -> ProctorError:
    """Return the error of code that failed, at the last line of the config that was running."""
    if isinstance(error, ProctorError):
        return error
    line = 0
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(module.path):
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    said = f"{type(error).__name__}: {error}"
    return ConfigFileError(f"the config fails: {said}", location=Location(str(module.path), line))
