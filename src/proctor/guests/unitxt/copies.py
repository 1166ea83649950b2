"""``unitxt.utils``: copies of containers, with or without what is in them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any


def recursive_copy(obj: Any, internal_copy: Callable[[Any], Any] | None = None) -> Any:
    """Return a value with its dicts, lists and tuples copied, and ``internal_copy`` of what is in them."""
    if isinstance(obj, dict):
        return type(obj)({recursive_copy(key, internal_copy): recursive_copy(obj[key], internal_copy) for key in obj})
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*(recursive_copy(each, internal_copy) for each in obj))
    if isinstance(obj, (list, tuple)):
        return type(obj)(recursive_copy(each, internal_copy) for each in obj)
    return obj if internal_copy is None else internal_copy(obj)


def recursive_deep_copy(obj: Any) -> Any:
    """Return a value with all that is in its containers copied deeply."""
    return recursive_copy(obj, copy.deepcopy)


def recursive_shallow_copy(obj: Any) -> Any:
    """Return a value with all that is in its containers copied."""
    return recursive_copy(obj, copy.copy)


deep_copy = copy.deepcopy
shallow_copy = copy.copy
