"""Artifact classes by the names that Unitxt has for them, in whatever module code looks for them."""

from __future__ import annotations

from typing import Any

from proctor.artifacts.names import snake_case
from proctor.artifacts.registry import builtin_types, registry


def find(module: str, name: str) -> Any:
    """Return the artifact class of a name; ``None`` where there is none."""
    del module
    if snake_case(name) not in registry:
        return None
    found = registry.get(snake_case(name))
    return found if found.__name__ == name else None


def names(module: str) -> list[str]:
    """Return the names of all built-in artifact classes."""
    del module
    return [place.rpartition(":")[2] for place in builtin_types().values()]
