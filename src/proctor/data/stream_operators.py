"""Operators on streams: order, repeat, collate, merge, join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from proctor.data.dataframes import frames
from proctor.data.fields import Row, getter
from proctor.data.instance_operators import ROW_METADATA, Set
from proctor.data.operator import MultiStreamOperator, PagedStreamOperator, StreamOperator, container_copy
from proctor.data.policy import POLICY_FIELD
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.errors import DataError
from proctor.randomness import going_generator, random_stream

# -- making streams -------------------------------------------------------------------------------------------


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


class ExtractFieldValues(MultiStreamOperator):
    """Collects all values of a field of one stream, the most frequent first, and sets them in all streams.

    Attributes:
        to_field: Where to set the list.
        process_every_value: The field is a list, and its members are counted.
    """

    field: str
    stream_name: str
    to_field: str
    process_every_value: bool | None = False

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        counts: Counter[Any] = Counter()
        for value in map(getter(self.field), multi_stream[self.stream_name]):
            if self.process_every_value and not isinstance(value, list):
                raise DataError(f"the field '{self.field}' is not a list", why="'process_every_value' needs one")
            counts.update(value if self.process_every_value else [tuple(value) if isinstance(value, list) else value])
        values = [list(value) if isinstance(value, tuple) else value for value, _ in counts.most_common()]
        return Set(fields={self.to_field: values})(multi_stream)
