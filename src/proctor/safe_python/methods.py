"""The methods that may be called, by type: of configs, expressions and templates. Others cannot be reached."""

# ruff: noqa: ARG001 - everything that may be called has one signature

from __future__ import annotations

import ast
import re
from datetime import date, datetime, time, timedelta
from typing import Any

from proctor.safe_python import containers, operators
from proctor.safe_python.budget import SCALARS
from proctor.safe_python.calls import ABSENT, Arguments, Invocable, Method, Named, Table, call, taken
from proctor.safe_python.files import TextFile
from proctor.safe_python.patterns import Match
from proctor.safe_python.scope import Frame
from proctor.safe_python.text import check_layout
from proctor.safe_python.text_methods import BYTES_METHODS, TEXT_METHODS
from proctor.safe_python.values import ConfigDict, InheritedDict


def _plain(kind: type, name: str) -> Method:
    """A method that makes at most a few times what it is given, in linear time."""
    function = getattr(kind, name)

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        budget = frame.budget
        if owner.__class__ not in SCALARS:
            budget.spend(len(owner) >> 3)
        for argument in arguments:
            if argument.__class__ not in SCALARS:
                budget.measure(argument)
        return function(owner, *arguments, **named)

    return method


def _quick(kind: type, name: str) -> Method:
    """A method of dictionaries and sets that looks one key up, or none."""
    function = getattr(kind, name)

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        for argument in arguments:
            if argument.__class__ not in SCALARS:
                frame.budget.measure(argument)
        return function(owner, *arguments, **named)

    return method


# -- lists ------------------------------------------------------------------------------------------------------------


