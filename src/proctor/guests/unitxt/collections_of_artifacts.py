"""Unitxt's collections of artifacts, and what picks one of their members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import Any

from typing_extensions import override

from proctor.artifacts import Artifact
from proctor.errors import UsageError
from proctor.guests.unitxt.class_relations import Counting, counts_in
from proctor.scoring.pipeline import MetricsList


class NoSuchItemError(UsageError, LookupError):
    """A member that a collection does not have."""

    __str__ = UsageError.__str__


class Collection(Artifact):
    """Base of collections.

    Attributes:
        items: The members.
    """

    items: Any

    def __getitem__(self, key: Any) -> Any:
        try:
            return self.items[key]
        except LookupError as error:
            raise NoSuchItemError(f"{self!r} has no item {key!r}", why=f"it has {self.keys()}") from error

    @abstractmethod
    def keys(self) -> list[Hashable]:
        """Return what members are found by."""

    def __len__(self) -> int:
        return len(self.items)

    def len(self) -> int:
        """Return the number of members."""
        return len(self.items)


class ListCollection(Collection, metaclass=Counting):
    """Members in order."""

    items: list[Any] = []

    def append(self, item: Any) -> None:
        """Add a member."""
        self.items.append(item)

    def extend(self, other: ListCollection) -> None:
        """Add the members of another collection."""
        self.items.extend(other.items)

    def __add__(self, other: ListCollection) -> ListCollection:
        return ListCollection(items=[*self.items, *other.items])

    @override
    def keys(self) -> list[Hashable]:
        return list(range(len(self.items)))


counts_in(ListCollection, lambda other: issubclass(other, MetricsList))
