"""Guest packages for a whole process: the finder of ``python -m proctor.compat`` and ``proctor.compat.install``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from proctor.guests.installed import installed_spec, note, set_apart, take_back
from proctor.guests.rooms import GuestModule, GuestRoom
from proctor.guests.table import TABLES, Table, at, table_of


class _Room(GuestRoom):
    """The modules of the whole process, which are those of ``sys.modules``."""

    def _imported(self, name: str) -> ModuleType | None:
        return import_module(name)


class GuestFinder(MetaPathFinder, Loader):
    """Finds the modules of guest packages before anything else does.

    Args:
        prepare: Functions (``module:attribute``) that are called before a package is first imported.
        after: Functions that are called with a module of somebody else's once it is imported.

    Each of these functions returns one that takes back what it did.
    """

    def __init__(self, prepare: Mapping[str, str], after: Mapping[str, str]) -> None:
        self._room = _Room()
        self._prepare, self._after = dict(prepare), dict(after)
        self._undo: list[Callable[[], None]] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a guest module; ``None`` of modules of others.

        Raises:
            ModuleNotFoundError: It is one of a guest package that neither Proctor nor an installed one has.
        """
        del path, target
        if (place := self._after.get(fullname)) is not None:
            return _hooked(fullname, lambda module: self._undo.append(at(place)(module)))
        if (table := table_of(fullname)) is None:
            return None
        if (prepare := self._prepare.pop(table.package, None)) is not None:
            self._undo.append(at(prepare)())
        return self._spec(fullname, table)

    def _spec(self, name: str, table: Table) -> ModuleSpec:
        if table.has(name):
            return ModuleSpec(name, self, origin="proctor", is_package=True)
        if (module := table.loads(name)) is not None:
            return ModuleSpec(name, _Loaded(module), origin="proctor")
        if (spec := installed_spec(name)) is not None:
            note(spec)
            return spec
        found = self._room.module(name)  # says that there is none
        return ModuleSpec(name, None if found is None else _Loaded(found))

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, whose names are looked up when they are used."""
        found = self._room.module(spec.name)
        assert found is not None  # noqa: S101 - the table has it
        return found

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""

    def install(self) -> None:
        """Answer imports from now on.

        Raises:
            ImportError: A guest package was imported already.
        """
        for package in TABLES:
            loaded = sys.modules.get(package)
            if loaded is not None and not isinstance(loaded, GuestModule):
                hint = "call proctor.compat.install() before the first import of it"
                raise ImportError(f"'{package}' has been imported already; {hint}")
        set_apart(self)
        sys.meta_path.insert(0, self)
        for name, place in self._after.items():
            if name in sys.modules:
                self._undo.append(at(place)(sys.modules[name]))

    def uninstall(self) -> None:
        """Answer no more imports, forget the modules that were made, and take back what was done to others."""
        take_back(self)
        sys.meta_path.remove(self)
        for name in [each for each in sys.modules if each.partition(".")[0] in TABLES]:
            del sys.modules[name]
        for undo in self._undo:
            undo()


class _Loaded(Loader):
    """Gives a module that is loaded already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        del spec
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is; importing it by another name has changed its spec."""
        module.__spec__ = self._spec


def _hooked(name: str, hook: Callable[[ModuleType], object]) -> ModuleSpec | None:
    """Return the spec of a module of others that is handed to a function once it is imported."""
    spec = installed_spec(name)
    if spec is not None and spec.loader is not None:
        spec.loader = _Hooked(spec.loader, hook)
    return spec


class _Hooked(Loader):
    """Loads a module as its own loader does, and hands it to a function afterwards."""

    def __init__(self, loader: Any, hook: Callable[[ModuleType], object]) -> None:
        self._loader, self._hook = loader, hook

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module that its own loader makes."""
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and hand it over."""
        self._loader.exec_module(module)
        self._hook(module)
