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
        plain: Names in those modules that are not modules themselves, so that ``module.name.attribute`` is the name's.
        same: Modules that are one of Proctor's, whole: what a test replaces in one is replaced for what is in it.
        refused: Modules without a name here, and what does it instead.
        unbuilt: Classes that can be imported, since whole modules import them at their top, and say what does it
            instead when they are called or derived from.
        shared: Whether a name that one of its modules has is found in all: theirs import it from one another.
        homes: Modules it has whose names are those of modules of ours, in order.
        files: Packages whose modules are files of others: where each is loaded (``module:function`` of its full name).
        texts: Where names are looked for last (``module:function`` of module and name, which returns what it finds, or
            raises a LookupError): constants of the real package, read from its files.
        borrowed: Names that modules of the real package import from other packages, and where those have them; with
            any, a name that one module here has is found in every module: tests replace names where they are used.
    """

    package: str
    modules: Mapping[str, Mapping[str, str]]
    artifacts: bool = True
    instead: Mapping[str, str] = field(default_factory=dict)
    gaps_only: bool = False
    extends: Mapping[str, str] = field(default_factory=dict)
    spread: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    same: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    texts: str = ""
    unbuilt: Mapping[str, str] = field(default_factory=dict)
    shared: bool = False
    borrowed: Mapping[str, str] = field(default_factory=dict)

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

    def lent(self, name: str) -> Any:
        """Return what a name means that a module of the real package imports from another.

        Raises:
            LookupError: No module here has it.
            ImportError: It is in a package that is not installed.
        """
        if (place := self._imported(name)) is None:
            raise LookupError(name)
        return _at(place)

    def _package_of(self, module: str) -> str | None:
        """Return the spread package that a module is below; there is none for names that are not modules."""
        if module.rpartition(".")[2] in self.plain:
            return None
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
        if place is None and (reason := self.unbuilt.get(name)):
            return refused_class(module, name, reason)
        of_module = self.borrowed and self.lists(f"{module}.{name}")  # a module of its own before one that others have
        if place is None and (of_module or (place := self._imported(name)) is None):
            return self._text(module, name)
        return _at(place)

    def _text(self, module: str, name: str) -> Any:
        """Return a constant that is read from the real package.

        Raises:
            ImportError: It is none, or there is no such package.
        """
        hint = ""
        if self.texts and not name.startswith("_") and not self.lists(f"{module}.{name}"):
            home, _, attribute = self.texts.partition(":")
            try:
                return getattr(importlib.import_module(home), attribute)(module, name)
            except LookupError as error:
                hint = str(error.args[0]) if error.args else ""
        raise ImportError(f"{self._missing(module, name)}{f'. {hint}' if hint else ''}", name=name)

    def _imported(self, name: str) -> str | None:
        """Return where a public name is that other modules have: theirs import it from one another."""
        if not (self.artifacts or self.borrowed or self.shared) or name.startswith("_") or name in self.instead:
            return None
        if name in self.borrowed:
            return self.borrowed[name]
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
        """Return what ``from module import *`` binds: the table's names and, where they are found here, all classes.

        A module of names of ours has theirs too, and a package that lends names those of the modules below it: its
        modules import one another whole.
        """
        classes = (place.rpartition(":")[2] for place in builtin_types().values()) if self.artifacts else ()
        names = {*self._table(module), *classes, *self._of_homes(module)}
        start = f"{module}."
        below = {name for name in chain(self.modules, self.same, self.homes) if name.startswith(start)}
        for name in below if self.borrowed else ():
            names.add(name.removeprefix(start).partition(".")[0])
            names.update(self.modules.get(name, ()), self._of_homes(name))
        return sorted(names)

    def _of_homes(self, module: str) -> set[str]:
        """Return the names that a module has from modules of ours."""
        homes = (*self.homes.get(module, ()), *([self.same[module]] if module in self.same else []))
        return {name for home in homes for name in _own_names(home)}

    def offers(self, module: str, name: str) -> bool:
        """Whether a name that :meth:`starred` gives is one that can be had here: what it needs is installed."""
        try:
            self.look_up(module, name)
        except ImportError:
            return self.lists(f"{module}.{name}")
        return True

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
            every = self.__alias.starred(self.__name__)
            return [each for each in every if not self.__alias.borrowed or self.__alias.offers(self.__name__, each)]
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
            return ModuleSpec(fullname, _SameLoader(home, lender=alias), origin="proctor")
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
        lender: Whose borrowed names the module has under its other name.
    """

    def __init__(self, home: str, wanted: str = "", lender: Alias | None = None) -> None:
        self._home = home
        self._wanted = wanted
        self._lender = lender

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, which is loaded already."""
        del spec
        home, _, attribute = self._home.partition(":")
        module = importlib.import_module(home)
        if attribute:
            module = getattr(module, attribute)(self._wanted)
        if self._lender is not None and self._lender.borrowed:
            _Lent.to(module, self._lender)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is; importing it by another name has changed its spec."""
        module.__spec__ = self._spec


class _Lent:
    """The ``__getattr__`` of a module of ours that stands for one of an alias: names that the real one imports.

    Args:
        alias: Where they are looked up.
        own: The ``__getattr__`` that the module has itself, which is asked first.
    """

    def __init__(self, alias: Alias, own: Any) -> None:
        self._alias = alias
        self.own = own

    def __call__(self, name: str) -> Any:
        """Return a name.

        Raises:
            AttributeError: The module has none such, and imports none such.
        """
        if self.own is not None:
            try:
                return self.own(name)
            except AttributeError:
                pass
        try:
            return self._alias.lent(name)
        except (LookupError, ImportError) as error:
            raise AttributeError(name) from error

    @classmethod
    def to(cls, module: ModuleType, alias: Alias) -> None:
        """Let a module have the names, once."""
        own = vars(module).get("__getattr__")
        if not isinstance(own, cls):
            vars(module)["__getattr__"] = cls(alias, own)

    @classmethod
    def back(cls, module: ModuleType) -> None:
        """Take back :meth:`to`."""
        lent = vars(module).get("__getattr__")
        if not isinstance(lent, cls):
            return
        if lent.own is None:
            del vars(module)["__getattr__"]
        else:
            vars(module)["__getattr__"] = lent.own


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
            _Lent.back(sys.modules[name])
            del sys.modules[name]
    if not finder.aliases and finder in sys.meta_path:
        sys.meta_path.remove(finder)
