"""Other systems' import names, answered by Proctor.

An :class:`Alias` stands in for one package. Its modules are made when they are imported; a name in one of them is
looked up in the alias's table, and then among Proctor's artifact classes, whose names are those of the field. A name
that Proctor does not have fails with an ImportError that says so, and what to use instead.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.resources import files
from itertools import chain
from types import ModuleType
from typing import Any

from proctor.artifacts.names import snake_case
from proctor.artifacts.registry import builtin_types, registry
from proctor.errors import NotAllowedError, did_you_mean


@dataclass(frozen=True)
class Alias:
    """A package that Proctor stands in for.

    Attributes:
        package: Its name.
        modules: Modules it has, each with names and where Proctor has them (``module:attribute``).
        artifacts: Whether names of Proctor's artifact classes are found in every module.
        instead: What to use instead of names that Proctor does not have.
        gaps_only: Leave modules alone that the real package, where it is installed, has itself.
        extends: Modules of the real package that are given more once they are loaded: the names that change, from a
            function (``module:attribute``) of the module.
        spread: Packages whose names lie in many modules there: every module below one has the package's names.
        same: Modules that are one of Proctor's, whole: what a test replaces in one is replaced for what is in it.
        refused: Modules without a name here, and what does it instead.
        unbuilt: Classes that can be imported, since whole modules import them at their top, and say what does it
            instead when they are called or derived from.
        shared: Whether a name that one of its modules has is found in all: theirs import it from one another.
        homes: Modules it has whose names are those of modules of ours, in order.
        files: Packages whose modules are files of others: where each is loaded (``module:function`` of its full name).
        finder: Module of ours that finds and lists names which no table has: ``find(module, name)``, ``names(module)``.
    """

    package: str
    modules: Mapping[str, Mapping[str, str]]
    artifacts: bool = True
    instead: Mapping[str, str] = field(default_factory=dict)
    gaps_only: bool = False
    extends: Mapping[str, str] = field(default_factory=dict)
    spread: frozenset[str] = frozenset()
    same: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    finder: str = ""
    unbuilt: Mapping[str, str] = field(default_factory=dict)
    shared: bool = False

    def has(self, module: str) -> bool:
        """Whether this alias has a module (or a package above one)."""
        return self.lists(module) or self._package_of(module) is not None

    def lists(self, module: str) -> bool:
        """Whether a module (or a package above one) is in the table."""
        every = (*self.modules, *self.same, *self.homes)
        return module in every or any(name.startswith(f"{module}.") for name in every)

    def loads(self, module: str) -> str | None:
        """Return what loads a module that is a file of others; ``None`` where it is none of these."""
        if self.has(module):
            return None
        return next((place for package, place in self.files.items() if module.startswith(f"{package}.")), None)

    def _package_of(self, module: str) -> str | None:
        """Return the spread package that a module is below."""
        return next((name for name in self.spread if module.startswith(f"{name}.")), None)

    def _table(self, module: str) -> Mapping[str, str]:
        own = self.modules.get(module)
        return own if own is not None else self.modules.get(self._package_of(module) or "", {})

    def look_up(self, module: str, name: str) -> Any:
        """Return what a name in a module means here.

        Raises:
            ImportError: Proctor does not have it; the message says what to do. (Python would replace the message of
                an AttributeError by its own.)
        """
        place = self._table(module).get(name)
        if place is None and self.artifacts and snake_case(name) in registry:
            found = registry.get(snake_case(name))
            if found.__name__ == name:
                return found
        for home in self.homes.get(module, ()) if place is None else ():
            if hasattr(found_home := importlib.import_module(home), name):
                return getattr(found_home, name)
        if place is None and self.finder and (value := importlib.import_module(self.finder).find(module, name)):
            return value
        if place is None and (reason := self.unbuilt.get(name)):
            return refused_class(module, name, reason)
        if place is None and (place := self._imported(name)) is None:
            raise ImportError(self._missing(module, name), name=name)
        return _at(place)

    def _imported(self, name: str) -> str | None:
        """Return where a public name is that other modules have: theirs import it from one another."""
        if not (self.artifacts or self.shared) or name.startswith("_") or name in self.instead:
            return None
        if found := next((table[name] for table in self.modules.values() if name in table), None):
            return found
        for home in dict.fromkeys([*self.same.values(), *chain.from_iterable(self.homes.values())]):
            if _is_own(home, name, vars(importlib.import_module(home)).get(name)):
                return f"{home}:{name}"
        return self._of_a_home(name) if self.shared else None

    def _of_a_home(self, name: str) -> str | None:
        """Return where a module of ours has a name: something that is ours, or a constant."""
        for home in dict.fromkeys(home for each in self.homes.values() for home in each):
            found = getattr(importlib.import_module(home), name, None)
            if str(getattr(found, "__module__", "")).startswith("proctor.") or (name.isupper() and found is not None):
                return f"{home}:{name}"
        return None

    def names(self, module: str) -> list[str]:
        """Return the names in a module's table."""
        return sorted(self._table(module))

    def starred(self, module: str) -> list[str]:
        """Return the names that ``from module import *`` binds: those of the table and all classes that are found."""
        classes = (place.rpartition(":")[2] for place in builtin_types().values()) if self.artifacts else ()
        found = importlib.import_module(self.finder).names(module) if self.finder else ()
        return sorted({*self._table(module), *classes, *found, *self._of_homes(module)})

    def _of_homes(self, module: str) -> set[str]:
        """Return the names that a module has from modules of ours."""
        homes = (*self.homes.get(module, ()), *([self.same[module]] if module in self.same else []))
        return {name for home in homes for name in _own_names(home)}

    def _missing(self, module: str, name: str) -> str:
        message = f"Proctor has no '{name}' of '{module}'"
        if advice := self.instead.get(name) or self.refused.get(module):
            return f"{message}: {advice}"
        classes = (place.rpartition(":")[2] for place in builtin_types().values()) if self.artifacts else ()
        homes = (each for home in self.homes.get(module, ()) for each in dir(importlib.import_module(home)))
        known = [*self._table(module), *classes, *(each for each in homes if not each.startswith("_"))]
        return f"{message}. {did_you_mean(name, known) or 'docs/compatibility.md lists what differs'}"


