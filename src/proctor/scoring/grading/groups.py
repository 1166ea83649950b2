"""Groups of an exam's instances, by the values of fields: each is scored like the exam."""

from __future__ import annotations

import json
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proctor.data.fields import get_field
from proctor.errors import ProctorError
from proctor.jsonable import jsonable

Names = tuple[str, ...]
_NO_GROUP = -1  # beside the numbers of groups, which count from 0


@dataclass(frozen=True, slots=True)
class GroupBy:
    """By which fields instances are grouped.

    Attributes:
        asked: The groupings that somebody asks for, each some fields: scored by every scorer.
        varied: Fields that differ by themselves (several templates, several numbers of demos): scored by the leading
            scorers alone, so that nothing becomes slow unasked.
        leading: How many scorers that are.
    """

    asked: tuple[Names, ...] = ()
    varied: Names = ()
    leading: int = 1

    @classmethod
    def of(cls, asked: Iterable[str | Sequence[str]], varied: Sequence[str] = (), leading: int = 1) -> GroupBy:
        """Return groupings of single fields or lists of them."""
        names = dict.fromkeys((each,) if isinstance(each, str) else tuple(each) for each in asked)
        return cls(tuple(names), tuple(varied) if varied and tuple(varied) not in names else (), leading)


class Grouping:
    """Which group each instance belongs to, by the values of some fields of the task or its metadata.

    Args:
        names: The fields.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._numbers: dict[str, int] = {}
        self._values: list[dict[str, Any]] = []
        self._members = array("l")

    def add(self, instance: Mapping[str, Any], *, is_usable: bool = True) -> None:
        """File the next instance; one whose row cannot be used belongs to no group."""
        if not is_usable:
            self._members.append(_NO_GROUP)
            return
        values = values_of(instance, self.names)
        key = json.dumps(values, default=str)
        number = self._numbers.setdefault(key, len(self._values))
        if number == len(self._values):
            self._values.append(values)
        self._members.append(number)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Sequence[int]]]:
        """Yield the values and the positions of each group, in order of first appearance."""
        positions = [array("q") for _ in self._values]
        for position, number in enumerate(self._members):
            if number != _NO_GROUP:
                positions[number].append(position)
        return zip(self._values, positions, strict=True)


def values_of(instance: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the values of fields of a task or its metadata; the metadata wins.

    Raises:
        MissingFieldError: The instance has no such field.
    """
    if not names:
        return {}
    metadata = instance.get("metadata")
    known = {**instance, **(metadata if isinstance(metadata, Mapping) else {})}
    return {name: get_field(known, name) for name in names}


class Alone(NamedTuple):
    """The cluster of an instance that says of no other that it belongs to it."""

    name: Hashable


def cluster_key(instance: Mapping[str, Any], by: str, name: Hashable) -> Hashable:
    """Return the value that instances which belong together share; :class:`Alone` where the instance has none.

    Args:
        instance: Its fields.
        by: The field.
        name: Of the instance, in case it is alone.
    """
    try:
        value = jsonable(values_of(instance, [by])[by])
    except ProctorError:
        return Alone(name)
    if value is None or value == "":
        return Alone(name)
    return value if isinstance(value, Hashable) else repr(value)


class Groupings:
    """All groupings of an exam, and how many scorers each is scored by (``None``: all).

    Args:
        by: The fields.
    """

    def __init__(self, by: GroupBy) -> None:
        self._groupings: list[tuple[Grouping, int | None]] = [(Grouping(names), None) for names in by.asked]
        if by.varied:
            self._groupings.append((Grouping(by.varied), by.leading))

    def __bool__(self) -> bool:
        return bool(self._groupings)

    def __iter__(self) -> Iterator[tuple[Grouping, int | None]]:
        return iter(self._groupings)

    def add(self, instance: Mapping[str, Any], *, is_usable: bool = True) -> None:
        """File the next instance."""
        for grouping, _ in self._groupings:
            grouping.add(instance, is_usable=is_usable)
