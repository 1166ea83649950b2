"""Pairs the instances of two runs by content, whatever their order and whatever was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from proctor.recipes.fingerprint import instance_digest
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import ScoredLines
from proctor.scoring.assertions import ASSERTIONS
from proctor.statistics.arrays import Indices

SHARED = 0.5
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

    first: Indices
    second: Indices
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


class SharedLines:
    """The instances of an exam of one run and of an exam of another, in pairs.

    Rows are paired by their content. Where both exams have rows of their own, and one has columns that the other lacks,
    by the columns that both have, if these tell rows apart as well as all do: a column more that nobody shows makes no
    other question. Where each has some of its own, what was asked and is right has to be equal, too.

    What is left on both sides is paired by what was sent and is right: a value that nobody shows makes no other
    question. Where a judge reads the rows, or each row asserts what holds of its answer, it does, and nothing is.

    Attributes:
        first, second: The instances, with the digests by which they are paired.
        pairs: The pairs.
        columns: The columns that only one of them has, where they were left out.
        as_sent: How many are paired by what was sent and is right.
    """

    def __init__(self, one: SampleIndex, exam: str, two: SampleIndex, other: str) -> None:
        self.first, self.second = one.scored(exam), two.scored(other)
        self._is_judged = exam in one.judged or other in two.judged
        self.pairs, self.columns, self.as_sent = paired(self.first, self.second), frozenset[str](), 0
        if not (self.pairs.alone_first and self.pairs.alone_second) or self.pairs.by == "number":
            return
        rows = _records_by_number(one, exam), _records_by_number(two, other)
        self._pair_by_columns(rows)
        if not (self._is_judged or any(map(_asserts, rows))) and self.pairs.alone_first and self.pairs.alone_second:
            self._pair_as_sent(rows)

    def _pair_by_columns(self, rows: tuple[Records, Records]) -> None:
        mine, theirs = ({name for each in side.values() for name in _row_of(each)} for side in rows)
        common = mine & theirs
        if not common or mine == theirs:
            return
        is_part = common in (mine, theirs)
        lines = [
            _lines_by(common, each, side, is_part) for each, side in zip((self.first, self.second), rows, strict=True)
        ]
        pairs = paired(*lines)
        if any(_kinds(each) < _kinds(all_of) for each, all_of in zip(lines, (self.first, self.second), strict=True)):
            return
        if len(pairs) > len(self.pairs):
            (self.first, self.second), self.pairs, self.columns = lines, pairs, frozenset(mine ^ theirs)

    def _pair_as_sent(self, rows: tuple[Records, Records]) -> None:
        """Pair what is left by prompts, continuations and references."""
        sides, taken = (self.first, self.second), (self.pairs.first, self.pairs.second)
        left = [np.setdiff1d(np.arange(len(side.numbers)), used) for side, used in zip(sides, taken, strict=True)]
        lines = [
            _lines_by(
                set(), ScoredLines(side.numbers[kept], side.digests[kept], side.scores[kept]), records, is_part=False
            )
            for side, kept, records in zip(sides, left, rows, strict=True)
        ]
        more = paired(*lines)
        self.as_sent = len(more) if more.by == "content" else 0
        if self.as_sent:
            first = np.concatenate([taken[0], left[0][more.first]])
            second = np.concatenate([taken[1], left[1][more.second]])
            order = np.argsort(first)
            self.pairs = Pairs(first[order], second[order], more.alone_first, more.alone_second)


Records = Mapping[int, Mapping[str, Any]]


def _kinds(lines: ScoredLines) -> int:
    return len(np.unique(lines.digests))


def _records_by_number(index: SampleIndex, exam: str) -> Records:
    return {each["doc_id"]: each for each in index.records(exam) if isinstance(each.get("doc_id"), int)}


def _asserts(records: Records) -> bool:
    return any(ASSERTIONS in (each.get("scores") or ()) for each in records.values())


def _row_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    row = record.get("input")
    return row if isinstance(row, Mapping) else {}


def _lines_by(columns: set[str], lines: ScoredLines, records: Records, is_part: bool) -> ScoredLines:
    """Return instances with the digest of some of their columns, and of the words that were sent where those count."""
    words = () if is_part else ("prompt", "continuations", "references")

    def digest(number: int) -> int:
        record = records.get(number)
        if record is None or (words and record.get("prompt") is None):
            return 0
        row = {name: value for name, value in _row_of(record).items() if name in columns}
        found = instance_digest({**row, **{f"⟨{name}⟩": record.get(name) for name in words}})
        return int.from_bytes(bytes.fromhex(found), signed=True)

    return lines._replace(digests=np.array([digest(int(number)) for number in lines.numbers], dtype=np.int64))


def _made(
    first: ScoredLines, second: ScoredLines, keys: Indices, others: Indices, by: Literal["content", "number"]
) -> Pairs:
    _, here, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    return Pairs(here, there, len(first.numbers) - len(here), len(second.numbers) - len(there), by)


def _keys(first: Indices, second: Indices) -> tuple[Indices, Indices]:
    """Return a number for each digest and how often it stood before, so that no two of one side are equal."""
    found, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    most = max(len(first), len(second), 1)
    del found
    mine, theirs = numbers[: len(first)], numbers[len(first) :]
    return mine * most + _times_before(mine), theirs * most + _times_before(theirs)


def _times_before(values: Indices) -> Indices:
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
    others = [name for name in theirs if name not in mine]
    for name in (each for each in mine if each not in theirs):
        shares = {other: _share(first, name, second, other) for other in others}
        best = max(shares, key=lambda other: shares[other], default=None)
        if best is not None and shares[best] >= SHARED:
            found.append((name, best))
            others.remove(best)
    order = {name: place for place, name in enumerate(mine)}
    return sorted(found, key=lambda pair: order[pair[0]])


def _share(first: SampleIndex, exam: str, second: SampleIndex, other: str) -> float:
    lines = SharedLines(first, exam, second, other)
    counts = [len(each.numbers) for each in (lines.first, lines.second) if each.digests.any()]
    common = len(lines.pairs)
    return common / min(counts) if len(counts) == 2 and common >= _FEWEST else 0.0  # noqa: PLR2004 - both