def _append(frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    frame.budget.hold(8)
    owner.append(*arguments, **named)


def _extend(frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    if len(arguments) != 1 or named:
        raise TypeError("list.extend() takes exactly one argument")
    operators.in_place(ast.Add, owner, arguments[0], frame.budget)


def _insert(frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    frame.budget.spend(len(owner) >> 4)
    frame.budget.hold(8)
    owner.insert(*arguments, **named)


def _searching(kind: type, name: str) -> Method:
    function = getattr(kind, name)

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        if arguments and arguments[0].__class__ in SCALARS:
            frame.budget.spend(len(owner) >> 4)
        else:
            frame.budget.measure(owner, *arguments)
        return function(owner, *arguments, **named)

    return method


_FEW = 64
"""Keys that are sorted in the time of a step, where they are texts and numbers."""


def sort(frame: Frame, items: list[Any], arguments: Arguments, named: Named) -> None:
    """Sort a list in place, with ``key`` and ``reverse`` as Python has them."""
    if arguments or not named.keys() <= {"key", "reverse"}:
        raise TypeError("sort() takes key and reverse as keyword arguments only")
    key = named.get("key")
    keys = items if key is None else [call(frame, key, [item]) for item in items]
    if len(keys) > _FEW or not SCALARS.issuperset(map(type, keys)):
        cost = frame.budget.measure(keys) * max(1, len(items).bit_length())
        frame.budget.spend(cost >> 2)
        frame.budget.hold_items(2 * len(items))
    reverse = bool(named.get("reverse", False))
    if key is None:
        items.sort(reverse=reverse)
        return
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    items[:] = [items[position] for position in order]


def _pop_item(frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> Any:
    frame.budget.spend(len(owner) >> 6)
    return owner.pop(*arguments, **named)


def _copy(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
    frame.budget.hold_items(8 * len(owner))
    frame.budget.spend(len(owner) >> 2)
    return owner.copy(*arguments, **named)


_LIST_METHODS: Table = {
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop_item,
    "copy": _copy,
    "sort": sort,
    "index": _searching(list, "index"),
    "count": _searching(list, "count"),
    "remove": _searching(list, "remove"),
    "reverse": _plain(list, "reverse"),
    "clear": _plain(list, "clear"),
}
_TUPLE_METHODS: Table = {"index": _searching(tuple, "index"), "count": _searching(tuple, "count")}


# -- dictionaries -----------------------------------------------------------------------------------------------------


def _update(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> None:
    if len(arguments) > 1:
        raise TypeError(f"update expected at most 1 argument, got {len(arguments)}")
    pairs = containers.pairs_of(arguments[0], frame.budget) if arguments else []
    containers.update(owner, [*pairs, *named.items()], frame.budget)


def _set_default(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    key, value = taken("setdefault", arguments, named, "key default")
    value = None if value is ABSENT else value
    if key in owner:
        return owner[key]
    containers.put(owner, key, value, frame.budget)
    return value


def _copy_dict(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    copied = _copy(frame, owner, arguments, named)
    return copied if isinstance(copied, ConfigDict) else ConfigDict(copied)


def from_keys(frame: Frame, arguments: Arguments, named: Named) -> ConfigDict:
    """Return ``dict.fromkeys(keys, value)``."""
    keys, value = taken("dict.fromkeys", arguments, named, "iterable value")
    made = ConfigDict()
    for key in containers.consume(keys, frame.budget):
        containers.put(made, key, None if value is ABSENT else value, frame.budget)
    return made


_DICT_METHODS: Table = {
    **{name: _quick(dict, name) for name in ("clear", "get", "items", "keys", "pop", "popitem", "values")},
    "copy": _copy_dict,
    "setdefault": _set_default,
    "update": _update,
}


def _inherited_items(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    frame.budget.hold_items(2 * len(owner))
    return list(owner.items(*arguments, **named))


def _inherited_values(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    frame.budget.hold_items(len(owner))
    return list(owner.values(*arguments, **named))


def _inherited_pop(frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    key, default = taken("pop", arguments, named, "key default")
    frame.budget.measure(key)
    return owner.pop(key, None if default is ABSENT else default)


def _inherited_copy(frame: Frame, owner: InheritedDict, arguments: Arguments, named: Named) -> Any:
    copied = owner.copy(*arguments, **named)
    for key, value in owner.items():
        containers.put(copied, key, value, frame.budget)
    return copied


def _inherited_deep_copy(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
    if arguments or named:
        raise TypeError("deepcopy() takes no arguments")
    return containers.deep_copy(owner, frame.budget)


_INHERITED_METHODS: Table = {
    **_DICT_METHODS,
    "copy": _inherited_copy,
    "deepcopy": _inherited_deep_copy,
    "items": _inherited_items,
    "pop": _inherited_pop,
    "values": _inherited_values,
}


# -- sets -------------------------------------------------------------------------------------------------------------


def _adding(frame: Frame, owner: set[Any], arguments: Arguments, named: Named) -> None:
    frame.budget.measure(*arguments)
    frame.budget.hold(64)
    owner.add(*arguments, **named)


def _uniting(name: str) -> Method:
    """A method of sets that takes iterables."""

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        budget = frame.budget
        others = [containers.fill_set(containers.consume(each, budget), budget) for each in arguments]
        budget.hold_items(2 * (len(owner) + sum(map(len, others))))
        budget.spend(len(owner) + sum(map(len, others)))
        return getattr(owner, name)(*others, **named)

    return method


def _pop_member(frame: Frame, owner: set[Any], arguments: Arguments, named: Named) -> Any:
    if arguments or named:
        raise TypeError("set.pop() takes no arguments")
    if not owner:
        raise KeyError("pop from an empty set")
    member = containers.ordered(owner, frame.budget)[0]
    owner.remove(member)
    return member


_FROZEN_METHODS: Table = {
    **{
        name: _uniting(name)
        for name in [
            *("difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference"),
            "union",
        ]
    },
    "copy": _copy,
}
_SET_METHODS: Table = {
    **_FROZEN_METHODS,
    **{
        name: _uniting(name)
        for name in ["difference_update", "intersection_update", "symmetric_difference_update", "update"]
    },
    **{name: _quick(set, name) for name in ("clear", "discard", "remove")},
    "add": _adding,
    "pop": _pop_member,
}


# -- the rest ---------------------------------------------------------------------------------------------------------


def _of_file(name: str) -> Method:
    function = getattr(TextFile, name)

    def method(frame: Frame, owner: TextFile, arguments: Arguments, named: Named) -> Any:
        return function(owner, *arguments, **named)

    return method


def _close(frame: Frame, owner: TextFile, arguments: Arguments, named: Named) -> None:
    return None


def _of_match(kind: type, name: str) -> Method:
    function = getattr(kind, name)

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        frame.budget.hold_text(len(owner.string))
        return function(owner, *arguments, **named)

    return method


_OF_MATCHES = ("end", "group", "groupdict", "groups", "span", "start")


def _of_time(kind: type, name: str) -> Method:
    function = getattr(kind, name)

    def method(frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        for layout in (*arguments, *named.values()):
            if layout.__class__ is str:
                check_layout(layout)
        return function(owner, *arguments, **named)

    return method


_OF_TIMES: dict[type, tuple[str, ...]] = {
    date: ("isoformat", "isoweekday", "strftime", "weekday"),
    datetime: ("date", "isoformat", "isoweekday", "strftime", "time", "timestamp", "weekday"),
    time: ("isoformat", "strftime"),
    timedelta: ("total_seconds",),
}

METHODS: dict[type, Table] = {
    str: TEXT_METHODS,
    bytes: BYTES_METHODS,
    list: _LIST_METHODS,
    tuple: _TUPLE_METHODS,
    dict: _DICT_METHODS,
    ConfigDict: _DICT_METHODS,
    InheritedDict: _INHERITED_METHODS,
    set: _SET_METHODS,
    frozenset: _FROZEN_METHODS,
    int: {"bit_length": _plain(int, "bit_length")},
    float: {"is_integer": _plain(float, "is_integer")},
    Match: {name: _of_match(Match, name) for name in _OF_MATCHES},
    re.Match: {name: _of_match(re.Match, name) for name in _OF_MATCHES},
    TextFile: {**{name: _of_file(name) for name in ("read", "readline", "readlines")}, "close": _close},
    **{kind: {name: _of_time(kind, name) for name in names} for kind, names in _OF_TIMES.items()},
}
if hasattr(int, "is_integer"):  # since Python 3.12
    METHODS[int]["is_integer"] = _plain(int, "is_integer")

CHANGING = frozenset(
    {
        *("add", "append", "clear", "difference_update", "discard", "extend", "insert", "intersection_update", "pop"),
        *("popitem", "remove", "reverse", "setdefault", "sort", "symmetric_difference_update", "update"),
    }
)
"""Methods that change their owner: a file may change what it made, an expression or a template may not change a row."""

_inherited: dict[type, Table] = {}


def methods_of(kind: type) -> Table:
    """Return the methods that values of a type have; those of a subclass are its base's."""
    table = METHODS.get(kind)
    if table is None:
        table = _inherited.get(kind)
    if table is None:
        base = next((each for each in kind.__mro__ if each in METHODS), None)
        table = _inherited[kind] = {} if base is None else METHODS[base]
    return table


class BoundMethod(Invocable):
    """A method taken from a value and not called yet: ``add = names.append``."""

    __slots__ = ("_method", "_owner", "name")

    def __init__(self, owner: Any, name: str, method: Method) -> None:
        self._owner = owner
        self._method = method
        self.name = name

    def invoke(self, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Call it."""
        return self._method(frame, self._owner, arguments, named)
