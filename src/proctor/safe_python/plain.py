"""Rows as templates and expressions see them: plain data, and handles for everything else.

Texts, numbers, dates, lists, tuples, sets and dictionaries are plain data, subclasses of them become what they derive
from, numbers of numpy become Python's. A picture, an array, a table, an open file or any other object has methods that
act, so a :class:`Handle` takes its place: it can be handed on, compared with itself, and printed as the name of its
type. What a template or expression hands on becomes the object again with :func:`held`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from proctor.safe_python.budget import MAX_NESTING, RefusalError
from proctor.safe_python.values import ConfigDict, ConfigFunction, InheritedDict, Reference

_DATA: frozenset[Any] = frozenset(
    {str, int, float, bool, type(None), complex, type(Ellipsis), date, datetime, time, timedelta, range, slice}
)
_INERT = frozenset({Reference})
"""Types of ours whose values hold texts and do nothing."""

FLAT_IN_TEMPLATES: frozenset[Any] = _DATA | _INERT
"""Types whose values templates see as they are."""

FLAT: frozenset[Any] = FLAT_IN_TEMPLATES | {bytes}
"""Types whose values expressions see as they are; in templates bytes are a picture or a sound."""

_LARGEST_EXPONENT = 1_000
"""Exponent of a decimal number: turning ``1E+999999999`` into a whole number takes for ever."""


class Handle:
    """Something in a row that is not data; its type's name is all that is seen of it."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __str__(self) -> str:
        return f"<{type(self._value).__name__}>"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


def held(value: Any) -> Any:
    """Return what a handle stands for, also inside lists, tuples and dictionaries; other values as they are."""
    kind = type(value)
    if kind is Handle:
        return value._value  # noqa: SLF001 - the handle's other half
    if kind in (list, tuple):
        made = kind([held(each) for each in value])
        return value if all(map(_is, made, value)) else made
    if kind is dict:
        changed = {held(key): held(each) for key, each in value.items()}
        return value if all(map(_is, changed.values(), value.values())) else changed
    return value


def _is(left: object, right: object) -> bool:
    return left is right


def plain(value: Any, flat: frozenset[type] = FLAT) -> Any:
    """Return a value as data and handles; the very same value where it is data already.

    Args:
        value: What a row holds.
        flat: Types whose values stay as they are.

    Raises:
        RefusalError: It holds itself, or is nested too deep.
    """
    return value if type(value) in flat or _is_data(value, flat) else _Look(flat).value(value, 0)


def plain_row(row: Mapping[Any, Any], names: Iterable[Any] | None = None, flat: frozenset[type] = FLAT) -> Any:
    """Return a row whose fields are data and handles; the very same row where they are data already.

    Args:
        row: The row.
        names: The fields that are looked at; all where not given.
        flat: Types whose values stay as they are.

    Raises:
        RefusalError: A field holds itself, or is nested too deep.
    """
    changed = {}
    for name in row if names is None else names:
        if name not in row:
            continue
        value = row[name]
        if type(value) not in flat and (made := plain(value, flat)) is not value:
            changed[name] = made
    return {**row, **changed} if changed else row


_LEVELS = 8
_MOST_PARTS = 10_000
"""Levels and parts of the values of nearly all rows; what has more gets the whole look, which sees what is shared."""


def _is_data(value: Any, flat: frozenset[type]) -> bool:
    """Return whether a value is data already, ``False`` where that is not soon known."""
    level = [value]
    for _ in range(_LEVELS):
        below: list[Any] = []
        for each in level:
            kind = type(each)
            if kind is dict:
                if not flat.issuperset(map(type, each)):
                    return False
                parts = each.values()
            elif kind is list or kind is tuple:
                parts = each
            else:
                return False
            if not flat.issuperset(map(type, parts)):
                below += [part for part in parts if type(part) not in flat]
                if len(below) > _MOST_PARTS:
                    return False
        if not below:
            return True
        level = below
    return False


class _Look:
    """One look through a value; what is held twice is looked at once."""

    __slots__ = ("_flat", "_seen")

    def __init__(self, flat: frozenset[type]) -> None:
        self._flat = flat
        self._seen: dict[int, Any] = {}

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind in self._flat:
            return value
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            if self._flat.issuperset(map(type, value)):
                return value
        elif kind is dict or kind is ConfigDict or kind is InheritedDict:
            if self._flat.issuperset(map(type, value.values())) and self._flat.issuperset(map(type, value)):
                return value
        else:
            return self._other(value, depth)
        return self._container(value, kind, depth)

    def _container(self, value: Any, kind: Any, depth: int) -> Any:
        key = id(value)
        if key in self._seen:
            if self._seen[key] is _LOOKING:
                raise RefusalError("gets a value that holds itself")
            return self._seen[key]
        if depth > MAX_NESTING:
            raise RefusalError(f"gets values nested more than {MAX_NESTING} deep")
        self._seen[key] = _LOOKING
        if issubclass(kind, dict):
            made: Any = {self.value(name, depth + 1): self.value(each, depth + 1) for name, each in value.items()}
            same = all(map(_is, made.values(), value.values())) and all(map(_is, made, value))
        else:
            made = kind([self.value(each, depth + 1) for each in value])
            same = kind in (list, tuple) and all(map(_is, made, value))
        self._seen[key] = value if same else made
        return self._seen[key]

    def _other(self, value: Any, depth: int) -> Any:
        """Return a value whose type is not one of Python's own containers and scalars."""
        for base, convert in _BASES:
            if isinstance(value, base):
                made = convert(value)
                return self.value(made, depth) if type(made) in _CONTAINERS else made
        if isinstance(value, ConfigFunction):
            return value  # of a config's own: it is interpreted, and called by the config only
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self._number(value.item())
        return Handle(value)

    def _number(self, item: Any) -> Any:
        return item if type(item) in self._flat else Handle(item)


_LOOKING = object()
_CONTAINERS = (list, tuple, dict)


def _moment(value: datetime) -> Any:
    """Return a moment of pandas as Python's; its ``NaT`` is none."""
    try:
        return datetime(
            value.year,
            value.month,
            value.day,
            value.hour,
            value.minute,
            value.second,
            value.microsecond,
            value.tzinfo,
            fold=value.fold,
        )
    except (TypeError, ValueError):
        return None


def _decimal(value: Decimal) -> Any:
    return value if type(value) is Decimal and abs(value.adjusted()) <= _LARGEST_EXPONENT else Handle(value)


_BASES: tuple[tuple[Any, Any], ...] = (
    (str, str.__str__),
    (bool, bool),
    (int, lambda value: int.__add__(value, 0)),
    (float, float.__float__),
    (dict, lambda value: dict(dict.items(value))),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (MappingProxyType, dict),
    (datetime, _moment),
    (timedelta, lambda value: timedelta(value.days, value.seconds, value.microseconds)),
    (Decimal, _decimal),
)
"""Python's own types, of which values of subclasses become plain ones."""
