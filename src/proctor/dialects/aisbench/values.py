"""What a config is made of: dictionaries that know where they were written, and names that nobody imported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import Location


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that a config imports and that reading it does not import.

    Two references are equal where their names are; where they were written plays no part.

    Attributes:
        name: The whole dotted name, ``opencompass.datasets.ARCDataset``.
        location: The import statement.
    """

    name: str
    location: Location | None = field(default=None, compare=False)

    @property
    def short(self) -> str:
        """The last part of the name: ``ARCDataset``."""
        return self.name.rpartition(".")[2]

    def __str__(self) -> str:
        return self.name


class ConfigDict(dict[str, Any]):
    """A dictionary of a config.

    Attributes:
        location: Where it was written; ``None`` where it was made by a computation or by code.
    """

    __slots__ = ("location",)

    def __init__(
        self,
        values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (),
        /,
        *,
        location: Location | None = None,
    ) -> None:
        super().__init__(values)
        self.location = location

    def copy(self) -> ConfigDict:
        """Return a shallow copy, written at the same place."""
        return ConfigDict(self, location=self.location)


class InheritedDict(ConfigDict):
    """A dictionary that came from a base file.

    mmengine gives such dictionaries attributes, ``deepcopy`` and an ``update`` that merges; so does the interpreter.
    """

    __slots__ = ()

    def copy(self) -> InheritedDict:
        """Return a shallow copy, written at the same place."""
        return InheritedDict(self, location=self.location)


class ConfigFunction(ABC):
    """A function that a config defines (``def`` or ``lambda``); calling it interprets its body, within bounds.

    Attributes:
        name: Its name; ``<lambda>`` for a lambda.
        location: Where it was written.
    """

    __slots__ = ("location", "name")

    def __init__(self, name: str, location: Location | None) -> None:
        self.name = name
        self.location = location

    @abstractmethod
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Return what the function returns.

        Raises:
            ProctorError: The body fails, does what reading a config does not allow, or takes too long.
        """

    def __repr__(self) -> str:
        return f"<function {self.name} of a config>"


def dotted_name(kind: Any) -> str:
    """Return the whole name of a type of a config: an imported name, a registered one, or a class."""
    if isinstance(kind, Reference):
        return kind.name
    if isinstance(kind, str):
        return kind
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind)}"


def short_name(kind: Any) -> str:
    """Return the last part of a type's name: ``ARCDataset``."""
    return dotted_name(kind).rpartition(".")[2]


def location_of(values: Any) -> Location | None:
    """Return where a dictionary of a config was written; ``None`` for anything else."""
    return values.location if isinstance(values, ConfigDict) else None


def as_data(value: Any) -> Any:
    """Return a value of a config as JSON-like data: names for what is imported."""
    if isinstance(value, Reference):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): as_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if value is None or isinstance(value, str | int | float | bool):
        return value
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)