def _is_own(home: str, name: str, value: Any) -> bool:
    """Whether a module of ours has a name of itself: it has not imported it."""
    return bool(getattr(value, "__module__", home if name.isupper() and value is not None else "") == home)


def _own_names(home: str) -> list[str]:
    every = vars(importlib.import_module(home)).items()
    return [name for name, value in every if not name.startswith("_") and _is_own(home, name, value)]


def _at(place: str) -> Any:
    """Return what is at ``module:attribute``, or the module."""
    home, _, attribute = place.partition(":")
    target = importlib.import_module(home)
    return getattr(target, attribute) if attribute else target


def refused_class(module: str, name: str, reason: str) -> type:
    """Return a class that is not here: it can be imported, and says why when it is called or derived from.

    Args:
        module: Where programs import it from.
        name: Its name.
        reason: Why it is not here, and what does it instead.
    """

    def refuse(*_: Any, **__: Any) -> None:
        raise NotAllowedError(f"Proctor has no '{name}' of '{module}'", why=reason)

    members = {"__init__": refuse, "__init_subclass__": classmethod(refuse), "__doc__": f"Not here: {reason}."}
    return type(name, (), {**members, "__module__": module})


class _AliasModule(ModuleType):
    """A module whose names are looked up when they are used."""

    def __init__(self, name: str, alias: Alias) -> None:
        super().__init__(name, f"Proctor's answers to imports of {name}.")
        self.__alias = alias
        self.__path__: list[str] = []
        if name == alias.package:  # its folder holds a catalog, which is what programs look for beside it
            self.__file__ = str(files("proctor") / "__init__.py")

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__alias.starred(self.__name__)
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            value = self.__alias.look_up(self.__name__, name)
        except ImportError:
            child = f"{self.__name__}.{name}"
            if not self.__alias.lists(child):
                if name.startswith("_"):  # looked for, not imported: by mock, by inspect
                    raise AttributeError(name) from None
                raise
            value = importlib.import_module(child)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__alias.names(self.__name__)]


