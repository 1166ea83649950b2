"""Classes that say of themselves what another object says: it answers, elsewhere or under another name."""

from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

C = TypeVar("C")


def as_another(field: str, *names: str) -> Callable[[type[C]], type[C]]:
    """Let a class have properties and methods, by name, of the object in a field."""

    def of(kind: type[C]) -> type[C]:
        for name in names:
            setattr(kind, name, property(attrgetter(f"{field}.{name}")))
        return kind

    return of
