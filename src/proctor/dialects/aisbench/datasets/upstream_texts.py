"""Long texts of prompts that only upstream's package has: computed from its files, never imported.

Some dataset classes put their rows into prompts of several pages, which lie as constants in the class's module or as
YAML beside it. The package has to be installed for its configs anyway; ``pip install --no-deps`` is enough.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from proctor.errors import DatasetNotFoundError
from proctor.packages import package_folder
from proctor.safe_python.budget import Budget
from proctor.safe_python.scope import Frame, SourceFile
from proctor.safe_python.statements import Interpreter

_PACKAGE = "opencompass"
_ALSO = ("ais_bench", "benchmark")  # AISBench has some of the same files, below a folder of its own


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
    """Return the constants of a module of the package: what :mod:`~proctor.safe_python` computes of literals.

    Args:
        module: Dotted, below the package: ``datasets.babilong.prompts``. A class's constants are ``Class.name``.

    Raises:
        DatasetNotFoundError: There is no such module.
    """
    return _read(package_file(module.replace(".", "/") + ".py"), module)


def _read(path: Path, module: str = "") -> Mapping[str, Any]:
    """Return constants of a file, and of the modules beside it that it imports, where it is a module of the package."""
    file = SourceFile(path, path.read_text(encoding="utf-8"), path.parent)
    machine, frame = Interpreter(lambda _, error: error), Frame.of_file(file, Budget())
    known = file.names
    for prefix, node in _statements(ast.parse(file.text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            if module and (origin := _sibling(module, node)) is not None:
                theirs = constants(origin)
                known |= {each.asname or each.name: theirs[each.name] for each in node.names if each.name in theirs}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            with suppress(Exception):  # what names something else, or fails, is not a constant
                known[prefix + node.targets[0].id] = machine.evaluate(node.value, frame)
    known.pop("__file__", None)
    return known


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
