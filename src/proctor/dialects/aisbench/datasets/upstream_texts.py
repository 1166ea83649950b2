"""Long texts of prompts that only upstream's package has: read from its files, never imported or run.

Some dataset classes put their rows into prompts of several pages, which lie as constants in the class's module or as
YAML beside it. The package has to be installed for its configs anyway; ``pip install --no-deps`` is enough.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from proctor.errors import DatasetNotFoundError
from proctor.packages import package_folder

_PACKAGE = "opencompass"
_ALSO = ("ais_bench", "benchmark")
"""AISBench has some of the same files, below a folder of its own."""


def package_file(name: str) -> Path:
    """Return a file of the package, installed or fetched, by its path below the package.

    Raises:
        DatasetNotFoundError: The package is not installed, or has no such file.
    """
    folders = [each for each in (package_folder(_PACKAGE), _below(package_folder(_ALSO[0]))) if each is not None]
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is None:
        why = f"it is none of the files in {folders[0]}" if folders else f"the package '{_PACKAGE}' is not installed"
        raise DatasetNotFoundError(
            f"the prompts of this dataset are in {_PACKAGE}/{name}, which is not there",
            why=why,
            hint=f"proctor get {_PACKAGE}; the file is read, not run",
        )
    return found


def _below(folder: Path | None) -> Path | None:
    return None if folder is None else folder / _ALSO[1]


@cache
def package_yaml(name: str) -> Any:
    """Return the content of a YAML file of the package.

    Raises:
        DatasetNotFoundError: There is no such file.
    """
    return yaml.safe_load(package_file(name).read_text(encoding="utf-8"))


@cache
def constants(module: str) -> Mapping[str, Any]:
    """Return the constants of a module of the package: literals, and what is joined or filled in from literals.

    Args:
        module: Dotted, below the package: ``datasets.babilong.prompts``. A class's constants are ``Class.name``.

    Raises:
        DatasetNotFoundError: There is no such module.
    """
    return _read(package_file(module.replace(".", "/") + ".py"), module)


@cache
def constants_of_file(path: Path) -> Mapping[str, Any]:
    """Return the constants of a file by itself, as :func:`constants` does, without what it imports."""
    return _read(path)


def _read(path: Path, module: str = "") -> Mapping[str, Any]:
    """Return constants of a file, and of the modules beside it that it imports, where it is a module of the package."""
    known: dict[str, Any] = {}
    for prefix, node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            if module and (origin := _sibling(module, node)) is not None:
                theirs = constants(origin)
                known |= {each.asname or each.name: theirs[each.name] for each in node.names if each.name in theirs}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                known[prefix + node.targets[0].id] = _value(node.value, known)
            except _NotConstantError:
                continue
    return known


class _NotConstantError(Exception):
    pass


def _statements(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.", each) for each in node.body)
        else:
            yield "", node


def _sibling(module: str, node: ast.ImportFrom) -> str | None:
    """Return the module that an import means, where it is one beside the importing module."""
    package = module.rpartition(".")[0]
    if node.level == 1:
        name = f"{package}.{node.module}"
    elif not node.level and str(node.module).startswith(f"{_PACKAGE}.{package}."):
        name = str(node.module).removeprefix(f"{_PACKAGE}.")
    else:
        return None
    try:
        package_file(name.replace(".", "/") + ".py")
    except DatasetNotFoundError:
        return None
    return name


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """Return the value of a constant expression.

    Raises:
        _NotConstantError: It is not one.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    reader = _READERS.get(type(node))
    if reader is None:
        raise _NotConstantError
    return reader(node, known)


def _listed(node: Any, known: Mapping[str, Any]) -> list[Any]:
    return [_value(each, known) for each in node.elts]


def _dictionary(node: Any, known: Mapping[str, Any]) -> dict[Any, Any]:
    if not all(node.keys):
        raise _NotConstantError
    return {_value(key, known): _value(each, known) for key, each in zip(node.keys, node.values, strict=True)}


def _joined(node: Any, known: Mapping[str, Any]) -> str:
    return "".join(str(_value(each, known)) for each in node.values)


def _filled(node: Any, known: Mapping[str, Any]) -> Any:
    if node.conversion >= 0 or node.format_spec is not None:
        raise _NotConstantError
    return _value(node.value, known)


def _added(node: Any, known: Mapping[str, Any]) -> str:
    left, right = _value(node.left, known), _value(node.right, known)
    if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
        return left + right
    raise _NotConstantError


def _called(node: Any, known: Mapping[str, Any]) -> Any:
    """Return what ``dict(…)``, or ``strip`` or ``replace`` of a text, gives."""
    function = node.func
    if isinstance(function, ast.Name) and function.id == "dict" and not node.args:
        return {each.arg: _value(each.value, known) for each in node.keywords}
    if isinstance(function, ast.Attribute) and function.attr in ("strip", "replace"):
        text, words = _value(function.value, known), [_value(each, known) for each in node.args]
        if isinstance(text, str) and all(isinstance(word, str) for word in words):
            return getattr(text, function.attr)(*words)
    raise _NotConstantError


_READERS: Mapping[type[ast.expr], Callable[[Any, Mapping[str, Any]], Any]] = {
    ast.List: _listed,
    ast.Tuple: _listed,
    ast.Set: _listed,
    ast.Dict: _dictionary,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _filled,
    ast.BinOp: _added,
    ast.Call: _called,
}
