"""Operators, indexing and copying, each measured before Python does it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from proctor.dialects.aisbench.interpreter.budget import MAX_BITS, SCALARS, Budget, ExhaustedError, RefusalError
from proctor.dialects.aisbench.interpreter.containers import Stream, consume, pairs_of, put, size, update
from proctor.dialects.aisbench.interpreter.text import percent
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
        found = any(left is item or compare(ast.Eq, left, item, budget) for item in Stream(right, budget))
        return found is (kind is ast.In)
    elif right.__class__ not in SCALARS:
        budget.measure(left, right)
    return _COMPARE[kind](left, right)


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
