"""Operators, indexing and copying, each measured before Python does it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from proctor.dialects.aisbench.interpreter_budget import MAX_BITS, SCALARS, Budget, ExhaustedError, RefusalError
from proctor.dialects.aisbench.interpreter_text import percent
from proctor.dialects.aisbench.values import ConfigDict, InheritedDict

SEQUENCES = (str, bytes, list, tuple)
_NUMBERS = frozenset({int, float, bool})

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}


def binary(kind: type[ast.operator], left: Any, right: Any, budget: Budget) -> Any:
    """Return ``left <operator> right``."""
    if left.__class__ in _NUMBERS and right.__class__ in _NUMBERS:
        _check_power(kind, left, right)
        return budget.check_number(_BINARY[kind](left, right))
    if kind is ast.Add:
        _hold_sum(left, right, budget)
    elif kind is ast.Mult:
        _hold_product(left, right, budget)
    elif kind is ast.Mod and isinstance(left, (str, bytes)):
        if isinstance(left, bytes):
            raise RefusalError("formats bytes with '%'")
        return percent(left, right, budget)
    elif kind is ast.BitOr and isinstance(left, dict) and isinstance(right, dict):
        return _united(left, right, budget)
    elif kind not in _BINARY:
        raise RefusalError("multiplies matrices with '@'")
    else:
        _hold_sum(left, right, budget)
    return _BINARY[kind](left, right)


def in_place(kind: type[ast.operator], left: Any, right: Any, budget: Budget) -> Any:
    """Return what ``left <operator>= right`` leaves in ``left``: lists, sets and dicts are changed, not replaced."""
    if isinstance(left, list) and kind is ast.Add:
        items = consume(right, budget)
        budget.hold_items(len(items))
        left.extend(items)
        return left
    if isinstance(left, list) and kind is ast.Mult and isinstance(right, int):
        _hold_product(left, right, budget)
        left *= right
        return left
    if isinstance(left, set) and isinstance(right, (set, frozenset)) and kind in _SET_UPDATES:
        budget.hold_items(2 * len(right))
        _SET_UPDATES[kind](left, right)
        return left
    if isinstance(left, dict) and kind is ast.BitOr:
        update(left, pairs_of(right, budget), budget)
        return left
    return binary(kind, left, right, budget)


_SET_UPDATES: dict[type[ast.operator], Callable[[set[Any], Any], None]] = {
    ast.BitOr: set.update,
    ast.BitAnd: set.intersection_update,
    ast.Sub: set.difference_update,
    ast.BitXor: set.symmetric_difference_update,
}


def compare(kind: type[ast.cmpop], left: Any, right: Any, budget: Budget) -> Any:
    """Return ``left <operator> right`` for one comparison."""
    if kind in (ast.Is, ast.IsNot):
        return _COMPARE[kind](left, right)
    if kind in (ast.In, ast.NotIn):
        return _contains(kind, left, right, budget)
    if left.__class__ not in SCALARS and right.__class__ not in SCALARS:
        budget.measure(left)
        budget.measure(right)
    elif left.__class__ is str:
        budget.spend(len(left) >> 8)
    return _COMPARE[kind](left, right)


def _contains(kind: type[ast.cmpop], left: Any, right: Any, budget: Budget) -> Any:
    if isinstance(right, str):
        budget.spend(len(right) >> 6)
    elif isinstance(right, (list, tuple)):
        budget.spend(len(right) >> 4)
        if left.__class__ not in SCALARS:
            budget.measure(left)
            budget.measure(right)
    elif isinstance(right, (dict, set, frozenset)):
        budget.measure(left)
    elif isinstance(right, range):
        if left.__class__ is not int:
            budget.spend(size(right))
    elif hasattr(right, "__next__"):
        found = any(left is item or compare(ast.Eq, left, item, budget) for item in Spending(right, budget))
        return found is (kind is ast.In)
    elif right.__class__ not in SCALARS:
        budget.measure(left, right)
    return _COMPARE[kind](left, right)


class Spending:
    """An iterator that takes a step for each item."""

    __slots__ = ("_budget", "_items")

    def __init__(self, items: Iterator[Any], budget: Budget) -> None:
        self._items = items
        self._budget = budget

    def __iter__(self) -> Spending:
        return self

    def __next__(self) -> Any:
        self._budget.spend(1)
        return next(self._items)


def size(value: Any) -> int:
    """Return the length of a sized value; ranges may be longer than ``len`` can say."""
    if isinstance(value, range):
        return max(0, (value.stop - value.start + value.step - (1 if value.step > 0 else -1)) // value.step)
    return len(value)


def iterate(value: Any, budget: Budget) -> Iterator[Any]:
    """Return an iterator; sets of texts come sorted, for their own order changes from process to process.

    Raises:
        TypeError: The value cannot be iterated.
    """
    if isinstance(value, (set, frozenset)):
        return iter(ordered(value, budget))
    return iter(value)


def ordered(values: set[Any] | frozenset[Any], budget: Budget) -> list[Any]:
    """Return the members of a set in an order that is the same in every process."""
    budget.hold_items(len(values))
    if all(each.__class__ in _NUMBERS for each in values):
        return list(values)
    budget.measure(values)
    return sorted(values, key=lambda each: (type(each).__name__, repr(each)))


def consume(value: Any, budget: Budget) -> list[Any]:
    """Return all items of an iterable as a list that nobody else holds.

    Raises:
        TypeError: The value cannot be iterated.
        ExhaustedError: It has too many items.
    """
    if isinstance(value, (list, tuple, dict, str, range, bytes)):
        budget.hold_items(size(value))
        budget.spend(size(value) >> 2)
        return list(value)
    if isinstance(value, (set, frozenset)):
        return ordered(value, budget)
    items = []
    for item in iter(value):
        budget.steps -= 1
        if budget.steps < 0:
            budget.refill()
        items.append(item)
    budget.hold_items(len(items))
    return items


def pairs_of(value: Any, budget: Budget) -> list[tuple[Any, Any]]:
    """Return the key and value pairs that ``dict(value)`` takes."""
    if isinstance(value, dict):
        budget.hold_items(2 * len(value))
        return list(value.items())
    pairs = []
    for position, item in enumerate(consume(value, budget)):
        pair = consume(item, budget)
        if len(pair) != len(("key", "value")):
            raise ValueError(f"dictionary update sequence element #{position} has length {len(pair)}; 2 is required")
        pairs.append((pair[0], pair[1]))
    return pairs


def update(target: dict[Any, Any], pairs: list[tuple[Any, Any]], budget: Budget) -> None:
    """Do ``target.update(pairs)``; dictionaries of base files merge instead, see :func:`merge`."""
    if isinstance(target, InheritedDict):
        merge(target, dict(pairs), budget)
        return
    for key, value in pairs:
        put(target, key, value, budget)


def put(target: dict[Any, Any], key: Any, value: Any, budget: Budget) -> None:
    """Do ``target[key] = value``."""
    if key.__class__ not in SCALARS:
        budget.measure(key)
    if isinstance(target, InheritedDict):
        value = inherited(value, budget)
    budget.steps -= 1
    if budget.steps < 0:
        budget.refill()
    budget.hold(64)
    target[key] = value


def fill_set(items: list[Any], budget: Budget) -> set[Any]:
    """Return ``set(items)``, made item by item, so that colliding items cannot take long unseen."""
    made = set()
    for item in items:
        if item.__class__ not in SCALARS:
            budget.measure(item)
        budget.spend(1)
        made.add(item)
    budget.hold(64 * len(made))
    return made


def inherited(value: Any, budget: Budget) -> Any:
    """Return a value as a dictionary of a base file stores it: dictionaries become such ones too, lists are copied."""
    if isinstance(value, dict):
        return value if isinstance(value, InheritedDict) else _inherited_dict(value, budget, inherited)
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, budget, inherited)
    return value


def imported(value: Any, budget: Budget) -> Any:
    """Return a copy of what a base file holds: as after mmengine has read that file, nothing in it shared."""
    if isinstance(value, dict):
        return _inherited_dict(value, budget, imported)
    if isinstance(value, (list, tuple)):
        return _rebuilt(value, budget, imported)
    return value


def _inherited_dict(value: dict[str, Any], budget: Budget, convert: Callable[[Any, Budget], Any]) -> InheritedDict:
    budget.spend(len(value) + 1)
    budget.hold(64 * (len(value) + 1))
    made = InheritedDict(location=getattr(value, "location", None))
    for key, each in value.items():
        made[key] = each if each.__class__ in SCALARS else convert(each, budget)
    return made


def _rebuilt(value: Any, budget: Budget, convert: Callable[[Any, Budget], Any]) -> Any:
    budget.spend(len(value) + 1)
    budget.hold_items(len(value))
    return type(value)([each if each.__class__ in SCALARS else convert(each, budget) for each in value])


def merge(target: InheritedDict, other: Mapping[str, Any], budget: Budget) -> None:
    """Update a dictionary of a base file: where both sides have a dictionary, it is updated in turn."""
    for key, value in other.items():
        known = target.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            budget.spend(1)
            if isinstance(known, InheritedDict):
                merge(known, value, budget)
            else:
                update(known, pairs_of(value, budget), budget)
        else:
            put(target, key, value, budget)


def deep_copy(value: Any, budget: Budget, done: dict[int, Any] | None = None) -> Any:
    """Return ``copy.deepcopy(value)``; what the value holds twice, the copy holds twice too."""
    if value.__class__ in SCALARS:
        return value
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)]
    made: Any
    if isinstance(value, dict):
        budget.hold(64 * (len(value) + 1))
        made = done[id(value)] = value.copy() if isinstance(value, ConfigDict) else {}
        made.clear()
        for key, each in value.items():
            budget.spend(1)
            made[deep_copy(key, budget, done)] = deep_copy(each, budget, done)
    elif isinstance(value, list):
        budget.hold_items(len(value))
        made = done[id(value)] = []
        for each in value:
            budget.spend(1)
            made.append(deep_copy(each, budget, done))
    elif isinstance(value, (tuple, set, frozenset)):
        budget.hold_items(len(value))
        budget.spend(len(value))
        made = type(value)([deep_copy(each, budget, done) for each in value])
        done[id(value)] = made
    else:
        made = value
    return made


def item_of(value: Any, key: Any, budget: Budget) -> Any:
    """Return ``value[key]``."""
    if isinstance(key, slice):
        if isinstance(value, SEQUENCES):
            budget.hold_items(len(value)) if isinstance(value, (list, tuple)) else budget.hold_text(len(value))
    elif key.__class__ not in SCALARS:
        budget.measure(key)
    return value[key]


def set_item(target: Any, key: Any, value: Any, budget: Budget) -> None:
    """Do ``target[key] = value``."""
    if isinstance(target, dict):
        put(target, key, value, budget)
    elif isinstance(target, list) and isinstance(key, slice):
        items = consume(value, budget)
        budget.hold_items(len(items) + len(target))
        target[key] = items
    elif isinstance(target, list):
        target[key] = value
    else:
        raise TypeError(f"'{type(target).__name__}' object does not support item assignment")


def delete_item(target: Any, key: Any, budget: Budget) -> None:
    """Do ``del target[key]``."""
    if isinstance(target, list):
        budget.spend(len(target) >> 4)
    elif not isinstance(target, dict):
        raise TypeError(f"'{type(target).__name__}' object doesn't support item deletion")
    elif key.__class__ not in SCALARS:
        budget.measure(key)
    del target[key]


def _united(left: dict[Any, Any], right: dict[Any, Any], budget: Budget) -> dict[Any, Any]:
    budget.hold(64 * (len(left) + len(right)))
    budget.spend(len(left) + len(right))
    inherits = isinstance(left, InheritedDict) or isinstance(right, InheritedDict)
    made = InheritedDict() if inherits else ConfigDict()
    update(made, pairs_of(left, budget), budget)
    update(made, pairs_of(right, budget), budget)
    return made


def _hold_sum(left: Any, right: Any, budget: Budget) -> None:
    if isinstance(left, str) and isinstance(right, str):
        budget.hold_text(len(left) + len(right))
    elif hasattr(left, "__len__") and hasattr(right, "__len__"):
        budget.hold_items(2 * (size(left) + size(right)))
        if not isinstance(left, (list, tuple)):
            budget.spend(size(left) + size(right))


def _hold_product(left: Any, right: Any, budget: Budget) -> None:
    sequence, count = (left, right) if isinstance(left, SEQUENCES) else (right, left)
    if not isinstance(sequence, SEQUENCES) or not isinstance(count, int):
        return
    length = len(sequence) * max(0, count)
    if isinstance(sequence, (str, bytes)):
        budget.hold_text(length)
    else:
        budget.hold_items(length)


def _check_power(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Refuse powers, shifts and products whose result would be a huge number."""
    if left.__class__ is float or right.__class__ is float:
        return
    if kind is ast.Pow and right > 0 and left.bit_length() > 1:
        bits = left.bit_length() * right
    elif kind is ast.LShift and left:
        bits = left.bit_length() + max(right, 0)
    elif kind is ast.Mult:
        bits = left.bit_length() + right.bit_length()
    else:
        return
    if bits > 2 * MAX_BITS:
        raise ExhaustedError(f"makes a whole number of more than {MAX_BITS:,} bits")
