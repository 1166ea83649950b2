"""Operators, indexing and copying, each measured before Python does it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from proctor.safe_python.budget import MAX_BITS, SCALARS, Budget, ExhaustedError, RefusalError
from proctor.safe_python.containers import Stream, consume, pairs_of, put, size, update
from proctor.safe_python.text import percent
from proctor.safe_python.values import ConfigDict, InheritedDict

SEQUENCES = (str, bytes, list, tuple)
_NUMBERS = frozenset({int, float, bool})

_SHORT = 256
"""Characters that are searched or compared in no time."""

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}

Operation = Callable[[Any, Any, Budget], Any]


def add(left: Any, right: Any, budget: Budget) -> Any:
    """Return ``left + right``."""
    if left.__class__ is str and right.__class__ is str:
        budget.hold_text(len(left) + len(right))
    elif left.__class__ in _NUMBERS and right.__class__ in _NUMBERS:
        return budget.check_number(left + right)  # type: ignore[operator]
    else:
        _hold_sum(left, right, budget)
    return left + right


def _multiply(left: Any, right: Any, budget: Budget) -> Any:
    if left.__class__ in _NUMBERS and right.__class__ in _NUMBERS:
        if left.__class__ is int and right.__class__ is int:
            _check_bits(left.bit_length() + right.bit_length())
        return budget.check_number(left * right)  # type: ignore[operator]
    _hold_product(left, right, budget)
    return left * right


def _power(left: Any, right: Any, budget: Budget) -> Any:
    if left.__class__ is int and right.__class__ is int and right > 0 and left.bit_length() > 1:
        _check_bits(left.bit_length() * right)
    return budget.check_number(left**right)


def _shift_left(left: Any, right: Any, budget: Budget) -> Any:
    if isinstance(left, int) and isinstance(right, int) and left:
        _check_bits(left.bit_length() + max(right, 0))
    return budget.check_number(left << right)


def _check_bits(bits: int) -> None:
    """Refuse a power, shift or product whose result would be a huge number."""
    if bits > 2 * MAX_BITS:
        raise ExhaustedError(f"makes a whole number of more than {MAX_BITS:,} bits")


def _modulo(left: Any, right: Any, budget: Budget) -> Any:
    if isinstance(left, str):
        return percent(left, right, budget)
    if isinstance(left, bytes):
        raise RefusalError("formats bytes with '%'")
    return left % right


def _unite(left: Any, right: Any, budget: Budget) -> Any:
    if isinstance(left, dict) and isinstance(right, dict):
        return _united(left, right, budget)
    return _measured(operator.or_)(left, right, budget)


def _measured(function: Callable[[Any, Any], Any]) -> Operation:
    """An operation whose result is no larger than both sides together."""

    def operation(left: Any, right: Any, budget: Budget) -> Any:
        if left.__class__ not in _NUMBERS or right.__class__ not in _NUMBERS:
            _hold_sum(left, right, budget)
        return function(left, right)

    return operation


BINARY: dict[type[ast.operator], Operation] = {
    ast.Add: add,
    ast.Sub: _measured(operator.sub),
    ast.Mult: _multiply,
    ast.Div: _measured(operator.truediv),
    ast.FloorDiv: _measured(operator.floordiv),
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: _measured(operator.rshift),
    ast.BitOr: _unite,
    ast.BitXor: _measured(operator.xor),
    ast.BitAnd: _measured(operator.and_),
}
"""The operators that there are; ``@`` is not one of them."""


def binary(kind: type[ast.operator], left: Any, right: Any, budget: Budget) -> Any:
    """Return ``left <operator> right``."""
    operation = BINARY.get(kind)
    if operation is None:
        raise RefusalError("multiplies matrices with '@'")
    return operation(left, right, budget)


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
    return COMPARE[kind](left, right, budget)


def _comparison(function: Callable[[Any, Any], Any]) -> Operation:
    def operation(left: Any, right: Any, budget: Budget) -> Any:
        if left.__class__ not in SCALARS and right.__class__ not in SCALARS:
            budget.measure(left)
            budget.measure(right)
        elif left.__class__ is str and len(left) > _SHORT:
            budget.spend(len(left) >> 8)
        return function(left, right)

    return operation


def _contains(left: Any, right: Any, budget: Budget) -> bool:
    if right.__class__ is str:
        if len(right) > _SHORT:
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
        equal = COMPARE[ast.Eq]
        return any(left is item or equal(left, item, budget) for item in Stream(right, budget))
    elif right.__class__ not in SCALARS:
        budget.measure(left, right)
    return left in right


COMPARE: dict[type[ast.cmpop], Operation] = {
    ast.Eq: _comparison(operator.eq),
    ast.NotEq: _comparison(operator.ne),
    ast.Lt: _comparison(operator.lt),
    ast.LtE: _comparison(operator.le),
    ast.Gt: _comparison(operator.gt),
    ast.GtE: _comparison(operator.ge),
    ast.Is: lambda left, right, budget: left is right,
    ast.IsNot: lambda left, right, budget: left is not right,
    ast.In: _contains,
    ast.NotIn: lambda left, right, budget: not _contains(left, right, budget),
}


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
    kinds = (kind for kind in (InheritedDict, ConfigDict, dict) if isinstance(left, kind) or isinstance(right, kind))
    made: dict[Any, Any] = next(kinds)()
    update(made, pairs_of(left, budget), budget)
    update(made, pairs_of(right, budget), budget)
    return made


def _hold_sum(left: Any, right: Any, budget: Budget) -> None:
    if left.__class__ is str and right.__class__ is str:
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
