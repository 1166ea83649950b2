"""Pairs the instances of two runs by content, whatever their order and whatever was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from proctor.runs.sample_index import SampleIndex, ScoredLines

Positions = NDArray[np.int64]

_SHARED = 0.5
"""Of the smaller exam's instances two exams of different names must have in common to be taken for the same questions:
two prompts on one data set share all, two data versions most; exams that share a few rows by chance share few."""

_FEWEST = 2  # pairs: the spread of one difference is not defined


@dataclass(frozen=True, slots=True)
class Pairs:
    """The instances that two exams have in common.

    Attributes:
        first, second: Positions among the instances of either, pair by pair.
        alone_first, alone_second: How many instances only one of them has.
        by: What says that two are the same: their content, or their numbers where neither run holds content.
    """

    first: Positions
    second: Positions
    alone_first: int
    alone_second: int
    by: Literal["content", "number"] = "content"

    def __len__(self) -> int:
        return len(self.first)


def paired(first: ScoredLines, second: ScoredLines) -> Pairs:
    """Return the pairs of two exams; of instances with equal content the first is paired with the first, and so on."""
    if not first.digests.any() and not second.digests.any():
        return _made(first, second, first.numbers, second.numbers, "number")
    known, others = np.flatnonzero(first.digests), np.flatnonzero(second.digests)
    keys, other_keys = _keys(first.digests[known], second.digests[others])
    _, here, there = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    order = np.argsort(known[here], kind="stable")
    mine, theirs = known[here][order], others[there][order]
    return Pairs(mine, theirs, len(first.numbers) - len(mine), len(second.numbers) - len(theirs))


def _made(
    first: ScoredLines, second: ScoredLines, keys: Positions, others: Positions, by: Literal["content", "number"]
) -> Pairs:
    _, here, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    return Pairs(here, there, len(first.numbers) - len(here), len(second.numbers) - len(there), by)


def _keys(first: Positions, second: Positions) -> tuple[Positions, Positions]:
    """Return a number for each digest and how often it stood before, so that no two of one side are equal."""
    found, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    most = max(len(first), len(second), 1)
    del found
    mine, theirs = numbers[: len(first)], numbers[len(first) :]
    return mine * most + _times_before(mine), theirs * most + _times_before(theirs)


def _times_before(values: Positions) -> Positions:
    """Return for each value how many equal ones stand before it."""
    if not len(values):
        return values
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(values)))
    counts = np.empty_like(values)
    counts[order] = np.arange(len(values)) - np.repeat(starts, lengths)
    return counts


def matched_exams(first: SampleIndex, second: SampleIndex) -> list[tuple[str, str]]:
    """Return the exams of two runs that are compared: those of one name, and those with the same instances."""
    mine, theirs = first.exams(), second.exams()
    found = [(name, name) for name in mine if name in theirs]
    left = [name for name in mine if name not in theirs]
    others = {name: second.scored(name) for name in theirs if name not in mine}
    for name in left:
        lines = first.scored(name)
        shares = {other: _share(lines, each) for other, each in others.items()}
        best = max(shares, key=lambda other: shares[other], default=None)
        if best is not None and shares[best] >= _SHARED:
            found.append((name, best))
            del others[best]
    order = {name: place for place, name in enumerate(mine)}
    return sorted(found, key=lambda pair: order[pair[0]])


def _share(first: ScoredLines, second: ScoredLines) -> float:
    if not first.digests.any() or not second.digests.any():
        return 0.0
    common = len(paired(first, second))
    return common / min(len(first.numbers), len(second.numbers)) if common >= _FEWEST else 0.0
