"""Guest rooms: the modules of other packages as one piece of guest code sees them.

A module of guest code runs with an ``__import__`` of its own. It is asked by every import statement of that module,
those inside its functions included, whenever they run; ``sys.modules`` and everybody else's imports stay as they are.
The finder of ``python -m proctor.compat`` (:mod:`proctor.guests.finder`) gives the same modules to a whole process.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.resources import files
from importlib.util import resolve_name
from types import ModuleType
from typing import Any, TypeVar

from proctor.guests.clones import place_in_clone
from proctor.guests.installed import ReadModule, installed_spec, is_program, made, note, run
from proctor.guests.table import Table, table_of
from proctor.logs import get_logger
from proctor.settings import settings

_T = TypeVar("_T")

OwnModules = Callable[[str], ModuleType | None]
"""Function that loads a module of the guest code itself by its full name; ``None`` of other modules."""


_REPLACED = (
    "%s.%s is replaced: only this program's own calls see it; derive from a class, register a name, or change a method "
    "of a class to be heard by Proctor"
)


class GuestModule(ModuleType):
    """A module of a guest package: its names are looked up when they are used.

    Args:
        name: Its name.
        room: The room it stands in.
    """

    def __init__(self, name: str, room: GuestRoom) -> None:
        super().__init__(name, f"Proctor's names of {name}.")
        self.__path__: list[str] = []
        self.room = room
        if "." not in name:  # programs look for a catalog beside it
            self.__file__ = str(files("proctor") / "__init__.py")

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.room.names(self.__name__)
        if name.startswith("__") and name != "__version__":
            raise AttributeError(name)
        try:
            value = self.room.look_up(self.__name__, name)
        except ImportError:
            if name.startswith("_"):  # looked for, not imported: by mock, by inspect
                raise AttributeError(name) from None
            raise
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a name, and say so where a program replaces what Proctor itself has under it: nothing here calls that."""
        if callable(value) and not name.startswith("__") and "room" in self.__dict__:
            with suppress(ImportError):  # a name of the program's own
                if self.room.look_up(self.__name__, name) is not value:
                    get_logger().warning(_REPLACED, self.__name__, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.room.names(self.__name__)]


