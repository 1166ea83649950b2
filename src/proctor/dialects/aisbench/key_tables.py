"""Tables of what may stand in the dictionaries of a config, and the one check of a dictionary against them.

``keys.json`` has an entry for each part of a config: keys that are ``used``, those without effect (``idle``) and those
that are ``refused``, each with the reason; an entry may be ``like`` others. It also says of which type values are
(``values``), which words there are (``words``), what may stand there where it is switched off (``off``), and whose a
name is (``names``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from proctor.dialects.aisbench.signatures import ELSEWHERE, Signature
from proctor.dialects.aisbench.values import LONGEST_SHOWN, it_is, location_of
from proctor.errors import Diagnostic, Location, did_you_mean

Reasons = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that one dictionary of a config may have.

    Attributes:
        used: Keys that have an effect.
        idle: Keys without effect here, each with the reason.
        refused: Keys that cannot be honoured, each with the reason.
        hint: What to do about refused ones.
    """

    used: frozenset[str]
    idle: Reasons = field(default_factory=dict)
    refused: Reasons = field(default_factory=dict)
    hint: str = "take it out"

    @classmethod
    def of(cls, part: str) -> Keys:
        """Return what the table says of a part of a config (``reader_cfg``, ``gen``, ``server`` …)."""
        return _keys(part)

    def problems(self, values: Mapping[str, Any], what: str, path: str) -> Iterator[Diagnostic]:
        """Yield keys that are refused or unknown.

        Args:
            values: The dictionary.
            what: How messages call it.
            path: Where it is in the dataset or model.
        """
        where = location_of(values)
        for key in values:
            if key in self.refused:
                yield Diagnostic(
                    f"'{key}' of {what} cannot be honoured", where, f"{path}.{key}", self.refused[key], self.hint
                )
            elif key not in self.used and key not in self.idle:
                hint = (
                    did_you_mean(str(key), self.used)
                    or home_of(str(key), path)
                    or f"it has {', '.join(sorted(self.used))}"
                )
                yield Diagnostic(f"{what} knows no '{key}'", where, f"{path}.{key}", hint=hint)

    def of_class(
        self, values: Mapping[str, Any], what: str, path: str, taken: Signature | None
    ) -> Iterator[Diagnostic]:
        """Yield keys of a class's dictionary that are refused, or that the class does not take.

        Args:
            values: The dictionary.
            what: How messages call the class.
            path: Where it is in the dataset or model.
            taken: What the class takes; ``None`` where that is not known.
        """
        where = location_of(values)
        for key, value in values.items():
            place = f"{path}.{key}"
            if key in self.refused:
                yield Diagnostic(f"'{key}' of {what} cannot be honoured", where, place, self.refused[key], self.hint)
            elif taken is None or taken.is_open or key in taken.names:
                if key not in self.used and key not in self.idle and not is_default(taken, key, value):
                    yield self._unread(key, what, place, where, taken)
            else:
                yield self._unread(key, what, place, where, taken)

    def _unread(self, key: str, what: str, place: str, where: Location | None, taken: Signature | None) -> Diagnostic:
        if taken is not None and key in taken.names:
            return Diagnostic(
                f"'{key}' of {what} cannot be honoured", where, place, "nothing here does what it asks for", self.hint
            )
        known = sorted(self.used | self.idle.keys() if taken is None or taken.is_open else taken.names)
        return Diagnostic(
            f"{what} knows no '{key}'", where, place, hint=did_you_mean(key, known) or f"it has {', '.join(known)}"
        )

    def idle_of_class(self, values: Mapping[str, Any], path: str, taken: Signature | None) -> dict[str, str]:
        """Return the keys of a class's dictionary that have no effect here, with the reasons."""
        return self.without_effect(values, path) | {
            f"{path}.{key}": _BY_ITSELF
            for key, value in values.items()
            if key not in self.used and key not in self.idle and is_default(taken, key, value)
        }

    def without_effect(self, values: Mapping[str, Any], path: str) -> dict[str, str]:
        """Return the keys of a dictionary that have no effect here, with the reasons."""
        return {f"{path}.{key}": self.idle[key] for key in values if key in self.idle}


_BY_ITSELF = "it is what upstream has without it"


def is_default(taken: Signature | None, key: str, value: object) -> bool:
    """Whether a value is the one that the class has without it: saying it changes nothing."""
    if taken is None or key not in taken.defaults:
        return False
    default = taken.defaults[key]
    return default is not ELSEWHERE and type(value) is type(default) and value == default


