"""What is made once and kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

MOST_KEPT = 4096
"""Values that are kept; then all of them are made anew."""

_T = TypeVar("_T")


def kept(memo: dict[Any, _T], key: Any, make: Callable[[Any], _T]) -> _T:
    """Return the value of a key, made where it is new."""
    try:
        return memo[key]
    except KeyError:
        pass
    if len(memo) >= MOST_KEPT:
        memo.clear()
    value = memo[key] = make(key)
    return value
