"""Classes that ours are instances of without deriving from them, as programs of Unitxt ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.artifacts.artifact_class import ArtifactMeta

_counted: dict[type, Callable[[type], bool]] = {}


class Counting(ArtifactMeta):
    """The class of classes that count others in (:func:`counts_in`)."""

    def __instancecheck__(self, value: Any) -> bool:
        """Return whether a value is of the class, or of one that it counts in."""
        return self.__subclasscheck__(type(value))

    def __subclasscheck__(self, other: type) -> bool:
        """Return whether a class derives from this one, or is one that it counts in."""
        return self in other.__mro__ or (self in _counted and _counted[self](other))


def counts_in(cls: type, others: Callable[[type], bool]) -> None:
    """Let a class count others in: for it alone, not for what derives from it."""
    _counted[cls] = others
