"""The instances of a recipe's split and the demos they are shown, as an exam opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from proctor.data.row_failures import RowFailures
from proctor.data.streams import MultiStream, Stream
from proctor.demos import DemoPool
from proctor.errors import DataError, did_you_mean
from proctor.ir import Failure
from proctor.ir.question import Ask
from proctor.logs import get_logger
from proctor.randomness import drawn_with, seeded
from proctor.recipes.exam_parts import Demos
from proctor.recipes.pipeline import Pipeline
from proctor.recipes.plan import Instance
from proctor.recipes.pool_draw import PoolDraw
from proctor.recipes.selection import Opened, Row, Selection


class RecipeRows:
    """The rows of one split.

    Args:
        name: The exam's, for messages.
        pipeline: The compiled recipe.
        split: Which split is asked about.
        seed: Seed of what the steps draw (orders, samples, changes of words); ``None`` for ``settings.seed``.
    """

    def __init__(self, name: str, pipeline: Pipeline, split: str, seed: int | None = None) -> None:
        self._name = name
        self._pipeline = pipeline
        self._split = split
        self._seed = seed
        self._opened: Opened | None = None

    def open(self, selection: Selection) -> Opened:
        """Return the instances of the split, and the demo pool.

        Raises:
            DataError: The data has no such split.
            ProctorError: The data cannot be loaded, or the demo pool not be drawn.
        """
        del selection  # streams are read as far as the core asks
        if self._opened is None:  # the exam and its copies (with groups, with another limit) share them
            self._opened = self._open()
        return self._opened

    def _open(self) -> Opened:
        failures = RowFailures()
        with seeded(self._seed), failures:
            pool, streams = self._pipeline.instances.opened()
        if self._split not in streams:
            raise DataError(
                f"the exam '{self._name}' asks about the split '{self._split}', which its data does not have",
                why=f"the splits are {', '.join(streams)}",
                hint=did_you_mean(self._split, streams) or f"{self._name}[split={next(iter(streams), 'test')}]",
            )
        if unusable := failures.take():
            get_logger().warning("%s: %d rows cannot be demos; the first: %s", self._name, len(unusable), unusable[0])
        rows = _Rows(self._name, streams[self._split], self._seed)
        return Opened(rows, rows.total, pool if pool is not None else ())

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the streams after each step, with a word on what it did."""
        return drawn_with(self._seed, self._pipeline.stages())


class _Rows:
    """Instances, with a failure where a row cannot be used; they may be iterated again."""

    def __init__(self, name: str, stream: Stream, seed: int | None) -> None:
        self._name = name
        self._stream = stream
        self._seed = seed
        self._total: int | None = None

    def __iter__(self) -> Iterator[Row | Failure]:
        failures = RowFailures()
        rows = self._read(failures)
        for row in rows if self._seed is None else drawn_with(self._seed, rows):
            if failures.count:
                yield from self._failed(failures)
            yield row
        yield from self._failed(failures)

    def _read(self, failures: RowFailures) -> Iterator[Instance]:
        iterator = iter(self._stream)
        while True:
            with failures:
                row = next(iterator, None)
            if row is None:
                return
            yield row

    def _failed(self, failures: RowFailures) -> Iterator[Failure]:
        for error in failures.take():
            yield Failure("row", str(error.within(f"{self._name}:")), retryable=False)

    def total(self) -> int:
        """Return how many they are; they are read once for it, and nothing is put in words."""
        if self._total is None:
            self._total = sum(1 for _ in self)
        return self._total


class RecipeDraw:
    """The draw of a recipe's demos: of each instance by itself.

    Args:
        draw: The compiled draw.
    """

    def __init__(self, draw: PoolDraw) -> None:
        self._draw = draw

    def bind(self, opened: Opened, seed: int | None) -> Callable[[Ask, Row], Demos]:
        """Return a function from an instance to its demos: places in the pool, or instances that it brings along."""
        pool = opened.pool if isinstance(opened.pool, DemoPool) else None

        def demos_of(ask: Ask, row: Row) -> Demos:
            del ask
            with seeded(seed):
                chosen = self._draw.demos_of(cast("Instance", row), pool)
            return tuple([_place_in(pool, each) for each in chosen]) if chosen else ()

        return demos_of


def _place_in(pool: DemoPool | None, demo: Instance) -> int | Instance:
    place = None if pool is None else pool.place_of(demo)
    return demo if place is None else place
