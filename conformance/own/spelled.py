"""Goldens as text: values that keep every bit and every type apart, one line for each fact."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from proctor.ir import Failure
from proctor.scoring.columns import ABSENT

_WIDTH = 28
"""Characters of a name before its value, so that values of most lines stand below one another."""


def spelled(value: Any) -> str:  # noqa: PLR0911, C901 - one for each kind of value
    """Return a value in one line: a float in the shortest digits that give it back, a text in quotes."""
    if value is ABSENT:
        return "-"
    if isinstance(value, Failure):
        return f"!{value.kind}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool | int):
        return repr(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {spelled(each)}" for name, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(spelled, value)) + ")"
    if isinstance(value, set | frozenset):
        return spelled(sorted(value))
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(spelled, value)) + "]"
    if callable(item := getattr(value, "item", None)):  # a number of NumPy's
        return spelled(item())
    return repr(value)


def column(values: Iterable[Any]) -> str:
    """Return values side by side; one that stands several times in a row, once, with how often."""
    runs = ((text, sum(1 for _ in same)) for text, same in groupby(map(spelled, values)))
    return "  ".join(text if count == 1 else f"{text} x{count}" for text, count in runs)


def named(name: str, text: str) -> str:
    """Return a line of a name and a value."""
    return f"  {name:<{_WIDTH}} {text}"


def section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a title and its lines; nothing where there are none."""
    for place, line in enumerate(lines):
        if not place:
            yield title
        yield line
