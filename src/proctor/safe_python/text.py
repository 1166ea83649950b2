"""Turning values into text: ``str``, ``repr``, f-strings, ``str.format`` and ``%``.

The same text as Python's, made within a budget. A field of ``str.format`` may be indexed but never asks for an
attribute: that is how format strings break out of sandboxes.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, KeysView, Mapping, Sequence, ValuesView
from functools import lru_cache
from string import Formatter
from typing import Any

from proctor.safe_python.budget import MAX_WIDTH, SCALARS, Budget, ExhaustedError, RefusalError
from proctor.safe_python.values import Reference

_DIGITS = re.compile(r"\d+")
_SPECIFIER = re.compile(r"%(?:\([^)]*\))?[#0\- +]*(\*|\d+)?(?:\.(\*|\d+))?")
_TEXT_OF_NUMBER = 400
"""Characters that a number may take at most without width and precision (``'%f' % 1e308``)."""

CONTAINERS = (list, tuple, set, frozenset, dict, KeysView, ItemsView, ValuesView)
PRINTABLE = (*CONTAINERS, range, slice, Exception)
_PRINTABLE_MODULES = frozenset({"datetime", "decimal", "fractions", "numpy", "pathlib", "uuid", "zoneinfo"})
"""Modules whose values, found in a row, have a text that shows nothing but themselves."""


def text_of(value: Any, budget: Budget) -> str:
    """Return ``str(value)``; a class that the config imports gives its short name, as mmengine does."""
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is Reference:
        return str(value.short)
    if kind not in SCALARS:
        check_printable(value, budget)
    made = str(value)
    budget.hold_text(len(made))
    return made


def repr_of(value: Any, budget: Budget) -> str:
    """Return ``repr(value)``."""
    if value.__class__ is Reference:
        return str(value.short)
    if value.__class__ is str:
        budget.hold_text(4 * len(value))
    elif value.__class__ not in SCALARS:
        check_printable(value, budget)
    made = repr(value)
    budget.hold_text(len(made))
    return made


_SHORT_SPEC = 5
"""Characters from which on a format may name a width that is too wide."""


def format_value(value: Any, conversion: str | None, spec: str, budget: Budget) -> str:
    """Return ``format(value, spec)`` after ``!s``, ``!r`` or ``!a``."""
    if conversion == "s":
        value = text_of(value, budget)
    elif conversion in ("r", "a"):
        value = repr_of(value, budget)
        if conversion == "a":
            value = value.encode("ascii", "backslashreplace").decode()
    if not spec:
        return text_of(value, budget)
    if len(spec) >= _SHORT_SPEC:
        _check_widths(_DIGITS.findall(spec))
    if value.__class__ is str:
        budget.hold_text(len(value) + MAX_WIDTH)
    made: str = format(value, spec)
    budget.hold_text(len(made))
    return made


def format_text(template: str, arguments: Sequence[Any], named: Mapping[str, Any], budget: Budget) -> str:
    """Return ``template.format(*arguments, **named)``."""
    return _BoundedFormatter(budget).vformat(template, arguments, named)


def percent(template: str, values: Any, budget: Budget) -> str:
    """Return ``template % values``."""
    widths = _widths(template) if len(template) < _MAX_KEPT else _widths.__wrapped__(template)
    given = values if isinstance(values, tuple) else values.values() if isinstance(values, dict) else (values,)
    largest = _largest_text(values, budget) if values.__class__ is not tuple and isinstance(values, dict) else 0
    for value in given:
        if value.__class__ is str:
            largest = max(largest, 4 * len(value))
        elif value.__class__ not in SCALARS:
            largest = max(largest, _largest_text(value, budget))
    budget.hold_text(len(template) + widths + template.count("%") * largest)
    made: str = template % values
    return made


_MAX_KEPT = 1_000
"""Characters of templates whose widths are kept: those of rows' expressions come again for each row."""


@lru_cache(maxsize=256)
def _widths(template: str) -> int:
    """Return what the widths and precisions of a template may add to its text."""
    widths = 0
    for width, precision in _SPECIFIER.findall(template):
        if "*" in (width, precision):
            raise ExhaustedError("takes the width of a '%' format from a value")
        widths += _check_widths([number for number in (width, precision) if number]) + _TEXT_OF_NUMBER
    return widths


def _largest_text(value: Any, budget: Budget) -> int:
    kind = value.__class__
    if kind is str:
        return 4 * len(value)
    if kind in SCALARS:
        return 0
    check_printable(value, budget)
    return len(repr(value))


class _BoundedFormatter(Formatter):
    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._made = 0

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        first = re.split(r"[.\[]", field_name, maxsplit=1)[0]
        if "." in re.sub(r"\[[^\]]*\]", "", field_name[len(first) :]):
            raise RefusalError(f"asks for an attribute in a format field, '{{{field_name}}}'")
        return super().get_field(field_name, args, kwargs)

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return value if conversion is None else format_value(value, known(conversion), "", self._budget)

    def format_field(self, value: Any, format_spec: str) -> str:
        made = format_value(value, None, format_spec, self._budget)
        self._made += len(made)
        self._budget.hold_text(self._made)
        return made


def known(conversion: str | None) -> str | None:
    """Return what stands behind ``!`` in a field; it is refused where Python knows no such conversion."""
    if conversion not in (None, "s", "r", "a"):
        raise ValueError(f"Unknown conversion specifier {conversion}")
    return conversion


def check_layout(layout: str) -> None:
    """Refuse a layout of a date with a wide field.

    Raises:
        ExhaustedError: It has one.
    """
    _check_widths(_DIGITS.findall(layout))


def _check_widths(numbers: Sequence[str]) -> int:
    total = 0
    for number in numbers:
        width = int(number[:9])
        if width > MAX_WIDTH:
            raise ExhaustedError(f"formats with a width of more than {MAX_WIDTH:,}")
        total += width
    return total


def check_printable(value: Any, budget: Budget) -> None:
    """Refuse what has no text of its own; measure the rest."""
    budget.hold(16 * budget.measure(value))
    waiting = [value]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each.__class__ in SCALARS or id(each) in seen:
            continue
        if not isinstance(each, PRINTABLE) and each.__class__.__module__ not in _PRINTABLE_MODULES:
            what = "a class" if isinstance(each, Reference) else f"a value of type {each.__class__.__name__}"
            raise RefusalError(f"turns {what} into text")
        seen.add(id(each))
        if isinstance(each, dict):
            waiting.extend((*each.keys(), *each.values()))
        elif isinstance(each, CONTAINERS):
            waiting.extend(each)
        elif isinstance(each, Exception):
            waiting.extend(each.args)
