"""Tables of the names that guest packages have here, as data: nothing is imported before code asks for a name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from proctor.errors import NotAllowedError, did_you_mean

TABLES: Final[Mapping[str, str]] = {
    "ais_bench": "proctor.guests.names.opencompass:AIS_BENCH",
    "evaluate": "proctor.guests.names.evaluate:EVALUATE",
    "lm_eval": "proctor.guests.names.lm_eval:LM_EVAL",
    "mmengine": "proctor.guests.names.opencompass:MMENGINE",
    "opencompass": "proctor.guests.names.opencompass:OPENCOMPASS",
    "unitxt": "proctor.guests.names.unitxt:UNITXT",
}
"""Tables of packages, and where each is."""


@dataclass(frozen=True, eq=False)
class Table:
    """Names that a package has here.

    A name of one module is found in every module of the package: theirs import it from one another.

    Attributes:
        package: Its name.
        names: Modules with their names by the module of ours that has them: names with blanks between them,
            ``theirs=ours`` where they differ, ``*`` for all public names.
        below: Packages below which every module exists, since names are found whatever module they stand in.
        finder: Module of ours that finds and lists names of the package (``find(module, name)``, ``names(module)``).
        files: Packages whose modules are files of others: function that loads one by its full name.
        instead: Names and modules that are not here, and what does their work. They can be imported; using one is
            refused.
        older: Modules and names of earlier releases, in full (``*.NAME``: wherever it is asked for), and what is
            written today. Importing one is refused, so that programs that try one and then the other go on.
        is_library: Whether an installed one is imported as any library is, with nothing of ours beneath it.
    """

    package: str
    names: Mapping[str, Mapping[str, str]]
    below: tuple[str, ...] = ()
    finder: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    older: Mapping[str, str] = field(default_factory=dict)
    is_library: bool = False

    @cached_property
    def places(self) -> Mapping[str, Mapping[str, str]]:
        """Modules with their names, and where each is (``module:attribute``)."""
        return {module: dict(_places(homes)) for module, homes in self.names.items()}

    @cached_property
    def _everywhere(self) -> Mapping[str, str]:
        """Names of all modules, and where each is; of two, the first."""
        found: dict[str, str] = {}
        for names in self.places.values():
            found = {**names, **found}
        return found

    @cached_property
    def _modules(self) -> frozenset[str]:
        """Modules of the table, and the packages above them."""
        every = (*self.names, *(each for each in self.instead if "." in each))
        return frozenset(each.rsplit(".", depth)[0] for each in every for depth in range(each.count(".") + 1))

    def lists(self, module: str) -> bool:
        """Whether a module, or a package above one, is in the table."""
        return module in self._modules

    def has(self, module: str) -> bool:
        """Whether a module is in the table, or below a package whose names are found in every module."""
        return module in self._modules or module.startswith(tuple(f"{each}." for each in self.below))

    def loads(self, module: str) -> ModuleType | None:
        """Return a module that is a file of others; ``None`` where it is not one.

        Raises:
            ModuleNotFoundError: There is no such file.
        """
        place = next((place for package, place in self.files.items() if module.startswith(f"{package}.")), None)
        found: ModuleType | None = None if place is None else at(place)(module)
        return found

    def find(self, module: str, name: str) -> Any:
        """Return the value of a name in a module.

        Raises:
            LookupError: The package has none here.
            ImportError: It needs a package that is not installed.
        """
        if (place := self.places.get(module, {}).get(name)) is not None:
            return at(place)
        for home in self._homes(module):
            if hasattr(found := import_module(home), name):
                return getattr(found, name)
        if self.finder and (value := import_module(self.finder).find(module, name)) is not None:
            return value
        raise LookupError(name)

    def find_anywhere(self, name: str) -> Any:
        """Return the value of a name in whatever module has it.

        Raises:
            LookupError: None has.
        """
        if (place := self._everywhere.get(name)) is not None:
            return at(place)
        for home in dict.fromkeys(home for module in self.names for home in self._homes(module)):
            value = getattr(import_module(home), name, None)
            if value is not None and (name.isupper() or str(getattr(value, "__module__", "")).startswith("proctor.")):
                return value
        raise LookupError(name)

    def _homes(self, module: str) -> Iterator[str]:
        """Yield the modules of ours whose public names a module has."""
        return (home for home, text in self.names.get(module, {}).items() if text == "*")

    def refused(self, module: str, name: str) -> type | None:
        """Return a class that says what does the work of a name that is not here; ``None`` of other names."""
        reason = self.instead.get(name) or self.instead.get(module)
        return None if reason is None else refused_class(module, name, reason)

    def listed(self, module: str) -> list[str]:
        """Return the names of a module, those of the finder included."""
        found = import_module(self.finder).names(module) if self.finder else ()
        homes = [import_module(home) for home in self._homes(module)]
        own = (
            name
            for home in homes
            for name, value in vars(home).items()
            if not name.startswith("_") and getattr(value, "__module__", home.__name__) == home.__name__
        )
        return sorted({*self.places.get(module, ()), *found, *own})

    def of_earlier(self, whole: str) -> str:
        """Return the message for a name or module of an earlier release, in full; empty of others."""
        module, _, name = whole.rpartition(".")
        today = self.older.get(whole) or self.older.get(module) or self.older.get(f"*.{name}")
        return f"'{whole}' is a name of an earlier {self.package}. Today: {today}" if today else ""

    def missing(self, module: str, name: str) -> str:
        """Return the message for a name that is not here."""
        if earlier := self.of_earlier(f"{module}.{name}"):
            return earlier
        hint = did_you_mean(name, self.listed(module)) or "docs/reference/differences.md lists what differs"
        return f"Proctor has no '{name}' of '{module}'. {hint}"


def _places(homes: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and where each is."""
    for home, text in homes.items():
        for name in text.split() if text != "*" else ():
            theirs, _, ours = name.partition("=")
            yield theirs, f"{home}:{ours or theirs}"


@cache
def table_of(module: str) -> Table | None:
    """Return the table of the package that a module belongs to; ``None`` of other packages."""
    place = TABLES.get(module.partition(".")[0])
    if place is None:
        return None
    table: Table = at(place)
    return table


def at(place: str) -> Any:
    """Return the value at ``module:attribute``, or a module.

    Raises:
        ImportError: The module needs a package that is not installed.
    """
    home, _, attribute = place.partition(":")
    module = sys.modules.get(home) or import_module(home)
    return getattr(module, attribute) if attribute else module


def refused_class(module: str, name: str, reason: str) -> type:
    """Return a class that can be imported, and says why it is not here when it is called or derived from.

    Args:
        module: The module that code imports it from.
        name: Its name.
        reason: What does its work, or why nothing does.
    """

    def refuse(*_: Any, **__: Any) -> None:
        raise NotAllowedError(f"Proctor has no '{name}' of '{module}'", why=reason)

    members = {"__init__": refuse, "__init_subclass__": classmethod(refuse), "__doc__": f"Not here: {reason}."}
    return type(name, (), {**members, "__module__": module})
