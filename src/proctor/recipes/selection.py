"""The instances to evaluate: one rule for the exams of every dialect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from proctor.errors import DataError
from proctor.ir import Failure
from proctor.ir.question import Ask

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Opened:
    """The rows of the split that an exam asks about.

    Attributes:
        rows: The rows in order, copies included; they may be iterated again. A :class:`~proctor.ir.Failure` stands
            where a row cannot be used.
        total: Returns how many they are, copies included; it may have to read them.
        pool: The rows that demos come from.
        copies: How often each instance stands among the rows (AISBench, OpenCompass: ``n``).
        in_blocks: Whether the copies of all rows stand behind each other, rather than those of one row.
        is_selected: Whether the rows are those that the selection wants already (Python classes select themselves).
    """

    rows: Iterable[Row | Failure]
    total: Callable[[], int]
    pool: Sequence[Row] = ()
    copies: int = 1
    in_blocks: bool = False
    is_selected: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The instances to evaluate.

    Attributes:
        limit: The first so many instances, or that share of them below 1; ``None`` for all.
        places: Positions of the instances; ``None`` for all. They win over :attr:`limit`.
        ceiling: Most instances, whatever the limit: what a benchmark sets for its members.
    """

    limit: float | None = None
    places: frozenset[int] | None = None
    ceiling: int | None = None

    def count(self, total: int) -> int:
        """Return how many of ``total`` instances are asked about; a share is rounded up."""
        total = total if self.ceiling is None else min(total, self.ceiling)
        if self.limit is None:
            return total
        return min(total, math.ceil(total * self.limit) if self.limit < 1 else int(self.limit))

    def end(self, opened: Opened) -> int | None:
        """Return how many of the first instances are asked about at most; ``None`` for all, without counting them."""
        if self.limit is not None and self.limit < 1:
            return self.count(opened.total() // opened.copies)
        known = [int(each) for each in (self.limit, self.ceiling) if each is not None]
        return min(known) if known else None


def chosen(opened: Opened, selection: Selection, name: str) -> Iterator[tuple[Ask, Row | Failure]]:
    """Yield the rows to ask about, in order, each with its place.

    Args:
        opened: The rows.
        selection: Which of them.
        name: The exam's, for messages.

    Raises:
        DataError: A position is not that of an instance.
    """
    if opened.is_selected:
        yield from ((Ask(place, place, 0, place), row) for place, row in enumerate(opened.rows))
        return
    if selection.places is not None:
        _check_places(opened, selection.places, name)
    elif opened.copies == 1:
        yield from (
            (Ask(place, place, 0, place), row) for place, row in enumerate(islice(opened.rows, selection.end(opened)))
        )
        return
    for asked, (place, number, repeat, row) in enumerate(_placed(opened, selection)):
        yield Ask(place, number, repeat, asked if opened.copies > 1 else number), row


def _placed(opened: Opened, selection: Selection) -> Iterator[tuple[int, int, int, Row | Failure]]:
    """Yield place, number and repeat of the rows to ask about, with the row."""
    end = None if selection.places is not None else selection.end(opened)
    size = opened.total() // opened.copies if opened.in_blocks and opened.copies > 1 else 0
    for place, row in enumerate(opened.rows):
        repeat, number = divmod(place, size) if size else divmod(place, opened.copies)[::-1]
        if selection.places is not None:
            wanted = number in selection.places
        elif not (wanted := end is None or number < end) and not size:
            return
        if wanted:
            yield place, number, repeat, row


def _check_places(opened: Opened, places: Iterable[int], name: str) -> None:
    total = opened.total() // opened.copies
    outside = sorted(each for each in places if not 0 <= each < total)
    if outside:
        raise DataError(
            f"the exam '{name}' has no instance {', '.join(map(str, outside[:5]))}",
            why=f"it has {total}, counted from 0",
            hint="--samples names positions of instances",
        )
