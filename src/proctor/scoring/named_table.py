"""Tables of what can be named from every dialect: a name, the system that it comes from, and where its code is.

A table is data (``names.json``): nothing is imported to be found. A name that several systems have is looked for in the
own system first, then in the others; ``lm_eval:exact_match`` says which one is meant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from proctor.artifacts.catalogs import catalogs, place_of, type_of_plugin
from proctor.artifacts.query import parse_query
from proctor.errors import Diagnostic, ProctorError, QueryError, ScoringError, did_you_mean
from proctor.plugins import plugins
from proctor.scoring.packages import lacking

UNITXT, LM_EVAL, OPENCOMPASS = "unitxt", "lm_eval", "opencompass"
INSPECT = "inspect"
PROGRAM = "program"
"""What the code of a task or a program registers while it runs; every other name comes first."""
SYSTEMS = (UNITXT, LM_EVAL, OPENCOMPASS, INSPECT)
"""Where a name is looked for after the own system; what plugins bring comes last."""

BY_PREFIX = frozenset({INSPECT})
"""Systems whose names are everyday words (``match``, ``exact``): elsewhere they are found with the system before them,
so that a mistyped ``exact_match`` is not another metric."""

Own = str | tuple[str, ...]
"""The system whose names come first, or several in order."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A name of a table.

    Attributes:
        name: As its system writes it.
        system: Whose it is: ``unitxt``, ``lm_eval``, ``opencompass``, or the name of a plugin.
        target: The function behind it: as ``module:attribute``, or itself where a program registers it.
        arguments: Arguments that the name stands for.
        packages: What it imports that may be missing: ``module=pip install …``, and data that NLTK reads
            (:mod:`proctor.scoring.packages`).
        packages_where: What it imports where an argument has a value (``language=zh``), or by the rules of a project
            (``project=aisbench``).
        runs_code: Whether it runs programs that a model wrote.
        checks: The function from its arguments to what else is missing, as ``module:attribute``.
    """

    name: str
    system: str
    target: str | Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    packages_where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    runs_code: bool = False
    checks: str = ""

    @property
    def key(self) -> str:
        """The name with its system, which only this entry has."""
        return f"{self.system}:{self.name}"

    def load(self) -> Any:
        """Return the function; its module is imported now.

        Raises:
            ScoringError: There is no such function.
        """
        if not isinstance(self.target, str):
            return self.target
        module, _, attribute = self.target.partition(":")
        found = getattr(import_module(module), attribute, None)
        if found is None:
            raise ScoringError(f"'{self.key}' stands for {self.target}, which does not exist")
        return found

    def check(self, given: Mapping[str, Any] = NOTHING) -> Iterator[Diagnostic]:
        """Yield what is known to be missing before it is used: packages, their data, and a prison for programs.

        Args:
            given: The arguments that it is called with; ``project`` says whose rules are meant.
        """
        known = {**self.arguments, **given}
        further = (each for where, each in self.packages_where.items() if _holds(where, known))
        yield from lacking(self.name, (*self.packages, *chain.from_iterable(further)))
        if self.checks:
            yield from replace(self, target=self.checks).load()(known)
        if self.runs_code:
            yield from imprisonable(self.name)


def _holds(where: str, given: Mapping[str, Any]) -> bool:
    """Return whether an argument has the value that a condition names."""
    name, _, value = where.partition("=")
    return str(given.get(name)) == value


def imprisonable(name: str) -> Iterator[Diagnostic]:
    """Yield the problem of something that runs programs of models, where there is no prison for them."""
    from proctor.prison import chosen  # most exams run none

    try:
        chosen()
    except ProctorError as error:
        yield from (replace(each, what=f"'{name}': {each.what}") for each in error.diagnostics)


E = TypeVar("E", bound=Entry)


def entries_of(kind: str, make: Callable[..., E]) -> Iterator[E]:
    """Yield the entries of a kind that ``names.json`` lists: ``metrics``, ``text functions``."""
    for system, named_entries in _names()[kind].items():
        for name, given in named_entries.items():
            found = {"target": given} if isinstance(given, str) else {**given}
            yield make(name=name, system=system, **{**found, "packages": tuple(found.get("packages", ()))})


@cache
def _names() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    found: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(
        files("proctor.scoring").joinpath("names.json").read_text(encoding="utf-8")
    )
    return found


class Table(Generic[E]):
    """Entries by name and system. A table is a value: it can be copied, extended and passed.

    Args:
        kind: What its entries are, for messages: ``metric``, ``text function``.
        entries: What stands in it.
        catalog_prefix: Where catalogs keep artifacts that can be named in place of an entry: ``metrics.``.
    """

    def __init__(self, kind: str, entries: Iterable[E] = (), catalog_prefix: str = "") -> None:
        self.kind = kind
        self.catalog_prefix = catalog_prefix
        self._entries: dict[tuple[str, str], E] = {}
        self._systems: dict[str, None] = {}
        for entry in entries:
            self.register(entry)

    def register(self, entry: E) -> None:
        """Add an entry; one of the same name and system is replaced."""
        self._entries[entry.system, entry.name] = entry
        self._systems[entry.system] = None

    def extended(self, entries: Iterable[E]) -> Table[E]:
        """Return a table with further entries; this one stays as it is."""
        return Table(self.kind, [*self._entries.values(), *entries], self.catalog_prefix)

    def __iter__(self) -> Iterator[E]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def of(self, system: str) -> dict[str, E]:
        """Return the entries of a system by name."""
        return {entry.name: entry for entry in self if entry.system == system}

    def find(self, name: str, own: Own, systems: Collection[str] | None = None) -> E | None:
        """Return the entry that a name means, ``None`` where there is none.

        Args:
            name: A name, or ``system:name``.
            own: The system that is looked in first, or several, in order.
            systems: Look in these systems only.
        """
        system, colon, rest = name.partition(":")
        if colon and (system, rest) in self._entries:
            return self._entries[system, rest]
        own_systems = (own,) if isinstance(own, str) else own
        for each in self._order(own):
            if each in BY_PREFIX and each not in own_systems:
                continue
            if (each, name) in self._entries and (systems is None or each in systems):
                return self._entries[each, name]
        return None

    def _order(self, own: Own) -> list[str]:
        first = (own,) if isinstance(own, str) else own
        return list(dict.fromkeys([*first, *SYSTEMS, *self._systems]))

    def names(self) -> list[str]:
        """Return all names, with those of the catalogs and of installed packages."""
        own = (entry.key if entry.system in BY_PREFIX else entry.name for entry in self)
        return [*dict.fromkeys(own), *self.catalog_names(), *plugins("metrics")]

    def catalog_names(self) -> list[str]:
        """Return the names of the artifacts in catalogs that can be named in place of an entry."""
        prefix = self.catalog_prefix
        if not prefix:
            return []
        return sorted({name for catalog in catalogs() for name in catalog.names() if name.startswith(prefix)})

    def unknown(self, name: str, kind: str = "", known: Sequence[str] = ()) -> ScoringError:
        """Return the error for a name that no table has, with the closest names of all.

        Args:
            kind: How the dialect calls what is named.
            known: Names of the dialect itself, which are listed where there is a list.
        """
        system, colon, rest = name.partition(":")
        wanted = rest if colon and system in self._order(UNITXT) else name
        return ScoringError(
            f"there is no {kind or self.kind} '{name}'",
            why=f"there are {', '.join(known)}; and those of catalogs and of the other systems" if known else "",
            hint=did_you_mean(wanted, [*known, *self.names()]),
        )


def named(source: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of ``name[key=value]``, ``system:name[key=value]`` or a bare name."""
    name, bracket, rest = source.partition("[")
    if not bracket:
        return source, {}
    try:
        return name, parse_query(f"x[{rest}").overwrites  # names of other systems may have more than letters and dots
    except QueryError:
        return source, {}


def is_in_catalog(source: str) -> bool:
    """Return whether a name or query means an artifact of a catalog, or a class that an installed package brings."""
    try:
        name = parse_query(source).name
    except QueryError:
        return False
    return place_of(name) is not None or type_of_plugin(name) is not None


def is_word(source: str) -> bool:
    """Return whether a text is a bare name, and not a path of a catalog, a file or JSON."""
    name = named(source)[0]
    return bool(name) and not any(sign in name for sign in "./{=,")
