"""Values of a config as JSON-like data, for specifications and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.dialects.aisbench.values import Reference


def described(value: Any) -> Any:
    """Return a value of a config as JSON-like data: names for what is imported."""
    if isinstance(value, Reference):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): described(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if value is None or isinstance(value, str | int | float | bool):
        return value
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)
