"""Calling values: only what is on the allow-list, and what strangers' code itself defines, has a way to be called."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from proctor.safe_python.budget import RefusalError
from proctor.safe_python.scope import Frame
from proctor.safe_python.values import Reference

Arguments = list[Any]
Named = dict[str, Any]

Method = Callable[[Frame, Any, Arguments, Named], Any]
"""A method: it takes a frame (whose budget it draws from), its owner, and what it is called with."""

Table = dict[str, Method]

ABSENT: Any = object()
"""Stands for an argument that was not given."""


class Invocable:
    """Base of functions, types and methods that may be called; no abstract class, for that would slow each call."""

    __slots__ = ()

    def invoke(self, frame: Frame, arguments: Arguments, named: Named) -> Any:
        """Call it, within the budget of a frame."""
        raise NotImplementedError


def call(frame: Frame, function: Any, arguments: Arguments, named: Named | None = None) -> Any:
    """Call a value.

    Raises:
        RefusalError: It is something imported, whose code would run.
        TypeError: It cannot be called.
    """
    if isinstance(function, Invocable):
        return function.invoke(frame, arguments, named or {})
    if isinstance(function, Reference):
        raise RefusalError(f"calls '{function.name}', which it imports")
    raise TypeError(f"'{type(function).__name__}' object is not callable")


def taken(name: str, arguments: Arguments, named: Named, parameters: str, required: int = 1) -> list[Any]:
    """Return the arguments of a call in the order of ``parameters``; :data:`ABSENT` for those not given.

    Raises:
        TypeError: Too many, too few, unknown or doubled arguments.
    """
    expected = _parts(parameters)
    absent = len(expected) - len(arguments)
    if not named and absent >= 0 and len(arguments) >= required:
        return [*arguments, *(ABSENT,) * absent]
    values = dict(zip(expected, arguments, strict=False))
    if len(arguments) > len(expected) or named.keys() & values.keys() or not named.keys() <= set(expected):
        raise TypeError(f"{name}() takes {', '.join(expected)}")
    values.update(named)
    for parameter in expected[:required]:
        if parameter not in values:
            raise TypeError(f"{name}() missing required argument '{parameter}'")
    return [values.get(parameter, ABSENT) for parameter in expected]


@lru_cache(maxsize=256)
def _parts(parameters: str) -> tuple[str, ...]:
    return tuple(parameters.split())


def exactly(name: str, count: int, arguments: Arguments, named: Named) -> Arguments:
    """Return the arguments where there are so many, and no named ones."""
    if named or len(arguments) != count:
        raise TypeError(f"{name}() takes {count} argument{'s' * (count > 1)}")
    return arguments
