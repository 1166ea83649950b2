"""Loaders: where rows come from.

A loader is lazy: calling it returns streams, and iterating a stream loads its split. Each row is a new dict that ends
with ``data_classification_policy``; a loader's default classes are those of its source (``public`` for the hub,
``proprietary`` for files and dictionaries).

To write one, override :meth:`LazyLoader.get_splits` and :meth:`LazyLoader.split_generator`, or
:meth:`Loader.load_iterables`, and set ``_default_policy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator
from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL
from proctor.data.fields import Row
from proctor.data.operator import SourceOperator
from proctor.data.policy import POLICY_FIELD
from proctor.data.streams import GeneratorStream, ListStream, MultiStream, Stream
from proctor.errors import DataError, ValidationError
from proctor.settings import settings


class Loader(SourceOperator):
    """Base of all loaders; override ``load_iterables()``.

    Attributes:
        loader_limit: The most rows to load of each split.
        streaming: Read as rows are asked for, where the source can.
        num_proc: Processes that may help, where the source can use them.
        data_classification_policy: The classes of the data; ``None`` means the default of the source.
    """

    _default_policy: ClassVar[list[str] | None] = None

    loader_limit: Annotated[int | None, NON_POSITIONAL] = None
    streaming: Annotated[bool | None, NON_POSITIONAL] = False
    num_proc: Annotated[int | None, NON_POSITIONAL] = None

    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        """Return the rows of each split."""
        raise ValidationError(f"{type(self).__name__} does not define load_iterables()")

    def default_policy(self) -> list[str] | None:
        """Return the classes of the data where the artifact does not say."""
        return self._default_policy

    def get_limit(self) -> int | None:
        """Return the most rows of a split to load, by this loader and the settings."""
        limits = [limit for limit in (settings.global_loader_limit, self.loader_limit) if limit is not None]
        return min(map(int, limits), default=None)

    @override
    def process(self) -> MultiStream:
        policy = self.data_classification_policy
        if policy is None:
            policy = self.default_policy()
        limit = self.get_limit()
        return MultiStream(
            {name: _Loaded(rows, limit, policy, self.marks_rows()) for name, rows in self.load_iterables().items()}
        )

    def marks_rows(self) -> bool:
        """Whether rows get ``data_classification_policy``."""
        return True

    def get_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(self.load_iterables())


class _Loaded(Stream):
    """Rows of a source: limited, new dicts, with the classes of the data."""

    def __init__(self, rows: Iterable[Row], limit: int | None, policy: list[str] | None, marked: bool) -> None:
        self.rows, self.limit, self.policy, self.marked = rows, limit, policy, marked

    def __iter__(self) -> Iterator[Row]:
        rows = self.rows if self.limit is None else islice(self.rows, self.limit)
        if not self.marked:
            return map(dict, rows)
        return ({**row, POLICY_FIELD: self.policy} for row in rows)


class LazyLoader(Loader):
    """A loader that reads one split at a time; override ``get_splits()`` and ``split_generator(split)``.

    Attributes:
        split: The only split to load; all where it is ``None``.
    """

    split: Annotated[str | None, NON_POSITIONAL] = None

    def get_splits(self) -> list[str]:
        """Return the names of the splits."""
        raise ValidationError(f"{type(self).__name__} does not define get_splits()")

    def split_generator(self, split: str) -> Iterable[Row]:  # noqa: ARG002 - for those who override it
        """Yield the rows of a split."""
        raise ValidationError(f"{type(self).__name__} does not define split_generator(split)")

    @override
    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        splits = [self.split] if self.split is not None else self.get_splits()
        return {split: GeneratorStream(self.split_generator, {"split": split}) for split in splits}


def _rows_of_splits(data: Any) -> Any:
    if isinstance(data, dict) and all(isinstance(rows, list) for rows in data.values()):
        return data
    raise ValidationError(
        "Passed data to LoadFromDictionary is not of type Dict[str, List[Dict[str, Any]]].\n"
        "Expected data should map between split name and list of instances.\n"
        f"Received value: {data}\n"
    )


class LoadFromDictionary(Loader):
    """Rows given in the program or artifact.

    Attributes:
        data: A list of rows for each split; the rows of a split have the same fields.
    """

    _default_policy = ["proprietary"]

    data: Annotated[dict[str, list[dict[str, Any]]], BeforeValidator(_rows_of_splits)]

    @override
    def verify(self) -> None:
        super().verify()
        for split, rows in self.data.items():
            if not rows:
                raise DataError(f"the split '{split}' has no rows", path=f"$.data.{split}")
            self._check_fields(split, rows)

    @staticmethod
    def _check_fields(split: str, rows: list[Row]) -> None:
        expected = rows[0].keys()
        for index, row in enumerate(rows):
            if row.keys() != expected:
                odd = [*(expected - row.keys()), *(row.keys() - expected)]
                raise DataError(
                    f"Not all instances in split '{split}' have the same fields.\n"
                    f"instance {row} has different fields different from {rows[0]}",
                    path=f"$.data.{split}[{index}]",
                    why=f"{', '.join(sorted(map(str, odd)))} differs from the first row",
                )

    @override
    def load_iterables(self) -> Mapping[str, Iterable[Row]]:
        return {split: ListStream(rows) for split, rows in self.data.items()}


class MultipleSourceLoader(LazyLoader):
    """Several loaders as one: splits of the same name are joined, in the order of the sources.

    Attributes:
        sources: The loaders. Rows keep the classes that their own loader gives, unless this one names some.
    """

    sources: list[Loader]

    @override
    def marks_rows(self) -> bool:
        return self.data_classification_policy is not None

    @override
    def get_splits(self) -> list[str]:
        return list(dict.fromkeys(split for source in self.sources for split in source.get_splits()))

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        limit = self.get_limit()
        for source in self.sources:
            if split in (streams := source()):
                yield from islice(streams[split], limit)
