"""Modules beside a file of guest code: in its folder, then in the working folder, run with the names of guest packages.

They are those of their folder alone: two folders may have modules of one name, and nobody else's imports see them.
"""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from proctor.guests.rooms import GuestRoom
from proctor.guests.table import TABLES
from proctor.packages import check_module
from proctor.safe_files import Stamp, is_unchanged, stamp_of


class _Source(SourceFileLoader):
    """Runs what a file says: compiled files beside it, known by a second and a size, may be older, or a stranger's."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the file as it is now."""
        return self.source_to_code(self.get_data(self.get_filename(fullname)), self.get_filename(fullname))


def unrun_module(name: str, file: Path) -> ModuleType:
    """Return the module of a file, which has not been run.

    Raises:
        ImportError: No module may be made of the file.
    """
    check_module(file)
    folders = [str(file.parent)] if file.name == "__init__.py" else None
    spec = spec_from_file_location(name, file, loader=_Source(name, str(file)), submodule_search_locations=folders)
    assert spec is not None  # noqa: S101 - there is a loader
    return module_from_spec(spec)


def run_module(module: ModuleType) -> None:
    """Run a module from its file.

    Raises:
        BaseException: Whatever its code raises.
    """
    assert isinstance(module.__loader__, _Source)  # noqa: S101 - made by `unrun_module`
    module.__loader__.exec_module(module)


class FolderRoom(GuestRoom):
    """The modules that guest code of a folder sees; those that lie beside it are run once.

    Args:
        folder: The folder of the file that names them.
        working: The working folder.
    """

    def __init__(self, folder: Path, working: Path) -> None:
        super().__init__(self.own)
        self._folders = tuple(dict.fromkeys((folder, working)))
        self._beside: dict[str, ModuleType] = {}
        self._run_at: dict[Path, Stamp] = {}

    def is_stale(self) -> bool:
        """Whether a file that was run has changed, so that all of them are to be run anew."""
        return any(not is_unchanged(file, at) for file, at in self._run_at.items())

    def place(self, name: str) -> Path | None:
        """Return a module's file, or the folder of a package without ``__init__.py``; ``None`` of other modules."""
        top = name.partition(".")[0]
        if top in TABLES or top in sys.stdlib_module_names or not all(map(str.isidentifier, name.split("."))):
            return None
        return next((found for each in self._folders if (found := self._in(each, name, top)) is not None), None)

    def _in(self, folder: Path, name: str, top: str) -> Path | None:
        place = folder.joinpath(*name.split("."))
        found = next((each for each in (place.with_suffix(".py"), place / "__init__.py") if each.is_file()), None)
        is_whole = (folder / top / "__init__.py").is_file() or (folder / f"{top}.py").is_file()
        if is_whole and folder == self._folders[0]:  # as beside a script, they come before packages that are installed
            return found
        return (found or (place if place.is_dir() else None)) if not _is_installed(top) else None

    def own(self, name: str) -> ModuleType | None:
        """Return a module that lies beside the code; ``None`` of other modules.

        Raises:
            ModuleNotFoundError: Its package lies there, and has no such module.
        """
        if name in self._beside:
            return self._beside[name]
        above, _, last = name.rpartition(".")
        parent = self.own(above) if above else None
        if name in self._beside:  # the package above it has imported it
            return self._beside[name]
        if (place := self.place(name)) is None:
            if parent is not None:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)
            return None
        module = self._executed(name, place) if place.suffix == ".py" else _package(name, place)
        self._beside[name] = module
        if parent is not None:
            setattr(parent, last, module)
        return module

    def of_file(self, file: Path) -> ModuleType:
        """Return a file beside the code as a module, whatever its name; it is run once."""
        return self._beside.get(file.stem) or self._executed(file.stem, file)

    def _executed(self, name: str, file: Path) -> ModuleType:
        module = self._beside[name] = unrun_module(name, file)
        vars(module)["__builtins__"] = self.builtins()
        # Dataclasses and pickle look there for a class's module; a name that an installed package has stays that one's.
        stays, before = not _is_installed(top := name.partition(".")[0]), sys.modules.get(name)
        if stays:
            _run_here.add(top)
        sys.modules[name] = module
        self._run_at[file] = stamp_of(file)
        try:
            run_module(module)
        except BaseException:
            stays = False
            del self._beside[name]
            raise
        finally:
            if not stays:
                sys.modules.pop(name, None)
                sys.modules.update({} if before is None else {name: before})
        return module


def _package(name: str, place: Path) -> ModuleType:
    made = ModuleType(name)
    made.__path__ = [str(place)]
    return made


_run_here: set[str] = set()
"""Names under which modules of folders stand in ``sys.modules``."""


def _is_installed(top: str) -> bool:
    return top not in _run_here and (top in sys.modules or find_spec(top) is not None)


_rooms: dict[tuple[Path, Path], FolderRoom] = {}


def room_beside(folder: Path, working: Path) -> FolderRoom:
    """Return the room of the code of a folder; a new one where a file has changed since it was run."""
    if (key := (folder, working)) not in _rooms or _rooms[key].is_stale():
        _rooms[key] = FolderRoom(folder, working)
    return _rooms[key]
