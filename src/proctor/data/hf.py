"""LoadHF: rows of datasets on the Hugging Face hub, or in a folder that stands in for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from typing_extensions import override

from proctor.data import hub
from proctor.data.fields import Row
from proctor.data.loaders import LazyLoader
from proctor.effects import Effect
from proctor.safe_python import compile_predicate


class LoadHF(LazyLoader):
    """A dataset by its hub id, see :mod:`proctor.data.hub` for where it is looked for.

    Attributes:
        path: The hub id, a folder, or a file format (``csv``, ``json``, ``parquet``) with ``data_files``.
        name: The configuration.
        data_dir: A folder inside the dataset.
        data_files: Files inside the dataset, all in one or by split.
        revision: A branch, tag or commit.
        streaming: Download rows as they are read.
        filtering_lambda: Keep rows for which this is true, as in ``lambda x: x["lang"] == "en"``; an expression of the
            kind that ``FilterByExpression`` takes.
        splits: The names of the splits, which saves asking for them.
        requirements_list: Accepted for old cards.
    """

    path: str
    name: str | None = None
    data_dir: str | None = None
    split: str | None = None
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    revision: str | None = None
    streaming: bool | None = None
    filtering_lambda: str | None = None
    num_proc: int | None = None
    splits: list[str] | None = None

    @override
    def prepare(self) -> None:
        super().prepare()
        if self.filtering_lambda:
            compile_predicate(self.filtering_lambda)

    @override
    def default_policy(self) -> list[str] | None:
        return ["proprietary"] if os.path.exists(self.path) else ["public"]  # noqa: PTH110 - a hub id is not a path

    def dataset(self) -> hub.Dataset:
        """Return the dataset to load."""
        return hub.Dataset(
            path=self.path,
            name=self.name,
            data_dir=self.data_dir,
            data_files=self.data_files,
            revision=self.revision,
            streaming=bool(self.streaming),
            num_proc=self.num_proc,
            author=self.author,
        )

    @override
    def effects(self) -> Iterable[Effect]:
        return self.dataset().effects(self.label())

    @override
    def get_splits(self) -> list[str]:
        return self.splits if self.splits is not None else hub.split_names(self.dataset())

    @override
    def split_generator(self, split: str) -> Iterator[Row]:
        rows: Iterable[Row] = hub.rows(self.dataset(), split)
        if self.filtering_lambda:
            keep: Any = compile_predicate(self.filtering_lambda)
            rows = filter(keep, rows)
        yield from rows
