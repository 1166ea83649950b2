"""Values of source files beside plain data: unimported names, dictionaries that know their place."""

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
        self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, *, location: Location | None = None
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