Rule = tuple[str, float | None, float | None, str]
"""Of a value: its kind, the least and the most, and what it is in words."""
_KINDS: Mapping[str, tuple[type, ...]] = {
    "whole": (int,),
    "number": (int, float),
    "switch": (bool,),
    "text": (str,),
    "list": (list, tuple),
    "text or list": (str, list, tuple),
    "dictionary": (Mapping,),
}


def value_rules(part: str) -> Mapping[str, Rule]:
    """Return what the values in a part of a config have to be, by key."""
    rules: Mapping[str, Rule] = _table()["values"][part]
    return rules


def value_problems(values: Mapping[str, Any], part: str, path: str, where: Location | None) -> Iterator[Diagnostic]:
    """Yield values that are of the wrong type, too small or too large, and words that there are not.

    Args:
        values: The dictionary.
        part: Whose rules count.
        path: Where the dictionary is.
        where: Where it was written.
    """
    rules = value_rules(part)
    for key, rule in rules.items():
        yield from value_problem(values, key, rule, f"{path}.{key}", where)
    texts = {key: value for key, value in values.items() if key not in rules or isinstance(value, str)}
    yield from word_problems(texts, part, path, where)


def value_problem(
    values: Mapping[str, Any], key: str, rule: Rule, path: str, where: Location | None
) -> Iterator[Diagnostic]:
    """Yield a value that is of the wrong type, too small or too large; ``None`` is taken for left out."""
    value, (kind, least, most, what) = values.get(key), rule
    if value is None:
        return
    fits = isinstance(value, _KINDS[kind]) and (kind == "switch" or not isinstance(value, bool))
    if not fits or (least is not None and value < least) or (most is not None and value > most):
        yield Diagnostic(f"'{key}' is {what}", where, path, it_is(value))


def word_problems(values: Mapping[str, Any], part: str, path: str, where: Location | None) -> Iterator[Diagnostic]:
    """Yield values that are none of the words that there are."""
    for key, known in _table()["words"].get(part, {}).items():
        if key in values and values[key] not in known:
            hint = did_you_mean(str(values[key]), known) or " or ".join(repr(each) for each in known if each)
            what = f"there is no {key} {values[key]!r}"[:LONGEST_SHOWN]
            yield Diagnostic(what, where, f"{path}.{key}", hint=hint)


@cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = json.loads(files(__package__).joinpath("keys.json").read_bytes())
    return table


@cache
def _keys(part: str) -> Keys:
    entry: Mapping[str, Any] = _table()["parts"][part]
    bases = [_keys(each) for each in entry.get("like", ())]
    idle = {key: why for base in bases for key, why in base.idle.items()} | reasons_of(entry.get("idle", {}))
    used = frozenset(entry.get("used", ())).union(*(base.used for base in bases)) - idle.keys()
    refused = {key: why for base in bases for key, why in base.refused.items()} | reasons_of(entry.get("refused", {}))
    hint = entry.get("hint") or next((base.hint for base in bases), "take it out")
    return Keys(used, idle, {key: why for key, why in refused.items() if key not in used}, hint)


def reasons_of(entry: Mapping[str, list[str]]) -> dict[str, str]:
    """Return reasons by key, of keys by reason."""
    return {key: why.replace("{key}", key) for why, keys in entry.items() for key in keys}


def names_of(owner: str) -> frozenset[str]:
    """Return names that belong to somebody: ``the model``, or a project that takes them before it makes the model."""
    return frozenset(_table()["names"][owner])


def switched_off(family: str) -> Mapping[str, str]:
    """Return arguments of generation that engines of a family are not told, with the reasons; harmless where off."""
    return reasons_of(_table()["off"][family])


def home_of(key: str, path: str) -> str:
    """Return a hint that names the part of a config where a key belongs; empty where it belongs here, or nowhere."""
    for part in homes_of(key):
        if part != path.removeprefix("$.") and key not in _EVERYWHERE:
            return f"{key} is a key of {part}"
    return ""


_EVERYWHERE = ("type", "abbr", "path")


def homes_of(key: str, table: str = "homes") -> list[str]:
    """Return the parts of a config that a key belongs to.

    Args:
        table: ``homes``, or ``owners`` where a class would take anything.
    """
    return [part for part, entry in _table()[table].items() if key in _keys_at(entry)]


def _keys_at(entry: Mapping[str, list[str]]) -> frozenset[str]:
    return frozenset(entry.get("keys", ())).union(*(_keys(part).used for part in entry.get("of", ())))
