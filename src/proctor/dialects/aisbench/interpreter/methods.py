"""The methods that a config may call, by type. What is not in these tables cannot be reached."""

# ruff: noqa: ARG001 - everything that a config may call has one signature

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol

from proctor.dialects.aisbench.interpreter import containers, operators
from proctor.dialects.aisbench.interpreter.budget import MAX_TEXT, SCALARS, Budget, ExhaustedError
from proctor.dialects.aisbench.interpreter.files import TextFile
from proctor.dialects.aisbench.interpreter.scope import Frame
from proctor.dialects.aisbench.interpreter.text import format_text
from proctor.dialects.aisbench.values import ConfigDict, InheritedDict

Arguments = list[Any]
Named = dict[str, Any]


class Machine(Protocol):
    """What methods and builtins need of the interpreter."""

    budget: Budget

    def call(self, function: Any, arguments: Arguments, named: Named, frame: Frame) -> Any:
        """Call a value."""


Method = Callable[[Machine, Frame, Any, Arguments, Named], Any]
Table = dict[str, Method]


_QUADRATIC = frozenset({"rfind", "rindex", "rpartition", "rsplit", "strip", "lstrip", "rstrip"})
"""Methods of texts that take as long as both texts' lengths multiplied, at worst."""


def _plain(kind: type, name: str) -> Method:
    """A method that makes at most a few times what it is given, in linear time."""
    function = getattr(kind, name)
    backwards = name in _QUADRATIC

    def method(machine: Machine, frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        budget = machine.budget
        if isinstance(owner, str):
            budget.hold_text(len(owner))
            if backwards and arguments and isinstance(arguments[0], str):
                budget.spend(len(owner) * len(arguments[0]) >> 10)
        elif owner.__class__ not in SCALARS:
            budget.spend(len(owner) >> 3)
        for argument in arguments:
            if argument.__class__ not in SCALARS:
                budget.measure(argument)
        return function(owner, *arguments, **named)

    return method


def taken(name: str, arguments: Arguments, named: Named, parameters: str, required: int = 1) -> list[Any]:
    """Return the arguments of a call in the order of ``parameters``; :data:`ABSENT` for those not given.

    Raises:
        TypeError: Too many, too few, unknown or doubled arguments.
    """
    expected = parameters.split()
    values = dict(zip(expected, arguments, strict=False))
    if len(arguments) > len(expected) or named.keys() & values.keys() or not named.keys() <= set(expected):
        raise TypeError(f"{name}() takes {', '.join(expected)}")
    values.update(named)
    for parameter in expected[:required]:
        if parameter not in values:
            raise TypeError(f"{name}() missing required argument '{parameter}'")
    return [values.get(parameter, ABSENT) for parameter in expected]


ABSENT: Any = object()
"""Stands for an argument that was not given."""


# -- texts ------------------------------------------------------------------------------------------------------------


def _join(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    if len(arguments) != 1 or named:
        raise TypeError("str.join() takes exactly one argument")
    items = containers.consume(arguments[0], machine.budget)
    length = sum(len(item) for item in items if isinstance(item, str))
    machine.budget.hold_text(length + len(owner) * len(items))
    return owner.join(items)


def _replace(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    old, new, count = taken("replace", arguments, {}, "old new count", required=2)
    if isinstance(old, str) and isinstance(new, str):
        machine.budget.hold_text(len(owner) + owner.count(old) * len(new))
    return owner.replace(old, new, **named) if count is ABSENT else owner.replace(old, new, count, **named)


def _padded(name: str) -> Method:
    function = getattr(str, name)

    def method(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> Any:
        width = arguments[0] if arguments and isinstance(arguments[0], int) else 0
        machine.budget.hold_text(max(width, len(owner)))
        return function(owner, *arguments, **named)

    return method


def _expandtabs(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    width = named.get("tabsize", arguments[0] if arguments else 8)
    if isinstance(width, int):
        if width > MAX_TEXT:
            raise ExhaustedError(f"makes a text of more than {MAX_TEXT:,} characters")
        machine.budget.hold_text(len(owner) + owner.count("\t") * max(0, width))
    return owner.expandtabs(*arguments, **named)


def _splitting(name: str) -> Method:
    function = getattr(str, name)

    def method(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> Any:
        separator = named.get("sep", arguments[0] if arguments else None)
        if isinstance(separator, str) and separator:
            if name in _QUADRATIC:
                machine.budget.spend(len(owner) * len(separator) >> 10)
            pieces = owner.count(separator) + 1
        else:
            pieces = len(owner) // 2 + 1 if name != "splitlines" else len(owner)
        machine.budget.hold_text(len(owner))
        machine.budget.hold(64 * pieces)
        return function(owner, *arguments, **named)

    return method


def _format(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    return format_text(owner, arguments, named, machine.budget)


def _format_map(machine: Machine, frame: Frame, owner: str, arguments: Arguments, named: Named) -> str:
    (mapping,) = arguments
    if not isinstance(mapping, dict) or named:
        raise TypeError("format_map() takes one dictionary")
    return format_text(owner, (), mapping, machine.budget)


_SIMPLE = (
    *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdecimal"),
    *("isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle", "isupper", "lower"),
    *("lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rstrip"),
    *("startswith", "strip", "swapcase", "title", "upper"),
)

_TEXT_METHODS: Table = {
    **{name: _plain(str, name) for name in _SIMPLE},
    **{name: _padded(name) for name in ("center", "ljust", "rjust", "zfill")},
    **{name: _splitting(name) for name in ("split", "rsplit", "splitlines")},
    "join": _join,
    "replace": _replace,
    "expandtabs": _expandtabs,
    "format": _format,
    "format_map": _format_map,
}


# -- lists ------------------------------------------------------------------------------------------------------------


def _append(machine: Machine, frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    machine.budget.hold(8)
    owner.append(*arguments, **named)


def _extend(machine: Machine, frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    if len(arguments) != 1 or named:
        raise TypeError("list.extend() takes exactly one argument")
    operators.in_place(ast.Add, owner, arguments[0], machine.budget)


def _insert(machine: Machine, frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> None:
    machine.budget.spend(len(owner) >> 4)
    machine.budget.hold(8)
    owner.insert(*arguments, **named)


def _searching(kind: type, name: str) -> Method:
    function = getattr(kind, name)

    def method(machine: Machine, frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        machine.budget.measure(owner, *arguments)
        return function(owner, *arguments, **named)

    return method


def sort(machine: Machine, frame: Frame, items: list[Any], arguments: Arguments, named: Named) -> None:
    """Sort a list in place, with ``key`` and ``reverse`` as Python has them."""
    if arguments or not named.keys() <= {"key", "reverse"}:
        raise TypeError("sort() takes key and reverse as keyword arguments only")
    key = named.get("key")
    keys = items if key is None else [machine.call(key, [item], {}, frame) for item in items]
    cost = machine.budget.measure(keys) * max(1, len(items).bit_length())
    machine.budget.spend(cost >> 2)
    machine.budget.hold_items(2 * len(items))
    reverse = bool(named.get("reverse", False))
    if key is None:
        items.sort(reverse=reverse)
        return
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    items[:] = [items[position] for position in order]


def _pop_item(machine: Machine, frame: Frame, owner: list[Any], arguments: Arguments, named: Named) -> Any:
    machine.budget.spend(len(owner) >> 6)
    return owner.pop(*arguments, **named)


def _copy(machine: Machine, frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
    machine.budget.hold_items(8 * len(owner))
    machine.budget.spend(len(owner) >> 2)
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


def _update(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> None:
    if len(arguments) > 1:
        raise TypeError(f"update expected at most 1 argument, got {len(arguments)}")
    pairs = containers.pairs_of(arguments[0], machine.budget) if arguments else []
    containers.update(owner, [*pairs, *named.items()], machine.budget)


def _set_default(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    key, value = taken("setdefault", arguments, named, "key default")
    value = None if value is ABSENT else value
    if key in owner:
        return owner[key]
    containers.put(owner, key, value, machine.budget)
    return value


def _copy_dict(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    copied = _copy(machine, frame, owner, arguments, named)
    return copied if isinstance(copied, ConfigDict) else ConfigDict(copied)


def from_keys(machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> ConfigDict:
    """Return ``dict.fromkeys(keys, value)``."""
    keys, value = taken("dict.fromkeys", arguments, named, "iterable value")
    made = ConfigDict()
    for key in containers.consume(keys, machine.budget):
        containers.put(made, key, None if value is ABSENT else value, machine.budget)
    return made


_DICT_METHODS: Table = {
    **{name: _plain(dict, name) for name in ("clear", "get", "items", "keys", "pop", "popitem", "values")},
    "copy": _copy_dict,
    "setdefault": _set_default,
    "update": _update,
}


def _inherited_items(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    machine.budget.hold_items(2 * len(owner))
    return list(owner.items(*arguments, **named))


def _inherited_values(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    machine.budget.hold_items(len(owner))
    return list(owner.values(*arguments, **named))


def _inherited_pop(machine: Machine, frame: Frame, owner: dict[Any, Any], arguments: Arguments, named: Named) -> Any:
    key, default = taken("pop", arguments, named, "key default")
    machine.budget.measure(key)
    return owner.pop(key, None if default is ABSENT else default)


def _inherited_copy(machine: Machine, frame: Frame, owner: InheritedDict, arguments: Arguments, named: Named) -> Any:
    copied = owner.copy(*arguments, **named)
    for key, value in owner.items():
        containers.put(copied, key, value, machine.budget)
    return copied


def _inherited_deep_copy(machine: Machine, frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
    if arguments or named:
        raise TypeError("deepcopy() takes no arguments")
    return containers.deep_copy(owner, machine.budget)


_INHERITED_METHODS: Table = {
    **_DICT_METHODS,
    "copy": _inherited_copy,
    "deepcopy": _inherited_deep_copy,
    "items": _inherited_items,
    "pop": _inherited_pop,
    "values": _inherited_values,
}


# -- sets -------------------------------------------------------------------------------------------------------------


def _adding(machine: Machine, frame: Frame, owner: set[Any], arguments: Arguments, named: Named) -> None:
    machine.budget.measure(*arguments)
    machine.budget.hold(64)
    owner.add(*arguments, **named)


def _uniting(name: str) -> Method:
    """A method of sets that takes iterables."""

    def method(machine: Machine, frame: Frame, owner: Any, arguments: Arguments, named: Named) -> Any:
        budget = machine.budget
        others = [containers.fill_set(containers.consume(each, budget), budget) for each in arguments]
        budget.hold_items(2 * (len(owner) + sum(map(len, others))))
        budget.spend(len(owner) + sum(map(len, others)))
        return getattr(owner, name)(*others, **named)

    return method


def _pop_member(machine: Machine, frame: Frame, owner: set[Any], arguments: Arguments, named: Named) -> Any:
    if arguments or named:
        raise TypeError("set.pop() takes no arguments")
    if not owner:
        raise KeyError("pop from an empty set")
    member = containers.ordered(owner, machine.budget)[0]
    owner.remove(member)
    return member


_UNITING = (
    *("difference", "intersection", "isdisjoint", "issubset", "issuperset"),
    *("symmetric_difference", "union"),
)

_FROZEN_METHODS: Table = {
    **{
        name: _uniting(name)
        for name in [
            "difference",
            "intersection",
            "isdisjoint",
            "issubset",
            "issuperset",
            "symmetric_difference",
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
    **{name: _plain(set, name) for name in ("clear", "discard", "remove")},
    "add": _adding,
    "pop": _pop_member,
}


# -- the rest ---------------------------------------------------------------------------------------------------------


def _of_file(name: str) -> Method:
    function = getattr(TextFile, name)

    def method(machine: Machine, frame: Frame, owner: TextFile, arguments: Arguments, named: Named) -> Any:
        return function(owner, *arguments, **named)

    return method


def _close(machine: Machine, frame: Frame, owner: TextFile, arguments: Arguments, named: Named) -> None:
    return None


METHODS: dict[type, Table] = {
    str: _TEXT_METHODS,
    list: _LIST_METHODS,
    tuple: _TUPLE_METHODS,
    dict: _DICT_METHODS,
    ConfigDict: _DICT_METHODS,
    InheritedDict: _INHERITED_METHODS,
    set: _SET_METHODS,
    frozenset: _FROZEN_METHODS,
    int: {"bit_length": _plain(int, "bit_length")},
    float: {"is_integer": _plain(float, "is_integer")},
    TextFile: {**{name: _of_file(name) for name in ("read", "readline", "readlines")}, "close": _close},
}


class BoundMethod:
    """A method taken from a value and not called yet: ``add = names.append``."""

    __slots__ = ("_method", "_owner", "name")

    def __init__(self, owner: Any, name: str, method: Method) -> None:
        self._owner = owner
        self._method = method
        self.name = name

    def invoke(self, machine: Machine, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Call it."""
        return self._method(machine, frame, self._owner, arguments, named)
