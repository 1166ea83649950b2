"""Classes and functions of guest code by their dotted names: modules that are run with the names of guest packages."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from proctor.guests.beside import FolderRoom, room_beside
from proctor.guests.installed import read_modules
from proctor.guests.rooms import GuestRoom
from proctor.guests.table import TABLES, table_of
from proctor.recipes.held_code import code_of_file, code_of_module

_MOST_FILES: Final = 500  # of a package that are searched: a fork of OpenCompass has about 400
_IMPORTS = re.compile(rf"^\s*(?:from|import)\s+(?:{'|'.join(TABLES)})\b", re.MULTILINE)


def object_named(name: str, folder: Path | None = None) -> Any:
    """Return the class or function of a dotted name, its module run with the names of guest packages.

    Args:
        name: The name; dots before it count folders up, as in an import statement.
        folder: The folder of the file that names it, whose modules are found first.

    Raises:
        ImportError: There is no such module, or no such name in it; the module fails when it is run.
    """
    module, _, attribute = name.rpartition(".")
    if not module.strip("."):
        why = "what a package registers is found where the file that names it lies in a clone of the package"
        raise ImportError(f"'{name}' names no module; {why}")
    found = module_named(module, folder)
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise ImportError(f"{module} has no '{attribute}'", name=module) from None


def module_named(name: str, folder: Path | None = None) -> ModuleType:
    """Return a module by its name, run with the names of guest packages where it imports from one.

    Args:
        name: The name; dots before it count folders up.
        folder: The folder of the file that names it, whose modules are found first.

    Raises:
        ImportError: There is no such module, or it fails when it is run.
    """
    if (room := _beside(name, folder)) is not None and (found := room.own(name := name.lstrip("."))) is not None:
        return found
    top = name.partition(".")[0]
    if table_of(name) is None and top not in _rooms and (top in sys.modules or not _imports_guests(top)):
        return import_module(name)
    module = _room_of(top).module(name)
    return import_module(name) if module is None else module


def _beside(name: str, folder: Path | None) -> FolderRoom | None:
    """Return the room of the folder in which a name is looked for first."""
    if folder is None:
        return None
    above = max(len(name) - len(name.lstrip(".")) - 1, 0)
    start = folder.resolve()
    for _ in range(above):
        start = start.parent
    return room_beside(start, Path.cwd())


def code_of_named(module: str, folder: Path | None = None) -> dict[str, str]:
    """Return the digests of the files of a module that guest code names, as :func:`held_code.code_of_module` does.

    Of a guest package these are the modules that were read from an installed one: what else pip has of it is not used.
    """
    if (room := _beside(module, folder)) is not None:
        module = module.lstrip(".")
        if (place := room.place(module)) is not None and place.is_file():
            files = code_of_file(place, Path.cwd())
            return {module if path == place.name else f"{module}: {path}": each for path, each in files.items()}
    if table_of(module) is None:
        return code_of_module(module)
    return {f"{each.name} {each.version}".rstrip(): each.digest for each in read_modules() if each.name == module}


def _imports_guests(top: str) -> bool:
    """Whether a module, or a package anywhere, imports from a guest package."""
    if top in sys.stdlib_module_names or (spec := find_spec(top)) is None:
        return False
    return any(_IMPORTS.search(file.read_text(encoding="utf-8", errors="replace")) for file in _files(spec))


def _files(spec: ModuleSpec) -> Iterator[Path]:
    if spec.submodule_search_locations:
        every = (file for folder in spec.submodule_search_locations for file in sorted(Path(folder).rglob("*.py")))
        yield from islice(every, _MOST_FILES)
    elif spec.origin and spec.origin.endswith(".py"):
        yield Path(spec.origin)


_rooms: dict[str, GuestRoom] = {}


def _room_of(top: str) -> GuestRoom:
    """Return the room of a package of guest code."""
    if top not in _rooms:
        _rooms[top] = GuestRoom(lambda name: _own(name, top))
    return _rooms[top]


def _own(name: str, top: str) -> ModuleType | None:
    """Return a module of a package of guest code, run once; ``None`` of modules of others."""
    if name.partition(".")[0] != top or top in TABLES:
        return None
    if name in sys.modules:
        return sys.modules[name]
    above, _, last = name.rpartition(".")
    parent = _own(above, top) if above else None
    if name in sys.modules:  # the package above it has imported it
        return sys.modules[name]
    if (spec := find_spec(name)) is None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    if not isinstance(spec.loader, SourceFileLoader):
        return import_module(name)
    module = module_from_spec(spec)
    vars(module)["__builtins__"] = _room_of(top).builtins()
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    if parent is not None:
        setattr(parent, last, module)
    return module
