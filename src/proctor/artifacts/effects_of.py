"""Collects the effects of an artifact and its parts: files, connections, processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from proctor.artifacts.artifact import Artifact
from proctor.effects import Effect

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What most fields hold, and no artifact is in."""


def parts_of(value: object) -> Iterator[Artifact]:
    """Yield the artifacts in a value: itself, and whatever its fields hold, each once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if type(each) in _PLAIN:
            continue
        if isinstance(each, Artifact):
            if id(each) in seen:
                continue
            seen.add(id(each))
            yield each
            waiting.extend(getattr(each, name) for name in reversed(type(each).model_fields))
        elif isinstance(each, Mapping):
            waiting.extend(reversed(list(each.values())))
        elif isinstance(each, (list, tuple)):
            waiting.extend(reversed(each))


def effects_of(artifact: Artifact) -> list[Effect]:
    """Return the effects of an artifact and its parts, where strangers wrote them; each effect once.

    What a program builds is the user's own, and needs nobody's permission.
    """
    found = (effect for part in parts_of(artifact) if part.author is not None for effect in part.effects())
    return list(dict.fromkeys(found))
