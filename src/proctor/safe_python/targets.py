"""Giving names their values: targets of assignments, loops and comprehensions, and named arguments of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.safe_python import containers
from proctor.safe_python.scope import Frame

Bind = Callable[[Frame, Any], None]
"""What a target becomes: it gives a value to names of a frame."""


def unpacking(targets: Sequence[tuple[bool, Bind]]) -> Bind:
    """Return what gives several targets their values; a starred one takes what is left."""
    count = len(targets)
    star = next((position for position, (starred, _) in enumerate(targets) if starred), None)

    def bind(frame: Frame, value: Any) -> None:
        if star is None and value.__class__ is tuple and len(value) == count:
            for (_, target), item in zip(targets, value, strict=True):
                target(frame, item)
            return
        if value.__class__ in _NOT_ITERABLE:
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object")
        items = containers.iterate(value, frame.budget)
        if star is None:
            taken = [item for _, item in zip(range(count + 1), items, strict=False)]
            if len(taken) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
            if len(taken) < count:
                raise ValueError(f"not enough values to unpack (expected {count}, got {len(taken)})")
        else:
            taken = _with_rest(containers.consume(items, frame.budget), star, count - star - 1)
        for (_, target), item in zip(targets, taken, strict=True):
            target(frame, item)

    return bind


_NOT_ITERABLE = frozenset({int, float, bool, type(None), complex, type(Ellipsis)})


def _with_rest(every: list[Any], before: int, after: int) -> list[Any]:
    if len(every) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(every)})")
    rest = len(every) - after
    return [*every[:before], every[before:rest], *every[rest:]]


def naming(parts: Sequence[tuple[str | None, Callable[[Frame], Any]]]) -> Callable[[Frame], dict[str, Any]]:
    """Return the code of named arguments; those without a name are dictionaries spread out with ``**``."""

    def code(frame: Frame) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for name, part in parts:
            value = part(frame)
            for key, each in [(name, value)] if name is not None else _unpacked(value, frame):
                if key in named:
                    raise TypeError(f"got multiple values for keyword argument '{key}'")
                named[key] = each
        return named

    return code


def _unpacked(value: Any, frame: Frame) -> list[tuple[Any, Any]]:
    if not isinstance(value, dict):
        raise TypeError(f"argument after ** must be a mapping, not {type(value).__name__}")
    pairs = containers.pairs_of(value, frame.budget)
    if not all(isinstance(key, str) for key, _ in pairs):
        raise TypeError("keywords must be strings")
    return pairs
