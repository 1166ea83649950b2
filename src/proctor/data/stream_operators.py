"""Operators on streams: order, repeat, collate, merge, join."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from proctor.data.dataframes import frames
from proctor.data.fields import Row, getter
from proctor.data.instance_operators import ROW_METADATA, Set
from proctor.data.operator import (
    MultiStreamOperator,
    PagedStreamOperator,
    SourceOperator,
    StreamingOperator,
    StreamOperator,
    container_copy,
)
from proctor.data.policy import POLICY_FIELD
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.errors import DataError, MissingFieldError, ValidationError
from proctor.randomness import going_generator, random_stream

# -- making streams -------------------------------------------------------------------------------------------


class IterableSource(SourceOperator):
    """Makes streams of the collections of rows in ``iterables``."""

    iterables: dict[str, Any]

    @override
    def process(self) -> MultiStream:
        return MultiStream.from_iterables(self.iterables)


# -- order ----------------------------------------------------------------------------------------------------


class Shuffle(PagedStreamOperator):
    """Shuffles rows, a page at a time; the same in every run.

    Its generator goes on from page to page and, within a recipe, from the rows that demos are drawn from to those that
    are asked about.
    """

    draws_on: ClassVar[bool] = True
    _going: Any = None

    @override
    def _generate(self, stream: Stream, stream_name: str | None) -> Iterator[Row]:
        random = going_generator(self, "shuffle")
        if type(self).process is not Shuffle.process:  # a program's own way to order a page
            self._going = random
            yield from super()._generate(stream, stream_name)
            return
        page: list[Row] = []
        for row in stream:
            page.append(row)
            if len(page) >= self.page_size:
                yield from self.shuffled(page, random)
                page = []
        if page:
            yield from self.shuffled(page, random)

    def shuffled(self, page: list[Row], random: Any) -> list[Row]:
        """Return a page in a new order."""
        random.shuffle(page)
        return page

    @override
    def process(self, page: list[Row], stream_name: str | None = None) -> list[Row]:
        return self.shuffled(list(page), self._going or random_stream("shuffle"))


class FeatureGroupedShuffle(Shuffle):
    """Shuffles groups of rows, and keeps each group together.

    Attributes:
        grouping_features: Rows with equal values in these fields are a group (within a page).
        shuffle_within_group: Shuffle the rows of a group, too.
    """

    grouping_features: list[str] | None = None
    shuffle_within_group: bool = False

    @override
    def shuffled(self, page: list[Row], random: Any) -> list[Row]:
        if self.grouping_features is None:
            return super().shuffled(page, random)
        groups: dict[Any, list[Row]] = defaultdict(list)
        for row in page:
            groups[tuple(row[name] for name in self.grouping_features)].append(row)
        blocks = list(groups.values())
        random.shuffle(blocks)
        if self.shuffle_within_group:
            for block in blocks:
                random.shuffle(block)
        return list(chain.from_iterable(blocks))


class AddIncrementalId(StreamOperator):
    """Numbers the rows of each stream from 0."""

    to_field: str

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        for index, row in enumerate(stream):
            yield {**row, self.to_field: index}


# -- more and fewer rows --------------------------------------------------------------------------------------


class DuplicateInstances(StreamOperator):
    """Repeats each row.

    Attributes:
        num_duplications: How often each comes; 1 changes nothing.
        duplication_index_field: A field for the number of the repetition.
    """

    num_duplications: int = Field(ge=1)
    duplication_index_field: str | None = None

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        for row in stream:
            for index in range(self.num_duplications):
                yield {**row, self.duplication_index_field: index} if self.duplication_index_field else dict(row)


class CollateInstances(StreamOperator):
    """Makes one row of several: each field becomes the list of their values.

    Attributes:
        batch_size: How many rows make one; the last may be made of fewer.
    """

    batch_size: int = Field(ge=1)

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        batch: list[Row] = []
        for row in stream:
            batch.append(row)
            if len(batch) == self.batch_size:
                yield self._collated(batch)
                batch = []
        if batch:
            yield self._collated(batch)

    @staticmethod
    def _collated(batch: list[Row]) -> Row:
        made: Row = {name: [row[name] for row in batch] for name in batch[0]}
        if POLICY_FIELD in made:
            made[POLICY_FIELD] = sorted({each for classes in made[POLICY_FIELD] for each in classes})
        return made


class CollateInstancesByField(StreamOperator):
    """Makes one row of those with the same value in a field.

    Attributes:
        by_field: The field.
        aggregate_fields: Fields that become lists; all others must be equal.
    """

    by_field: str
    aggregate_fields: list[str]

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        groups: dict[Any, Row] = {}
        for row in stream:
            for name in (self.by_field, *self.aggregate_fields):
                if name not in row:
                    raise MissingFieldError(f"the row has no field '{name}'", path=self.label())
            self._add(groups, row)
        yield from groups.values()

    def _add(self, groups: dict[Any, Row], row: Row) -> None:
        aggregated = self.aggregate_fields
        key = row[self.by_field]
        plain = {name: value for name, value in row.items() if name not in aggregated}
        group = groups.setdefault(key, {**plain, **{name: [] for name in aggregated}})
        for name, value in row.items():
            if name == POLICY_FIELD and value:
                group[name] = sorted({*group[name], *value})
            elif name in aggregated:
                group[name].append(value)
            elif name != self.by_field and name in group and group[name] != value:
                raise DataError(
                    f"rows with '{self.by_field}' = {key!r} differ in the field '{name}'",
                    why=f"{group[name]!r} and {value!r}",
                    hint=f"add '{name}' to 'aggregate_fields'",
                )


# -- several streams ------------------------------------------------------------------------------------------


class MergeStreams(MultiStreamOperator):
    """Makes one stream of several, one after the other.

    Attributes:
        streams_to_merge: Their names; all where it is ``None``. Streams that are not merged are dropped.
        new_stream_name: The name of the new one.
        add_origin_stream_name: Say in each row where it comes from.
    """

    streams_to_merge: list[str] | None = None
    new_stream_name: str = "all"
    add_origin_stream_name: bool = True
    origin_stream_name_field_name: str = "origin"

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        return MultiStream({self.new_stream_name: GeneratorStream(self._merged, {"streams": multi_stream})})

    def _merged(self, streams: MultiStream) -> Iterator[Row]:
        for name, stream in streams.items():
            if self.streams_to_merge is not None and name not in self.streams_to_merge:
                continue
            for row in stream:
                yield {**row, self.origin_stream_name_field_name: name} if self.add_origin_stream_name else row


class DeleteSplits(MultiStreamOperator):
    """Removes streams."""

    splits: list[str]

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        return MultiStream({name: stream for name, stream in multi_stream.items() if name not in self.splits})


class DuplicateSplit(MultiStreamOperator):
    """Adds a copy of a stream under another name."""

    split: str
    to_split: str

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        source = multi_stream[self.split]
        return MultiStream({**multi_stream, self.to_split: GeneratorStream(lambda: map(container_copy, source))})


class JoinStreams(MultiStreamOperator):
    """Joins two streams by the values of fields, as databases join tables; adds the result as a stream.

    Attributes:
        how: Whether rows without a partner stay: ``inner``, ``left``, ``right``, ``outer``; ``cross`` joins all.
        on: Fields that have to be equal.
        left_on: The same, where they have other names in the left stream.
        right_on: The same, for the right stream.
    """

    left_stream: str
    right_stream: str
    how: Literal["left", "right", "inner", "outer", "cross"]
    on: list[str] | str | None = None
    left_on: list[str] | str | None = None
    right_on: list[str] | str | None = None
    new_stream_name: str

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        left, right = multi_stream[self.left_stream], multi_stream[self.right_stream]
        return MultiStream(
            {**multi_stream, self.new_stream_name: GeneratorStream(self._joined, {"left": left, "right": right})}
        )

    def _joined(self, left: Stream, right: Stream) -> Iterator[Row]:
        with frames() as pd:
            try:
                frame = pd.merge(
                    pd.DataFrame(list(left)),
                    pd.DataFrame(list(right)),
                    how=self.how,
                    on=self.on,
                    left_on=self.left_on,
                    right_on=self.right_on,
                )
            except (KeyError, pd.errors.MergeError) as error:
                raise DataError("the streams cannot be joined", path=self.label(), why=f"no field {error}") from None
        if frame.empty:
            raise DataError("joining the streams left nothing", path=self.label(), why="no keys are equal")
        for row in frame.to_dict("records"):
            yield self._with_metadata(row)

    def _with_metadata(self, row: Row) -> Row:
        for name in ROW_METADATA:
            if f"{name}_x" not in row:
                continue
            left, right = row.pop(f"{name}_x"), row.pop(f"{name}_y")
            if str(left) != str(right):
                raise DataError(
                    f"rows that are joined differ in '{name}'", path=self.label(), why=f"{left} and {right}"
                )
            row[name] = left
        return row


class SplitByNestedGroup(MultiStreamOperator):
    """Splits streams by the origin of rows in fused streams: ``a/b/c``, the latest fusion first.

    Attributes:
        field_name_of_group: The field with the origin.
        number_of_fusion_generations: How many of its parts count; all where it is negative.
    """

    field_name_of_group: str = "group"
    number_of_fusion_generations: int = 1

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        groups: dict[str, list[Row]] = defaultdict(list)
        read, count = getter(self.field_name_of_group), self.number_of_fusion_generations
        for name, stream in multi_stream.items():
            for row in stream:
                origin = str(read(row))
                groups[f"{name}~{'/'.join(origin.split('/')[:count]) if count >= 0 else origin}"].append(row)
        return MultiStream.from_iterables(groups)


class ExtractMostCommonFieldValues(MultiStreamOperator):
    """Collects the values of a field of one stream, the most frequent first, and sets them in all streams.

    Attributes:
        field: The field.
        stream_name: The stream.
        overall_top_frequency_percent: Only as many values as make up this share of all.
        min_frequency_percent: Only values that are at least this share of all.
        to_field: Where to set the list.
        process_every_value: The field is a list, and its members are counted.
    """

    field: str
    stream_name: str
    overall_top_frequency_percent: int | None = Field(default=100, ge=0, le=100)
    min_frequency_percent: int | None = Field(default=0, ge=0, le=100)
    to_field: str
    process_every_value: bool | None = False

    @override
    def verify(self) -> None:
        super().verify()
        if (self.overall_top_frequency_percent or 0) < 100 and (self.min_frequency_percent or 0) > 0:  # noqa: PLR2004 - percent
            raise ValidationError("only one of 'overall_top_frequency_percent' and 'min_frequency_percent' can be set")

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        values = self.most_common(multi_stream[self.stream_name])
        return Set(fields={self.to_field: values})(multi_stream)

    def most_common(self, stream: Stream) -> list[Any]:
        """Return the values of a stream, the most frequent first."""
        counts = self._counts(stream)
        total, ranked = counts.total(), counts.most_common()
        top, least = self.overall_top_frequency_percent or 0, self.min_frequency_percent or 0
        if top < 100:  # noqa: PLR2004 - percent
            ranked = self._top(ranked, total * top / 100.0)
        kept = [value for value, count in ranked if count >= least * total / 100.0]
        return [list(value) if isinstance(value, tuple) else value for value in kept]

    @staticmethod
    def _top(ranked: list[tuple[Any, int]], wanted: float) -> list[tuple[Any, int]]:
        so_far = 0
        for position, (_, count) in enumerate(ranked, 1):
            so_far += count
            if so_far >= wanted:
                return ranked[:position]
        return ranked

    def _counts(self, stream: Stream) -> Counter[Any]:
        counts: Counter[Any] = Counter()
        read = getter(self.field)
        for row in stream:
            value = read(row)
            if self.process_every_value:
                if not isinstance(value, list):
                    raise DataError(f"the field '{self.field}' is not a list", why="'process_every_value' needs one")
                counts.update(value)
            else:
                counts[tuple(value) if isinstance(value, list) else value] += 1
        return counts


class ExtractFieldValues(ExtractMostCommonFieldValues):
    """Collects all values of a field of one stream, the most frequent first, and sets them in all streams."""


class ApplyStreamOperatorsField(StreamOperator):
    """Applies the operators that a field of the first row names.

    Attributes:
        field: The field; an operator or a list of them.
        reversed: The last one first.
    """

    field: str
    reversed: bool = False

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        names = stream.peek().get(self.field, [])
        names = [names] if isinstance(names, str) else list(names)
        streams = MultiStream({str(stream_name): stream})
        for name in reversed(names) if self.reversed else names:
            step = self.fetched(name)
            if not isinstance(step, StreamingOperator):
                raise DataError(f"'{name}' is not an operator on streams")
            streams = step(streams)
        yield from streams[str(stream_name)]