class AliasFinder(MetaPathFinder, Loader):
    """Finds the modules of aliases before anything else does."""

    def __init__(self) -> None:
        self.aliases: dict[str, Alias] = {}
        self._replaced: list[tuple[ModuleType, str, Any]] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of an aliased module."""
        alias = self.aliases.get(fullname.partition(".")[0])
        if alias is None:
            return None
        if alias.gaps_only and (real := _found_elsewhere(fullname, path, target, self)) is not None:
            if fullname not in alias.extends or real.loader is None:
                return None
            real.loader = _ExtendingLoader(real.loader, self)
            return real
        if (home := alias.same.get(fullname)) is not None:
            return ModuleSpec(fullname, _SameLoader(home), origin="proctor")
        if (place := alias.loads(fullname)) is not None:
            return ModuleSpec(fullname, _SameLoader(place, fullname), origin="proctor")
        if not alias.has(fullname):
            parent, _, name = fullname.rpartition(".")
            raise ModuleNotFoundError(
                f"Proctor has no module '{fullname}'. "
                f"{did_you_mean(fullname, alias.modules) or f'{parent or name} is answered by Proctor here'}",
                name=fullname,
            )
        return ModuleSpec(fullname, self, origin="proctor", is_package=True)

    def extend(self, module: ModuleType) -> None:
        """Give a module of a real package what its alias adds to it."""
        alias = self.aliases.get(module.__name__.partition(".")[0])
        if alias is None or module.__name__ not in alias.extends:
            return
        home, _, attribute = alias.extends[module.__name__].partition(":")
        for name, value in getattr(importlib.import_module(home), attribute)(module).items():
            before = getattr(module, name)  # what it imported may be extended already
            self._replaced.append((module, name, getattr(before, "extends", before)))
            setattr(module, name, value)

    def restore(self, package: str) -> None:
        """Take back :meth:`extend` in the modules of a package."""
        for module, name, value in reversed(self._replaced):
            if module.__name__.partition(".")[0] == package:
                setattr(module, name, value)
        self._replaced = [each for each in self._replaced if each[0].__name__.partition(".")[0] != package]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, empty."""
        return _AliasModule(spec.name, self.aliases[spec.name.partition(".")[0]])

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


class _SameLoader(Loader):
    """Gives a module of Proctor's under another name, or one that a function of Proctor's loads.

    Args:
        home: Its own name, or the function (``module:attribute``).
        wanted: What the function is asked for.
    """

    def __init__(self, home: str, wanted: str = "") -> None:
        self._home = home
        self._wanted = wanted

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which is loaded already."""
        del spec
        home, _, attribute = self._home.partition(":")
        module = importlib.import_module(home)
        if attribute:
            module = getattr(module, attribute)(self._wanted)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is; importing it by another name has changed its spec."""
        module.__spec__ = self._spec


class _ExtendingLoader(Loader):
    """Loads a module as its own loader does, and extends it afterwards."""

    def __init__(self, loader: Any, finder: AliasFinder) -> None:
        self._loader = loader
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the module's own loader makes."""
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and extend it."""
        self._loader.exec_module(module)
        self._finder.extend(module)


def _found_elsewhere(
    fullname: str, path: Sequence[str] | None, target: ModuleType | None, finder: MetaPathFinder
) -> ModuleSpec | None:
    for other in sys.meta_path:
        if other is not finder and (find := getattr(other, "find_spec", None)):
            spec: ModuleSpec | None = find(fullname, path, target)
            if spec is not None:
                return spec
    return None


finder = AliasFinder()
"""The finder of this process."""


def install_alias(alias: Alias) -> None:
    """Let imports of a package be answered by Proctor from now on.

    Raises:
        ImportError: The real package has been imported already.
    """
    loaded = sys.modules.get(alias.package)
    if loaded is not None and not isinstance(loaded, _AliasModule) and not alias.gaps_only:
        raise ImportError(
            f"'{alias.package}' has been imported already; call proctor.compat.install() before the first import of it"
        )
    finder.aliases[alias.package] = alias
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)
    for name in alias.extends:
        module = sys.modules.get(name)
        if module is not None and not isinstance(module, _AliasModule):
            finder.extend(module)


def uninstall_alias(package: str) -> None:
    """Take back :func:`install_alias`; modules that were made are forgotten."""
    finder.restore(package)
    alias = finder.aliases.pop(package, None)
    same = alias.same if alias is not None else {}
    of_files = tuple(f"{each}." for each in (alias.files if alias is not None else ()))
    for name in [
        name
        for name, module in sys.modules.items()
        if isinstance(module, _AliasModule) or name in same or name.startswith(of_files)
    ]:
        if name.partition(".")[0] == package:
            del sys.modules[name]
    if not finder.aliases and finder in sys.meta_path:
        sys.meta_path.remove(finder)