class GuestRoom:
    """The modules of guest packages for one piece of code.

    Args:
        own: Loads modules that belong to the code itself.

    Attributes:
        read: Modules that this code imported from installed packages.
    """

    def __init__(self, own: OwnModules | None = None) -> None:
        self._own = own
        self._modules: dict[str, ModuleType] = {}
        self._installed: dict[str, ModuleType] = {}
        self.read: dict[str, ReadModule] = {}

    # -- modules -----------------------------------------------------------------------------------------------------

    def module(self, name: str) -> ModuleType | None:
        """Return a module of a guest package, or of the code itself; ``None`` of other packages.

        Raises:
            ModuleNotFoundError: It is one of a guest package, and there is none of this name.
        """
        if self._own is not None and (own := self._own(name)) is not None:
            return own
        if (table := table_of(name)) is None:
            return None
        if name not in self._modules:
            self._modules[name] = self._made(name, table)
        return self._modules[name]

    def _made(self, name: str, table: Table) -> ModuleType:
        if table.has(name):
            return GuestModule(name, self)
        if (found := table.loads(name)) is not None:
            return found
        return self._from_installed(name, table)

    def _from_installed(self, name: str, table: Table) -> ModuleType:
        """Return a module of the installed package."""
        if (found := self.installed(name)) is None:
            above = name.rpartition(".")[0] or name
            why = (
                f"{above} is answered by Proctor here; with --trust-code, modules that it lacks come from an installed"
            )
            told = table.of_earlier(name) or f"Proctor has no module '{name}'. {why} {table.package}"
            raise ModuleNotFoundError(told, name=name)
        return found

    def installed(self, name: str) -> ModuleType | None:
        """Return a module as the installed package has it, run with our names beneath; ``None`` where there is none.

        Raises:
            ImportError: It fails when it is run.
        """
        if not (settings.trust_code or is_program()):
            return None
        if name not in self._installed:
            if (spec := installed_spec(name)) is None or spec.loader is None:
                return None
            self.read[name] = note(spec)
            self._run(spec)
        return self._installed[name]

    def _run(self, spec: ModuleSpec) -> None:
        table = table_of(spec.name)
        if table is not None and table.is_library and not is_program():
            self._installed[spec.name] = import_module(spec.name)
            return
        module = self._installed[spec.name] = made(spec, None if is_program() else self.builtins())
        try:
            run(module, spec)
        except Exception as error:  # code of others: what it raises is the reason why there is no such module
            del self._installed[spec.name]
            raise ImportError(f"{spec.name} of the installed package fails: {error!r}", name=spec.name) from error

    # -- names -------------------------------------------------------------------------------------------------------

    def look_up(self, module: str, name: str) -> Any:
        """Return the value of a name in a module of a guest package.

        Raises:
            ImportError: There is none; the message says what to do. (Python would replace the message of an
                AttributeError by its own.)
        """
        table = table_of(module)
        assert table is not None  # noqa: S101 - modules are made of packages with a table
        for find in (
            lambda: table.find(module, name),
            lambda: self._child(f"{module}.{name}", table),
            lambda: _known(table.refused(module, name), name),
            lambda: table.find_anywhere(name) if not name.startswith("_") else _known(None, name),
            lambda: self._name_of_installed(module, name),
        ):
            try:
                return find()
            except LookupError:
                continue
        raise ImportError(table.missing(module, name), name=module)

    def _child(self, name: str, table: Table) -> ModuleType:
        is_own = self._own is not None and name.startswith(tuple(f"{each}." for each in table.files))
        if not is_own and not table.lists(name):
            raise LookupError(name)
        return _known(self._imported(name), name)

    def _imported(self, name: str) -> ModuleType | None:
        """Return a module below another one."""
        return self.module(name)

    def _name_of_installed(self, module: str, name: str) -> Any:
        """Return a name of the installed package: a module below this one, or a name in it."""
        if (child := self.installed(f"{module}.{name}")) is not None:
            return child
        if (place := place_in_clone(module.partition(".")[0], name)) is not None:
            return _known(getattr(self.installed(place[0]), place[1], None), name)
        found = self.installed(module)
        return _known(getattr(found, name, None), name)

    def names(self, module: str) -> list[str]:
        """Return the names of a module that the tables list."""
        table = table_of(module)
        return [] if table is None else table.listed(module)

    # -- imports of guest code ---------------------------------------------------------------------------------------

    def builtins(self) -> dict[str, Any]:
        """Return the builtins of a module whose imports are answered here."""
        return {**vars(builtins), "__import__": self._import}

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002 - the names of __import__'s own parameters
        locals: Mapping[str, Any] | None = None,  # noqa: A002 - as above
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        wanted = _absolute(name, globals or {}, level)
        if wanted is not None and wanted.partition(".")[0] == "importlib" and (wanted == "importlib" or not fromlist):
            builtins.__import__(name, globals, locals, fromlist or (), level)  # of what is below it, too
            return _Importlib(self)
        found = None if wanted is None else self.module(wanted)
        if wanted is None or found is None:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        for each in fromlist or ():
            if each not in vars(found) and not isinstance(found, GuestModule) and each != "*":
                self._add_child(found, f"{wanted}.{each}")
        if fromlist or level:
            return found
        first, *below = wanted.split(".")
        if below and not isinstance(found, GuestModule) and self._own is not None and self._own(wanted) is found:
            return _Above(first, found, self)
        return self.module(first)

    def _add_child(self, parent: ModuleType, name: str) -> None:
        """Let a package that was run from files have the module below it that a statement names."""
        if hasattr(parent, "__path__") and not hasattr(parent, own := name.rpartition(".")[2]):
            try:
                child = self.module(name)
            except ModuleNotFoundError:  # Python says that the name is missing
                return
            if child is not None:
                setattr(parent, own, child)


class _Above(ModuleType):
    """A package above a module of guest code (``import a.b.c as c``); it runs when anything else is asked of it."""

    def __init__(self, name: str, below: ModuleType, room: GuestRoom) -> None:
        super().__init__(name)
        self._below, self._room = below, room

    def __getattr__(self, name: str) -> Any:
        whole = f"{self.__name__}.{name}"
        if whole == self._below.__name__:
            return self._below
        if self._below.__name__.startswith(f"{whole}."):
            return _Above(whole, self._below, self._room)
        return getattr(self._room.module(self.__name__), name)


class _Importlib(ModuleType):
    """Python's ``importlib``, whose ``import_module`` finds what import statements of the same code find."""

    def __init__(self, room: GuestRoom) -> None:
        super().__init__("importlib")
        self._room = room

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib, name)

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        wanted = resolve_name(name, package)
        return self._room.module(wanted) or import_module(wanted)


def _known(value: _T | None, name: str) -> _T:
    if value is None:
        raise LookupError(name)
    return value


def _absolute(name: str, namespace: Mapping[str, Any], level: int) -> str | None:
    """Return the full name of what a statement imports; ``None`` where it is relative to nothing."""
    if not level:
        return name
    package = namespace.get("__package__") or str(namespace.get("__name__", "")).rpartition(".")[0]
    parts = package.split(".")
    if level > len(parts) or not package:
        return None
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
