"""The rows of a dataset of a config, as the core asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

from proctor.data.fields import Row
from proctor.data.streams import MultiStream
from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets import DatasetRows, dataset_splits, open_dataset
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.dialects.aisbench.values import short_name
from proctor.ir import Failure
from proctor.recipes.selection import Opened, Selection


class ConfigRows:
    """Reads the dataset on first use; every exam that is made of it shares what was read.

    Args:
        config: The dataset.
        given: Its rows, where they are known already.
    """

    def __init__(self, config: DatasetConfig, given: DatasetRows | None = None) -> None:
        self._config = config
        self._given = given

    @cached_property
    def dataset(self) -> DatasetRows:
        """The rows that are asked about, and those that examples come from."""
        config = self._config
        return self._given if self._given is not None else open_dataset(config.values, by_row=config.by_row)

    def open(self, selection: Selection) -> Opened:
        """Return the rows after ``reader_cfg``; with ``n`` runs, every row ``n`` times.

        Raises:
            DataError: The data cannot be read, or has no such split, range or column.
        """
        test = self.dataset.test
        if selection.limit is None and selection.ceiling is None:
            len(test)  # all are asked about: what is wrong with the file is said before the first question
        return Opened(
            test, lambda: len(test), self.dataset.index, copies=self._config.count, in_blocks=self.dataset.in_blocks
        )

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows as the dataset type reads them, then as ``reader_cfg`` and ``n`` leave them."""
        values, reader = self._config.values, self._config.reader
        splits: Splits = {} if self._given is not None else dataset_splits(values)
        if splits:
            kind = short_name(values.get("type", "dataset"))
            yield f"{kind} reads the rows", _streams({name or "all": read for name, read in splits.items()})
        chosen: dict[str, Callable[[], Iterable[Any]]] = {"asked about": lambda: self.dataset.test}
        if WHOLE in splits or reader.get("train_split", "train") in splits or not splits:
            chosen["demos come from"] = lambda: self.dataset.index
        times = f"; n asks each {self._config.count} times" if self._config.count > 1 else ""
        yield f"reader_cfg chooses splits and ranges{times}", _streams(chosen)


def _streams(splits: Mapping[str, Callable[[], Iterable[Any]]]) -> MultiStream:
    return MultiStream.from_generators({name: partial(_usable, read) for name, read in splits.items()})


def _usable(read: Callable[[], Iterable[Row | Failure]]) -> Iterator[Row]:
    return (row for row in read() if not isinstance(row, Failure))
