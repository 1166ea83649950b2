"""Plans which tokens to read together, so that text shared by several sequences is read once.

The sequences of a window form a trie. It is cut into *steps*, each one forward pass over a single row of tokens:

* a *leaf step* holds a whole subtree: the choices of a question, or several questions one behind the other; who may
  look at whom follows from where the subtree of each token ends;
* a *stem step* holds a shared prefix; what the model remembers of it is kept while the steps behind it run.

At any moment the model remembers one path of stems, no longer than one sequence. Steps are planned when they are asked
for, while a GPU still computes the ones before.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from proctor.engines.encoder import Scorable

MIN_STEM = 16
"""Shared tokens that are worth a forward pass of their own."""
_COMPARED = 64  # sequences that are laid out side by side: a long one makes few others as wide
_WRITTEN = np.dtype(">u4")  # bytes in the order of the numbers
_BYTES = _WRITTEN.itemsize
_Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class Step:
    """One forward pass over tokens in the order in which a walk through their trie meets them, parents first.

    Attributes:
        start: Tokens before this step, all of them in the model's memory.
        tokens: What to read.
        depths: The position of each token in its sequence.
        ends: For each token the index behind its subtree: the tokens before that, from itself on, look at it.
        lookups: Rows of (token index, sequence, target id): which predictions are wanted.
        then: Steps that go on where this one ends; only behind a stem.
    """

    start: int
    tokens: _Ints
    depths: _Ints
    ends: _Ints
    lookups: _Ints = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    then: Iterable[Step] = ()

    @property
    def is_line(self) -> bool:
        """Whether every token follows the one before it."""
        return bool((self.ends == len(self.tokens)).all())


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a step's size.

    Attributes:
        tokens: Tokens in a leaf step, where it can be helped.
        stem: Tokens in any step.
        lookups: Wanted predictions in a step (each costs one row over the vocabulary).
        sequences: Sequences in a leaf step; ``None`` is any number.
        batch: Tokens, padding included, of steps that run together as rows, where they share too little; 0 where
            every step runs alone.
    """

    tokens: int
    stem: int
    lookups: int
    sequences: int | None = None
    batch: int = 0

    def halved(self) -> Limits:
        """Return limits for less memory."""
        tokens, stem, lookups = (max(1, each // 2) for each in (self.tokens, self.stem, self.lookups))
        return replace(self, tokens=tokens, stem=stem, lookups=lookups, batch=self.batch // 2)


def plan(sequences: Sequence[Scorable], limits: Limits) -> Iterator[list[Step]]:
    """Yield the steps that score all sequences, each with those that run beside it as rows.

    Sequence numbers in lookups are positions in ``sequences``. The steps in ``then`` run alone.
    """
    waiting: list[Step] = []
    for step in _Planner(sequences, limits).steps(0, len(sequences), 0) if sequences else ():
        if step.then or not limits.batch:
            yield [step]
        else:
            waiting.append(step)
    yield from _rows(sorted(waiting, key=lambda each: len(each.tokens)), limits)


def _rows(steps: Sequence[Step], limits: Limits) -> Iterator[list[Step]]:
    """Put steps of similar lengths together."""
    rows: list[Step] = []
    wanted = 0
    for step in steps:
        wanted += len(step.lookups)
        if rows and ((len(rows) + 1) * len(step.tokens) > limits.batch or wanted > limits.lookups):
            yield rows
            rows, wanted = [], len(step.lookups)
        rows.append(step)
    if rows:
        yield rows


class _Planner:
    """Cuts ranges of sorted sequences into steps.

    Node ``p`` of sequence ``i`` is its token at position ``p``, where it is not shared with the sequence before; nodes
    are numbered through all sequences, so that those of a range lie side by side.
    """

    def __init__(self, sequences: Sequence[Scorable], limits: Limits) -> None:
        self._limits = limits
        written = [_written(each.inputs) for each in sequences]
        order = sorted(range(len(written)), key=written.__getitem__)
        self._written = [written[index] for index in order]
        self._lengths = lengths = np.array([len(each) // _BYTES for each in self._written])
        self._shared = shared = _shared(self._written)
        counts = lengths - shared[:-1]
        self._first = np.concatenate(([0], counts.cumsum()))  # node of each sequence, and behind the last
        behind = np.repeat(np.arange(1, len(order) + 1), counts)
        self._depths = np.arange(len(behind)) + np.repeat(shared[:-1] - self._first[:-1], counts)
        self._behind = _first_within(_least(shared), behind, self._depths)  # the sequence behind its subtree
        beginnings = (shared[:-1] * _BYTES).tolist()
        own = b"".join(each[begin:] for each, begin in zip(self._written, beginnings, strict=True))
        self._tokens = np.frombuffer(own, _WRITTEN)
        self._note_targets([sequences[index].targets for index in order], np.array(order))

    def _note_targets(self, targets: Sequence[Sequence[int]], order: _Ints) -> None:
        """Note every wanted prediction: its position, and which sequence has the node there."""
        counts = np.array([len(each) for each in targets])
        self._wanted = np.concatenate(([0], counts.cumsum()))
        own = np.repeat(np.arange(len(order)), counts)
        self._at = np.arange(len(own)) + np.repeat(self._lengths - counts - self._wanted[:-1], counts)
        self._asked = np.stack((order[own], np.fromiter(chain.from_iterable(targets), np.int64, len(own))), axis=1)
        last = len(order) - 1
        holders = last - _first_within(_least(self._shared[last::-1]), last - own, self._at)
        self._nodes = self._first[holders] + self._at - self._shared[holders]

    def steps(self, low: int, high: int, start: int) -> Iterator[Step]:
        """Yield the steps for sequences ``low`` to ``high``, whose first ``start`` tokens are remembered."""
        size = self._size(low, high, start)
        fork = int(self._shared[low + 1 : high].min()) if high - low > 1 else int(self._lengths[low])
        cuts = low + 1 + np.flatnonzero(self._shared[low + 1 : high] == fork)
        # Rows read again what they share: a quarter more tokens cost less than attention over all of them at once.
        apart = bool(self._limits.batch) and start == 0 and len(cuts) > 0 and 4 * fork * len(cuts) <= size
        if not apart and self._fits(low, high, start, size):
            yield self._leaf(low, high, start)
        elif not apart and (fork - start >= MIN_STEM or high - low == 1):
            rest = size - (fork - start)
            if rest <= self._limits.tokens // 4 and self._fits(low, high, start, size, self._limits.stem):
                yield self._leaf(low, high, start)
            else:
                yield self._stem(low, high, start, min(fork, start + self._limits.stem))
        else:
            ends = [*cuts.tolist(), high]
            for part in pairwise([low, *(ends if apart else self._joined(low, ends, start))]):
                yield from self.steps(*part, start)

    def _fits(self, low: int, high: int, start: int, size: int, most: int | None = None) -> bool:
        limits = self._limits
        if limits.sequences is not None and high - low > limits.sequences:
            return False
        if size > (limits.tokens if most is None else most):
            return False
        begin, end = self._wanted[low], self._wanted[high]
        few = high - low == size == 1 or end - begin <= limits.lookups
        return bool(few or np.count_nonzero(self._at[begin:end] >= start) <= limits.lookups)

    def _size(self, low: int, high: int, start: int) -> int:
        """Return the number of distinct tokens beyond ``start``."""
        return int(self._lengths[low] - start + self._first[high] - self._first[low + 1])

    def _joined(self, low: int, ends: Sequence[int], start: int) -> Iterator[int]:
        """Yield where parts end, neighbours put together as long as they fit into one step."""
        nodes, wanted = self._first[ends].tolist(), self._wanted[ends].tolist()
        done = 0
        while done < len(ends):
            room = self._limits.tokens - self._size(low, low + 1, start) + self._first[low + 1]
            most = bisect_right(nodes, room), bisect_right(wanted, self._wanted[low] + self._limits.lookups)
            several = self._limits.sequences
            count = len(ends) if several is None else bisect_right(ends, low + several)
            done = max(done + 1, min(*most, count))
            low = ends[done - 1]
            yield low

    def _line(self, low: int, start: int, end: int) -> _Ints:
        return np.frombuffer(self._written[low], _WRITTEN)[start:end].astype(np.int64)

    def _stem(self, low: int, high: int, start: int, end: int) -> Step:
        step = Step(start, self._line(low, start, end), np.arange(start, end), np.full(end - start, end - start))
        step.lookups = self._lookups(low, high, start, end)
        longer = low + int(np.count_nonzero(self._lengths[low:high] == end))  # the shortest are the first
        if longer < high:
            step.then = self.steps(longer, high, end)
        return step

    def _leaf(self, low: int, high: int, start: int) -> Step:
        shared = int(self._shared[low])
        # What the first sequence shares with those before the range is not among its own nodes.
        again = np.arange(start, max(start, shared))
        least = np.minimum.accumulate(self._shared[low + 1 : high])
        own = slice(int(self._first[low]) + max(0, start - shared), int(self._first[high]))
        behind = np.concatenate((low + 1 + np.searchsorted(-least, -again), self._behind[own]))
        return Step(
            start,
            np.concatenate((self._line(low, start, start + len(again)), self._tokens[own])),
            np.concatenate((again, self._depths[own])),
            self._first[np.minimum(behind, high)] - self._offset(low, start),
            self._lookups(low, high, start),
        )

    def _offset(self, low: int, start: int) -> int:
        """Return the node that a leaf's first token is, or would be."""
        return int(self._first[low] - self._shared[low]) + start

    def _lookups(self, low: int, high: int, start: int, end: int | None = None) -> _Ints:
        """Return the predictions that sequences want from ``start`` on; to ``end`` of a stem, which is one line."""
        part = slice(self._wanted[low], self._wanted[high])
        at = self._at[part]
        is_on_line = at < (self._shared[low] if end is None else end)
        nodes = np.where(is_on_line, at - start, self._nodes[part] - self._offset(low, start))
        found = np.concatenate((nodes[:, None], self._asked[part]), axis=1)
        kept: _Ints = found[(at >= start) & (is_on_line if end is not None else True)]
        return kept


def _written(tokens: Sequence[int]) -> bytes:
    found = array("I", tokens)
    if sys.byteorder == "little":
        found.byteswap()
    return found.tobytes()


def _shared(written: Sequence[bytes]) -> _Ints:
    """Return how many tokens each sequence shares with the one before; 0 for the first, and behind the last."""
    shared = np.zeros(len(written) + 1, dtype=np.int64)
    for low in range(0, len(written) - 1, _COMPARED):
        rows = written[low : low + _COMPARED + 1]
        width = max(map(len, rows)) + _BYTES  # behind its end, each row differs from the next
        laid = b"".join(row.ljust(width, b"\xff" if index % 2 else b"\xfe") for index, row in enumerate(rows))
        table = np.frombuffer(laid, np.uint32).reshape(len(rows), -1)
        shared[low + 1 : low + len(rows)] = (table[1:] != table[:-1]).argmax(axis=1)
    return shared


def _least(values: _Ints) -> list[_Ints]:
    """Return the least of the 1, 2, 4 … values from each on, so that a search needs few looks; the last value is 0."""
    found = [values]
    while (width := 1 << (len(found) - 1)) < len(values):
        before = found[-1]
        found.append(np.minimum(before, np.concatenate((before[width:], np.zeros(width, dtype=np.int64)))))
    return found


def _first_within(least: Sequence[_Ints], at: _Ints, most: _Ints) -> _Ints:
    """Return the first index from each of ``at`` on whose value is at most ``most``."""
    found = at.copy()
    left = np.flatnonzero(least[0][at] > most)
    here, bound = at[left], most[left]
    for level in range(len(least) - 1, -1, -1):
        here = here + ((least[level][here] > bound) << level)
    found[left] = here
    return found
