"""Finds, loads and parses the files of a config; imports nothing to find them."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from pathlib import Path

from proctor.dialects.aisbench.values import ConfigFileError
from proctor.errors import Location
from proctor.packages import package_folder
from proctor.safe_files import Stamp, stamp_of
from proctor.safe_python.budget import RefusalError
from proctor.safe_python.files import read_source
from proctor.safe_python.scope import SourceFile
from proctor.safe_python.statements import BASE_KEY, is_read_base
from proctor.settings import settings

_CONFIG_FOLDERS = {"opencompass": "configs", "ais_bench": "benchmark/configs"}


def absolute(path: Path) -> Path:
    """Return a path from the root, links left as they are."""
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - links stay: the config's folder is as it was named


def source_of(path: Path, asked_by: Location | None) -> str:
    """Return the text of a file.

    Raises:
        ConfigFileError: It cannot be read.
    """
    try:
        return read_source(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigFileError("the config is not UTF-8 text", location=Location(str(path)), why=str(error)) from None
    except RefusalError as refusal:
        raise ConfigFileError(f"the config {refusal}", location=asked_by or Location(str(path))) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigFileError(f"the config '{path}' cannot be read", location=asked_by, why=reason) from None


def parsed(module: SourceFile, text: str | None = None) -> ast.Module:
    """Return the syntax tree of a file.

    Raises:
        ConfigFileError: It is not Python.
    """
    file = str(module.path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an escape that Python dislikes is the author's affair
            tree = ast.parse(module.text if text is None else text, file)
            compile(tree, file, "exec", dont_inherit=True)  # finds what parsing does not, 'return' outside a function
    except SyntaxError as error:
        place = Location(file, error.lineno or 0, error.offset or 0)
        raise ConfigFileError(
            "the config is not valid Python",
            location=place,
            why=error.msg,
            hint="a config is Python: see to the line that is shown, and to the one above",
        ) from None
    except ValueError as error:
        raise ConfigFileError("the config is not valid Python", location=Location(file), why=str(error)) from None
    except (RecursionError, MemoryError):
        raise nested_too_deeply(file) from None
    return tree


def readable_folder(path: Path) -> Path:
    """Return the folder whose files a config may open: its own, or all configs of an installed package."""
    ends = tuple(f"/{package}/{below}" for package, below in _CONFIG_FOLDERS.items())
    for folder in path.parents:
        if folder.as_posix().endswith(ends):
            return folder
    return path.parent


def is_lazy(tree: ast.Module) -> bool:
    """Return whether mmengine reads a file in its lazy mode: it imports something that Python does not bring along."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            if isinstance(node.targets[0], ast.Name) and node.targets[0].id == BASE_KEY:
                return False
        elif isinstance(node, ast.With):
            if is_read_base(node):
                return True
        elif isinstance(node, ast.ImportFrom):
            if node.level or (node.module is not None and not _is_standard(node.module)):
                return True
        elif isinstance(node, ast.Import) and any(not _is_standard(alias.name) for alias in node.names):
            return True
    return False


def _is_standard(module: str) -> bool:
    return module.startswith("mmengine.config") or module.partition(".")[0] in sys.stdlib_module_names


def named_stamp(path: Path) -> tuple[str, Stamp]:
    """Return a file's name with what tells whether it has changed."""
    try:
        return str(path), stamp_of(path)
    except OSError:
        return str(path), ()


def base_names(module: SourceFile, statement: ast.Assign) -> list[str]:
    """Return the files that an old-style ``_base_`` names.

    Raises:
        ConfigFileError: It is not a list of texts.
    """
    try:
        value = ast.literal_eval(statement.value)
    except (ValueError, TypeError):
        value = None
    names = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) for name in names):
        raise ConfigFileError("_base_ is not a list of file names", location=module.location(statement))
    return names


def base_path(module: SourceFile, node: ast.ImportFrom) -> Path:
    """Return the file that a base import means.

    Raises:
        ConfigFileError: There is none.
    """
    place = module.location(node)
    if not node.module:
        raise ConfigFileError("the import names no base file", location=place, hint="write 'from .file import name'")
    parts = node.module.split(".")
    if node.level:
        folder = module.path.parent
        for _ in range(node.level - 1):
            folder = folder.parent
        path = folder.joinpath(*parts).with_name(f"{parts[-1]}.py")
        if not path.is_file():
            raise ConfigFileError(f"the base file '{path}' does not exist", location=place)
        return absolute(path)
    for folder in _package_folders(module.path, parts[0]):
        path = folder.joinpath(*parts[1:-1], f"{parts[-1]}.py") if len(parts) > 1 else folder
        if path.is_file():
            return absolute(path)
    raise ConfigFileError(
        f"the base file '{node.module}' does not exist",
        location=place,
        hint=f"install the package '{parts[0]}', or put the config into its tree",
    )


def _package_folders(path: Path, package: str) -> list[Path]:
    """Return where a package may lie: around the file, in named folders, installed, fetched. Nothing is imported."""
    folders = [folder for folder in path.parents if folder.name == package]
    folders += [folder / package for folder in path.parents if (folder / package).is_dir()]
    for named in filter(None, (settings.config_dirs or "").split(os.pathsep)):
        below = _CONFIG_FOLDERS.get(package)
        folder = absolute(Path(named))
        if below is not None and folder.as_posix().endswith(f"{package}/{below}"):
            folders.append(folder.parents[below.count("/")])
    if (found := package_folder(package)) is not None:
        folders.append(found)
    return folders


def nested_too_deeply(file: str, place: Location | None = None) -> ConfigFileError:
    """Return the error of a file that goes deeper than Python can follow."""
    return ConfigFileError("the config is nested too deeply", location=place or Location(file))
