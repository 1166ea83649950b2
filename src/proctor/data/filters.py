"""Filters: operators that keep some of the rows of a stream."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, ClassVar

from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL
from proctor.data.computed_fields import ExpressionMixin
from proctor.data.fields import MISSING, Row, finder, getter
from proctor.data.operator import StreamOperator
from proctor.data.streams import Stream
from proctor.errors import DataError, EmptyStreamError, MissingFieldError, ValidationError, did_you_mean
from proctor.randomness import random_stream


class RowFilter(StreamOperator):
    """Base of filters; override ``keeps()``.

    Attributes:
        error_on_filtered_all: It is an error when nothing is left of a stream.
    """

    error_on_filtered_all: Annotated[bool, NON_POSITIONAL] = True

    def keeps(self) -> Callable[[Row], Any]:
        """Return the function that says whether a row stays."""
        raise ValidationError(f"{type(self).__name__} does not define keeps()")

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        keeps, kept = self.keeps(), False
        for row in stream:
            if keeps(row):
                kept = True
                yield row
        if not kept and self.error_on_filtered_all:
            raise EmptyStreamError(
                f"{type(self).__name__} filtered out every instance in stream '{stream_name}'. "
                "If this is intended set error_on_filtered_all=False",
                path=self.label(),
            )


class FilterByCondition(RowFilter):
    """Keeps rows whose fields compare with given values in one way.

    Attributes:
        values: Fields with the value to compare with; all must hold.
        condition: ``gt``, ``ge``, ``lt``, ``le``, ``eq``, ``ne``, ``in``, ``not in``, or ``exists`` (the values say
            whether the fields must be there).
    """

    condition_to_func: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {
        "gt": operator.gt,
        "ge": operator.ge,
        "lt": operator.lt,
        "le": operator.le,
        "eq": operator.eq,
        "ne": operator.ne,
        "in": lambda value, group: value in group,
        "not in": lambda value, group: value not in group,
        "exists": lambda value, wanted: (value is not MISSING) is wanted,
    }

    values: dict[str, Any]
    condition: str

    @override
    def verify(self) -> None:
        super().verify()
        if self.condition not in self.condition_to_func:
            raise ValidationError(
                f"there is no condition '{self.condition}'",
                hint=did_you_mean(self.condition, self.condition_to_func) or f"use {', '.join(self.condition_to_func)}",
            )
        for name, value in self.values.items():
            if self.condition in ("in", "not in") and not isinstance(value, list):
                raise ValidationError(
                    f"The filter for key ('{name}') in {type(self).__name__} with condition '{self.condition}' "
                    f"must be list but is not : '{value}'"
                )
            if self.condition == "exists" and not isinstance(value, bool):
                raise ValidationError(
                    f"the condition 'exists' needs true or false for '{name}'", why=f"it is {value!r}"
                )

    @override
    def keeps(self) -> Callable[[Row], Any]:
        holds = self.condition_to_func[self.condition]
        tests = [(self._reader(name), self._other(value)) for name, value in self.values.items()]
        return lambda row: all(holds(read(row), other(row)) for read, other in tests)

    def _reader(self, name: str) -> Callable[[Row], Any]:
        return finder(name) if self.condition == "exists" else partial(self._read, finder(name), name)

    def _read(self, find: Callable[[Row], Any], name: str, row: Row) -> Any:
        if (value := find(row)) is MISSING:
            raise MissingFieldError(
                f"Required filter field ('{name}') in {type(self).__name__} is not found in instance.",
                why=f"it has {', '.join(map(str, row))}",
                hint=did_you_mean(name, map(str, row)),
            )
        return value

    def _other(self, value: Any) -> Callable[[Row], Any]:
        return lambda row: value


class FilterByConditionBasedOnFields(FilterByCondition):
    """Keeps rows whose fields compare with other fields of the row in one way.

    Attributes:
        values: Fields with the field to compare with.
    """

    @override
    def verify(self) -> None:
        if self.condition not in self.condition_to_func or self.condition == "exists":
            raise ValidationError(f"there is no condition '{self.condition}' between fields")

    @override
    def _other(self, value: Any) -> Callable[[Row], Any]:
        return getter(value)


class FilterByExpression(ExpressionMixin, RowFilter):
    """Keeps rows for which an expression holds: ``FilterByExpression("len(question) > 0")``."""

    @override
    def keeps(self) -> Callable[[Row], Any]:
        return self.compute_expression


class Deduplicate(StreamOperator):
    """Keeps the first of the rows whose fields are equal.

    Attributes:
        by: The fields.
    """

    by: list[str]

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        gets, seen = [getter(name) for name in self.by], set()
        for row in stream:
            signature = str(tuple(get(row) for get in gets))
            if signature not in seen:
                seen.add(signature)
                yield row


class StreamRefiner(StreamOperator):
    """Keeps the first rows.

    Attributes:
        max_instances: How many; all where it is ``None``.
    """

    max_instances: int | None = None
    apply_to_streams: list[str] | None = None

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        yield from stream if self.max_instances is None else stream.take(self.max_instances)


class SignatureRefiner(StreamRefiner):
    """Base of refiners that look at some fields.

    Attributes:
        fields: Rows with equal values in these belong together.
    """

    fields: list[str]

    def signature(self, instance: Row) -> Any:
        """Return a key that is equal for rows that belong together."""
        return str(tuple(getter(name)(instance) for name in self.fields))


class Balance(SignatureRefiner):
    """Keeps equally many rows of each kind, the first of each.

    Attributes:
        max_instances: At most so many in all.
    """

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        counts = Counter(map(self.signature, stream))
        if not counts:
            return
        most = min(counts.values())
        if self.max_instances is not None:
            most = min(most, self.max_instances // len(counts))
        taken: Counter[Any] = Counter()
        for row in stream:
            kind = self.signature(row)
            if taken[kind] < most:
                taken[kind] += 1
                yield row


class DeterministicBalancer(Balance):
    """Another name of :class:`Balance`."""


class LengthBalancer(DeterministicBalancer):
    """Keeps equally many rows of each length.

    Attributes:
        segments_boundaries: Where one length ends and the next begins, rising.
        fields: The fields whose lengths are added.
    """

    segments_boundaries: list[int]

    @override
    def signature(self, instance: Row) -> int:
        length = sum(len(getter(name)(instance)) for name in self.fields)
        boundaries = self.segments_boundaries
        return next((i for i, boundary in enumerate(boundaries) if length < boundary), len(boundaries))


class MinimumOneExamplePerLabelRefiner(SignatureRefiner):
    """Keeps one row of each kind, then the first of the others up to ``max_instances``, shuffled."""

    reads_recipe: ClassVar[bool] = True  # its order follows from the text of whole rows

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        if self.max_instances is None:
            yield from stream
            return
        firsts: dict[Any, int] = {}
        for index, row in enumerate(stream):
            firsts.setdefault(self.signature(row), index)
        if len(firsts) > self.max_instances:
            raise DataError(
                f"there are {len(firsts)} kinds of rows in the stream '{stream_name}'",
                why=f"one of each is wanted, and at most {self.max_instances} in all",
            )
        required = set(firsts.values())
        rows = [(index, row) for index, row in enumerate(stream) if index in required or index < self.max_instances]
        others = [row for index, row in rows if index not in required][: self.max_instances - len(required)]
        selected = [row for index, row in rows if index in required] + others
        random_stream(selected).shuffle(selected)
        yield from selected
