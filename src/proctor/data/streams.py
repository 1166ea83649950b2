"""Streams: lazy, re-iterable sequences of rows, by name of the split.

A row is a plain dict. Nothing is computed before somebody iterates, and iterating again starts again. Rows that come
out of a stream may be changed at the top level; values inside are shared, and operators replace them, never change
them in place.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.fields import Row
from proctor.data.row_failures import RowFailures
from proctor.errors import DataError, did_you_mean
from proctor.randomness import current_course

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict, Features, IterableDataset, IterableDatasetDict

INSTANCE_STREAM = "__INSTANCE_STREAM__"
"""The name of the stream of a row that is processed by itself."""

INFERENCE_STREAM = "__INFERENCE_STREAM__"
"""The name of the stream of rows without reference fields, because their answers are being asked for."""


class Stream:
    """Rows that can be iterated any number of times.

    Attributes:
        caching: Whether what makes rows makes them only once.
        copying: Whether every iteration gets dicts and lists of its own.
    """

    caching: bool = False
    copying: bool = False

    def __iter__(self) -> Iterator[Row]:
        return iter(())

    def peek(self) -> Row:
        """Return the first row.

        Raises:
            DataError: The stream is empty.
        """
        for row in self:
            return row
        raise DataError("the stream is empty")

    def take(self, n: int) -> Iterator[Row]:
        """Yield the first ``n`` rows.

        Where a step before goes on with one generator from row to row (``shuffle``), it has then drawn for the row
        after them, too, as in Unitxt: what is drawn for the next split depends on that.
        """
        iterator = iter(self)
        yield from islice(iterator, n)
        if (course := current_course()) is not None and course.has_drawn:
            with RowFailures():  # nobody asks about this row
                next(iterator, None)

    def to_dataset(self, features: Features | None = None) -> Dataset:
        """Return the rows as a Hugging Face dataset; its columns are the keys of all rows."""
        from datasets import Dataset

        rows = list(self)
        names = dict.fromkeys(name for row in rows for name in row)
        return Dataset.from_dict({name: [row.get(name) for row in rows] for name in names}, features=features)

    def to_iterable_dataset(self, features: Features | None = None) -> IterableDataset:
        """Return the rows as a Hugging Face dataset that is computed while iterated."""
        from datasets import IterableDataset

        return IterableDataset.from_generator(self.__iter__, features=features)


class ListStream(Stream):
    """Rows that are in memory (or any other collection that can be iterated again)."""

    def __init__(self, instances_list: Iterable[Row], copying: bool = False) -> None:
        self.rows, self.copying = instances_list, copying

    def __iter__(self) -> Iterator[Row]:
        return map(_own if self.copying else dict, self.rows)


class GeneratorStream(Stream):
    """Rows that a generator function makes.

    Args:
        generator: A function that returns an iterator of rows; it is called for each iteration.
        gen_kwargs: Its keyword arguments.
        caching: Keep the rows of the first iteration for all others.
        copying: Give every iteration dicts and lists of its own.
    """

    def __init__(
        self,
        generator: Callable[..., Iterable[Row]],
        gen_kwargs: Mapping[str, Any] | None = None,
        caching: bool = False,
        copying: bool = False,
    ) -> None:
        self.generator = generator
        self.gen_kwargs = dict(gen_kwargs or {})
        self.caching, self.copying = caching, copying
        self._kept: list[Row] | None = None

    def __iter__(self) -> Iterator[Row]:
        if not self.caching:
            rows = iter(self.generator(**self.gen_kwargs))
            return map(_own, rows) if self.copying else rows
        if self._kept is None:
            self._kept = list(self.generator(**self.gen_kwargs))
        return map(_own if self.copying else dict, self._kept)


def _own(value: Any) -> Any:
    """Return a value whose dicts, lists and tuples are nobody else's."""
    if isinstance(value, dict):
        return {key: _own(each) for key, each in value.items()}
    return type(value)(map(_own, value)) if type(value) in (list, tuple) else value


DynamicStream = GeneratorStream


def _cache_of_datasets() -> Path:
    from datasets import config

    folder = Path(config.HF_DATASETS_CACHE)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class MultiStream(dict[str, Stream]):
    """Streams by name; a list of rows becomes a stream."""

    def __init__(self, data: Mapping[str, Stream | list[Row]] | None = None) -> None:
        super().__init__()
        for name, stream in (data or {}).items():
            self[name] = stream

    def __setitem__(self, name: str, stream: Stream | list[Row]) -> None:
        if isinstance(stream, (list, tuple)):
            stream = ListStream(stream)
        if not isinstance(name, str) or not isinstance(stream, Stream):
            raise DataError(
                f"a {type(stream).__name__} cannot be the stream {name!r}",
                why="names are strings and streams are Stream objects",
                hint="wrap rows in ListStream(rows), a generator function in GeneratorStream(function)",
            )
        super().__setitem__(name, stream)

    def __missing__(self, name: str) -> Stream:
        raise DataError(
            f"there is no stream '{name}'", why=f"there are {', '.join(self)}", hint=did_you_mean(name, self)
        )

    @classmethod
    def from_iterables(
        cls, iterables: Mapping[str, Iterable[Row]], caching: bool = False, copying: bool = False
    ) -> MultiStream:
        """Return streams over collections of rows; ``caching`` changes nothing, as they are there already.

        With ``copying``, lists and dicts in rows are copied for every iteration; the rows themselves always are.
        """
        del caching
        return cls({name: ListStream(rows, copying) for name, rows in iterables.items()})

    @classmethod
    def from_generators(
        cls, generators: Mapping[str, Callable[[], Iterable[Row]]], caching: bool = False, copying: bool = False
    ) -> MultiStream:
        """Return streams over functions that make rows; ``caching`` and ``copying`` as of :class:`GeneratorStream`."""
        return cls({name: GeneratorStream(each, None, caching, copying) for name, each in generators.items()})

    def to_dataset(
        self, disable_cache: bool = True, cache_dir: str | None = None, features: Features | None = None
    ) -> DatasetDict:
        """Return the streams as a Hugging Face ``DatasetDict``.

        Args:
            disable_cache: Keep it in memory; otherwise it lies in a folder, and is read from there.
            cache_dir: The folder; Hugging Face's own where none is given.
            features: The columns with their types.
        """
        from datasets import DatasetDict, load_from_disk

        if not disable_cache:
            folder = tempfile.mkdtemp(prefix="streams-", dir=cache_dir or _cache_of_datasets())
            self.to_dataset(features=features).save_to_disk(folder)
            return load_from_disk(folder)
        return DatasetDict({name: stream.to_dataset(features) for name, stream in self.items()})

    def to_iterable_dataset(self, features: Features | None = None) -> IterableDatasetDict:
        """Return the streams as a Hugging Face ``IterableDatasetDict``."""
        from datasets import IterableDatasetDict

        return IterableDatasetDict({name: stream.to_iterable_dataset(features) for name, stream in self.items()})
