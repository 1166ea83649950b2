"""Code behind an exam, in digests: the file of a function or a class, and the files beside it that it imports.

What a run was measured with includes code that exams and plugins bring along. Where such a file is edited, the exam is
another one, so run files hold a digest of each. Followed are imports of files that lie beside the importing one or are
imported relatively; packages that were installed count by the file that is named, what they import by its version.
"""

from __future__ import annotations

import ast
import marshal
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final

from proctor.artifacts import Artifact
from proctor.artifacts.effects_of import parts_of
from proctor.recipes.fingerprint import digest_of_bytes
from proctor.safe_files import Stamp, read_bytes, stamp_of

_MOST_BYTES: Final = 4 << 20
"""Bytes of a file with code: the longest one of lm-eval's tasks has 200 KB."""

_MOST_FILES: Final = 200
"""Files that are followed from one: the largest folder of lm-eval's tasks has thirty."""

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""Folders in which everything lies beside everything."""

_NOT_THEIRS: Final = sys.stdlib_module_names | {"proctor", "", "__main__"}
"""Packages whose code a version of Python, or of Proctor, says; and what has no file."""


def code_of_file(file: Path, *more: Path) -> dict[str, str]:
    """Return the digests of a Python file and of the files beside it that it imports, by path from the file's folder.

    A file that cannot be read is left out: whoever imports it says why. Imports are looked for in more folders, too.
    """
    found: dict[Path, str] = {}
    roots = (file.parent, *more)
    waiting = [file]
    while waiting and len(found) < _MOST_FILES:
        each = waiting.pop()
        if each in found or (read := _read(each, roots)) is None:
            continue
        found[each], imports = read
        waiting += reversed(imports)
    return {Path(os.path.relpath(path, file.parent)).as_posix(): digest for path, digest in found.items()}


def code_of(values: Iterable[object]) -> dict[str, str]:
    """Return the digests of the files of classes and functions, or of objects of such classes, which are not ours.

    Args:
        values: Classes, functions, artifacts with all their parts, other objects by their class.
    """
    found: dict[str, str] = {}
    for value in values:
        for each in parts_of(value) if isinstance(value, Artifact) else (value,):
            found |= _code_of_function(each) if isinstance(each, FunctionType) else _code_of_class(each)
            for name in getattr(each, "code_modules", ()):
                found |= code_of_module(name)
            for file in getattr(each, "code_files", ()):
                for path, digest in code_of_file(Path(file).resolve(), Path.cwd()).items():
                    found[path if found.get(path, digest) == digest else f"{path}: {digest}"] = digest
    return found


def _code_of_function(function: FunctionType) -> dict[str, str]:
    if function.__module__ == "__main__":
        return _typed_in(f"def {function.__qualname__}", function) or {
            f"def {function.__qualname__}": digest_of_bytes(marshal.dumps(function.__code__))
        }
    if function.__module__ in sys.modules:
        return code_of_module(function.__module__)
    file = Path(function.__code__.co_filename)  # of a file that was run, not imported
    return {f"def {function.__qualname__}: {path}": digest for path, digest in code_of_file(file).items()}


def _code_of_class(value: object) -> dict[str, str]:
    kind = value if isinstance(value, type) else type(value)
    if kind.__module__ != "__main__":
        return code_of_module(kind.__module__)
    return _typed_in(f"class {kind.__qualname__}", kind)


def _typed_in(name: str, value: type | FunctionType) -> dict[str, str]:
    """Return the digest of what stands in the user's own program; nothing where it was typed in by hand."""
    with suppress(OSError, TypeError):
        return {name: digest_of_bytes(getsource(value).encode())}
    return {}


def code_of_module(name: str) -> dict[str, str]:
    """Return the digests of a module's files by its name; nothing of our own, of Python's, and of none that is there.

    The packages above it are imported, as they are where it is used.
    """
    package = name.partition(".")[0]
    if package in _NOT_THEIRS or not (file := _file_of(name)):
        return {}
    return {name if path == file.name else f"{name}: {path}": digest for path, digest in code_of_file(file).items()}


def _file_of(name: str) -> Path | None:
    module: ModuleType | None = sys.modules.get(name)
    place = getattr(module, "__file__", None)
    if module is None:
        try:
            spec: ModuleSpec | None = find_spec(name)
        except (ImportError, ValueError, AttributeError):  # no such package: nothing of it is used
            return None
        place = spec.origin if spec is not None and spec.has_location else None
    return Path(place) if place and place.endswith(".py") else None


def _read(path: Path, roots: tuple[Path, ...]) -> tuple[str, tuple[Path, ...]] | None:
    try:
        return _digest_and_imports(path, roots, stamp_of(path))
    except OSError:
        return None


@lru_cache(maxsize=1_024)
def _digest_and_imports(path: Path, roots: tuple[Path, ...], changed: Stamp) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a file and the files that it imports; a file that nobody has changed is read once."""
    del changed
    data = read_bytes(path, _MOST_BYTES)
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):  # whoever imports it says so
        return digest_of_bytes(data), ()
    return digest_of_bytes(data), tuple(
        dict.fromkeys(each for each in _imports(tree, path.parent, roots) if each != path)
    )


def _imports(tree: ast.Module, folder: Path, roots: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the files that a module may import: relatively, from beside it, or from beside the first file."""
    beside = [each for each in dict.fromkeys((folder, *roots)) if each.name not in _INSTALLED]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files(beside, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            starts = [folder.joinpath(*[".."] * (node.level - 1)).resolve()] if node.level else beside
            parts = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _files(starts, [*parts, alias.name])


def _files(folders: Iterable[Path], parts: list[str]) -> Iterator[Path]:
    """Yield the file of a module below folders, and those of the packages on the way."""
    for start in folders:
        place = start
        for part in parts:
            place /= part
            for file in (place.with_suffix(".py"), place / "__init__.py"):
                if file.is_file():
                    yield file
