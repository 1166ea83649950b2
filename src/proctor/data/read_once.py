"""Data that is read once for several exams: the runs of a sweep are of the same rows, and named in the same index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, Final, TypeVar

_T = TypeVar("_T")
_kept: Final = ContextVar[dict[Any, Any] | None]("proctor_kept_rows", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Keep what :func:`once` makes until the block ends."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def once(key: object, make: Callable[[], _T]) -> _T:
    """Return what is made, or within :func:`read_once` a shallow copy of what was; lists of rows are made anew.

    >>> with read_once():
    ...     once("letters", lambda: {"a"}) | once("letters", lambda: {"b"})
    {'a'}
    """
    kept = _kept.get()
    if kept is None:
        return make()
    found: _T = kept[key] if key in kept else make()
    if not isinstance(found, list):  # its rows would be the same objects for every exam
        kept[key] = found
    return copy(found)
