"""Stand-ins, in the process of the tests, for what stays in the process of the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class Asker(Protocol):
    """Asks the other process."""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return its answer."""
        ...

    def value(self, **request: Any) -> Any:
        """Return the value that it answers with."""
        ...

    def called(self, number: int, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call something that stayed on the other side, and return its result."""
        ...

    def form(self, value: Any) -> Any:
        """Return the form of a value."""
        ...

    def read(self, form: Any) -> Any:
        """Return the value of a form."""
        ...


class Remote:
    """Something of the program's that stays in its process. It equals only itself."""

    __slots__ = ("_asker", "_kind", "_number")

    def __init__(self, asker: Asker, number: int, kind: str) -> None:
        for name, value in (("_asker", asker), ("_number", number), ("_kind", kind)):
            object.__setattr__(self, name, value)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it, where it is."""
        return _asker_of(self).called(number_of(self), arguments, named)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of it."""
        if name.startswith("__") and name != "__name__":
            raise AttributeError(name)
        return _asker_of(self).value(do="attribute", object=number_of(self), name=name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute of it."""
        asker = _asker_of(self)
        asker.ask(do="set", object=number_of(self), name=name, value=asker.form(value))

    def __iter__(self) -> Iterator[Any]:
        """Yield what it yields."""
        asker = _asker_of(self)
        iterator = asker.value(do="iterate", object=number_of(self))
        while "end" not in (answer := asker.ask(do="next", object=number_of(iterator))):
            yield asker.read(answer.get("value"))

    def __next__(self) -> Any:
        """Return what comes next, where it is an iterator."""
        asker = _asker_of(self)
        answer = asker.ask(do="next", object=number_of(self))
        if "end" in answer:
            raise StopIteration
        return asker.read(answer.get("value"))

    def __getitem__(self, key: Any) -> Any:
        """Return an item of it."""
        asker = _asker_of(self)
        return asker.value(do="item", object=number_of(self), key=asker.form(key))

    def __len__(self) -> int:
        """Return how long it says it is."""
        found = _asker_of(self).value(do="length", object=number_of(self))
        return found if type(found) is int else -1

    def __bool__(self) -> bool:
        """Return whether it counts as true."""
        return _asker_of(self).value(do="truth", object=number_of(self)) is True

    def __str__(self) -> str:
        """Return its text."""
        return str(_asker_of(self).value(do="text", object=number_of(self), exact=False))

    def __repr__(self) -> str:
        """Return its representation."""
        return str(_asker_of(self).value(do="text", object=number_of(self), exact=True))

    def __eq__(self, other: object) -> bool:
        """Return whether both are the same object; it is not asked."""
        return type(other) is Remote and number_of(self) == number_of(other)

    def __hash__(self) -> int:
        """Return a number of its own."""
        return hash(("Remote", number_of(self)))


def number_of(remote: Remote) -> int:
    """Return the number under which the program's process knows something."""
    return int(object.__getattribute__(remote, "_number"))


def _asker_of(remote: Remote) -> Asker:
    asker: Asker = object.__getattribute__(remote, "_asker")
    return asker
