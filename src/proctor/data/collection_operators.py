"""Operators on lists, tuples, sets and dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any, Literal

from typing_extensions import override

from proctor.data.fields import MISSING, Row, finder, getter, setter
from proctor.data.operator import FieldOperator, InstanceOperator, Step, StreamOperator, container_copy, writing
from proctor.data.streams import Stream
from proctor.errors import FieldTypeError


class Dictify(FieldOperator):
    """Makes a dict of a tuple; ``with_keys`` are the keys, in order."""

    with_keys: list[str]

    @override
    def process_value(self, value: Any) -> dict[str, Any]:
        return dict(zip(self.with_keys, value, strict=False))


class DictToTuplesList(FieldOperator):
    """Makes a list of (key, value) pairs of a dict."""

    @override
    def process_value(self, value: dict[Any, Any]) -> list[tuple[Any, Any]]:
        return list(value.items())


class Zip(InstanceOperator):
    """Makes a list of tuples of the members of several lists, to the end of the shortest."""

    fields: list[str]
    to_field: str

    def zip(self, values: list[Any]) -> list[Any]:
        """Return the tuples."""
        return list(zip(*values, strict=False))

    @override
    def compile(self, stream_name: str | None) -> Step:
        gets = [getter(path) for path in self.fields]
        return writing(self.to_field, lambda row: self.zip([get(row) for get in gets]))


class ZipLongest(Zip):
    """As :class:`Zip`, to the end of the longest list.

    Attributes:
        fill_value: What stands for members that are missing.
    """

    fill_value: Any = None

    @override
    def zip(self, values: list[Any]) -> list[Any]:
        return list(zip_longest(*values, fillvalue=self.fill_value))


class Flatten(FieldOperator):
    """Makes one list of lists inside lists."""

    @override
    def process_value(self, value: Any) -> Any:
        return flattened(value)


def flattened(members: Any) -> Any:
    """Return one list (or tuple) of the members of all lists and tuples in one."""
    return type(members)(_flat(members))


def _flat(value: Any) -> Iterator[Any]:
    for item in value:
        if isinstance(item, (list, tuple)):
            yield from _flat(item)
        else:
            yield item


class Wrap(FieldOperator):
    """Puts values inside a ``list``, ``tuple`` or ``set``."""

    inside: Literal["list", "tuple", "set"]

    @override
    def process_value(self, value: Any) -> Any:
        wrap: Callable[[Any], Any] = {"list": list, "tuple": tuple, "set": set}[self.inside]
        return wrap([value])


class Chunk(FieldOperator):
    """Cuts lists into pieces of ``size``."""

    size: int

    @override
    def process_value(self, value: Any) -> list[Any]:
        return [value[i : i + self.size] for i in range(0, len(value), self.size)]


class Slice(FieldOperator):
    """Takes a slice."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    @override
    def process_value(self, value: Any) -> Any:
        return value[self.start : self.stop : self.step]


class Get(FieldOperator):
    """Takes a member by index or key."""

    item: Any

    @override
    def process_value(self, value: Any) -> Any:
        return value[self.item]


class Pop(FieldOperator):
    """Moves a member, by index or key, out of the list or dict in ``field`` into ``to_field``."""

    item: Any

    @override
    def process_value(self, value: Any) -> Any:
        return value.pop(self.item)

    @override
    def compile(self, stream_name: str | None) -> Step:
        take = super().compile(stream_name)
        held = {path.partition("/*")[0] for path, _ in self.field_pairs()}
        places = [(finder(path), setter(path)) for path in held]

        def step(row: Row) -> Row:
            for find, write in places:  # what a member is taken out of is the row's own
                if (members := find(row)) is not MISSING:
                    write(row, container_copy(members))
            return take(row)

        return step


class GetLength(FieldOperator):
    """Counts members."""

    @override
    def process_value(self, value: Any) -> int:
        return len(value)


class Filter(FieldOperator):
    """Removes members (of dicts: keys) that are in a list."""

    values: list[Any]

    @override
    def process_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if key not in self.values}
        if isinstance(value, (list, set, tuple)):
            return type(value)(item for item in value if item not in self.values)
        raise FieldTypeError(f"a {type(value).__name__} has no members to filter", why="a list, tuple, set or dict has")


class DuplicateByList(StreamOperator):
    """Makes a row of each member of a list.

    Attributes:
        field: The list.
        to_field: Where to write the member; ``field`` itself where it is ``None``.
        use_deep_copy: Give each row dicts and lists of its own.
    """

    field: str
    to_field: str | None = None
    use_deep_copy: bool = False

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        members, write = getter(self.field), setter(self.to_field or self.field)
        for row in stream:
            for member in members(row):
                duplicate = container_copy(row) if self.use_deep_copy else dict(row)
                write(duplicate, member)
                yield duplicate


class Explode(DuplicateByList):
    """Another name of :class:`DuplicateByList`."""


class DuplicateBySubLists(StreamOperator):
    """Makes a row of each beginning of a list: of its first member, its first two, and so on.

    Attributes:
        start: Length of the first beginning.
        end: Added to the length of the whole list; ``-1`` leaves the whole list out.
        step: Added to the length from one row to the next.
    """

    field: str
    to_field: str | None = None
    use_deep_copy: bool = False
    start: int = 1
    end: int = 0
    step: int = 1

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        members, name = getter(self.field), self.to_field or self.field
        for row in stream:
            whole = members(row)
            for length in range(self.start, len(whole) + 1 + self.end, self.step):
                duplicate = container_copy(row) if self.use_deep_copy else dict(row)
                duplicate[name] = whole[:length]
                yield duplicate


class ExplodeSubLists(DuplicateBySubLists):
    """Another name of :class:`DuplicateBySubLists`."""
