"""Compares a program's output with what is expected, by type or as contests count it."""

from __future__ import annotations

import json
import math
from typing import Any

_RELATIVE, _ABSOLUTE = 1e-5, 1e-8
"""Tolerances of ``numpy.allclose``, with which contests compare numbers."""


def same_value(actual: Any, expected: Any) -> bool:
    """Whether two values are of one type and equal all the way down, so that no ``__eq__`` of a program's decides."""
    if type(actual) is not type(expected):
        return False
    if isinstance(actual, (list, tuple)):
        return len(actual) == len(expected) and all(map(same_value, actual, expected))
    if isinstance(actual, dict):
        return _paired(list(actual.items()), list(expected.items()))
    if isinstance(actual, (set, frozenset)):
        return _paired(list(actual), list(expected))
    try:
        equal = actual == expected
    except Exception:  # noqa: BLE001 - a value that cannot be compared is not the same
        return False
    return type(equal) is bool and equal


def _paired(actual: list[Any], expected: list[Any]) -> bool:
    """Whether each item has a partner of its own."""
    if len(actual) != len(expected):
        return False
    for item in actual:
        place = next((i for i, other in enumerate(expected) if same_value(item, other)), None)
        if place is None:
            return False
        del expected[place]
    return True


def is_same_output(printed: str, expected: str) -> bool:
    """Whether a program printed what a contest expects (LiveCodeBench, after APPS).

    Equal but for space around, or line by line but for space around lines and empty lines, or numbers that are close.
    """
    lines = printed.splitlines()
    if printed.strip() == expected.strip() or "\n".join(each.strip() for each in lines).strip() == expected.strip():
        return True
    wanted = [each.strip() for each in expected.split("\n") if each]
    found = [each for each in lines if each]
    if wanted in (lines, found):
        return True
    try:
        numbers, wanted_numbers = list(map(float, found)), list(map(float, wanted))
    except ValueError:
        return False
    if all(each.isdigit() and other.isdigit() for each, other in zip(found, wanted, strict=False)):
        return False  # whole numbers are not close to others
    return len(numbers) == len(wanted_numbers) and all(map(_is_close, numbers, wanted_numbers))


def _is_close(actual: float, expected: float) -> bool:
    if not (math.isfinite(actual) and math.isfinite(expected)):
        return actual == expected
    return abs(actual - expected) <= _ABSOLUTE + _RELATIVE * abs(expected)


def is_same_answer(value: Any, expected: Any) -> bool:
    """Whether a function returned what a contest expects, whose values are JSON (LiveCodeBench, after APPS)."""
    found = list(value) if type(value) is tuple else value
    if same_value(found, expected):
        return True
    if isinstance(expected, list) and expected:
        if same_value(found, expected[0]):
            return True
        if isinstance(found, list) and found and isinstance(found[0], tuple):
            return same_value([list(each) if isinstance(each, tuple) else each for each in found], expected[0])
    return False


def contest_arguments(text: str) -> list[Any]:
    """Return the arguments of a call in a contest: a line of JSON for each; keys of a single dictionary are numbers."""
    arguments = [json.loads(line) for line in text.split("\n")]
    return _numbered(arguments) if isinstance(arguments[0], dict) else arguments


def contest_answer(text: str) -> Any:
    """Return the expected value of a contest, of a line of JSON."""
    return call_answer(json.loads(text))


def call_arguments(values: Any) -> list[Any]:
    """Return the arguments of a call that stand as values (APPS)."""
    return _numbered(values) if values and isinstance(values[0], dict) else list(values)


def call_answer(value: Any) -> Any:
    """Return the expected value that stands as a value (APPS)."""
    if isinstance(value, dict):
        return _numbered([value])
    return _numbered(value) if isinstance(value, list) and value and isinstance(value[0], dict) else value


def as_lines(text: Any) -> str:
    """Return an input or output, which may be a list of lines."""
    return "\n".join(map(str, text)) if isinstance(text, list) else str(text)


def _numbered(values: list[Any]) -> list[Any]:
    try:
        return [{int(key): value for key, value in values[0].items()}]
    except ValueError:
        return values
