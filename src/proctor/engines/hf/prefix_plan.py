"""Plans which tokens to read together, so that text shared by several sequences is read once.

The sequences of a window form a trie. It is cut into *steps*, each one forward pass over a single row of tokens:

* a *leaf step* holds a whole subtree: the choices of a question, or several questions one behind the other; who may
  look at whom follows from each token's parent;
* a *stem step* holds a shared prefix; what the model remembers of it is kept while the steps behind it run.

Nothing is padded, and at any moment the model remembers one path of stems, no longer than one sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from proctor.engines.encoder import Scorable

MIN_STEM = 16
"""Shared tokens that are worth a forward pass of their own."""


@dataclass(slots=True)
class Step:
    """One forward pass.

    Attributes:
        start: Tokens before this step, all of them in the model's memory.
        tokens: What to read.
        parents: For each token the index of the one before it in its sequence; -1 is the last remembered one.
        lookups: (token index, sequence, target id): which predictions are wanted.
        then: Steps that go on where this one ends; only behind a stem.
    """

    start: int
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    lookups: list[tuple[int, int, int]] = field(default_factory=list)
    then: list[Step] = field(default_factory=list)

    @property
    def is_line(self) -> bool:
        """Whether every token follows the one before it."""
        return all(parent == index - 1 for index, parent in enumerate(self.parents))

    def depths(self) -> list[int]:
        """Return the position of each token in its sequence."""
        found: list[int] = []
        for parent in self.parents:
            found.append(self.start if parent < 0 else found[parent] + 1)
        return found

    def sight(self) -> npt.NDArray[np.bool_]:
        """Return which token (row) may look at which (column) inside this step: its ancestors and itself."""
        size = len(self.tokens)
        seen = np.zeros((size, size), dtype=bool)
        for index, parent in enumerate(self.parents):
            if parent >= 0:
                seen[index] = seen[parent]
            seen[index, index] = True
        return seen


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a step's size.

    Attributes:
        tokens: Tokens in a leaf step, where it can be helped.
        stem: Tokens in any step.
        lookups: Wanted predictions in a step (each costs one row over the vocabulary).
        sequences: Sequences in a leaf step; ``None`` is any number.
    """

    tokens: int
    stem: int
    lookups: int
    sequences: int | None = None

    def halved(self) -> Limits:
        """Return limits for less memory."""
        return Limits(max(1, self.tokens // 2), max(1, self.stem // 2), max(1, self.lookups // 2), self.sequences)


def plan(sequences: Sequence[Scorable], limits: Limits) -> list[Step]:
    """Return the steps that score all sequences; sequence numbers in lookups are positions in ``sequences``."""
    if not sequences:
        return []
    arrays = [np.array(sequence.inputs, dtype=">u4") for sequence in sequences]
    order = sorted(range(len(arrays)), key=lambda index: arrays[index].tobytes())
    shared = [0, *(_common(arrays[a], arrays[b]) for a, b in pairwise(order))]
    return _Planner(sequences, order, shared, limits).steps(0, len(order), 0)


def _common(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> int:
    """Return the number of leading tokens that two sequences share."""
    size = min(len(first), len(second))
    different = np.flatnonzero(first[:size] != second[:size])
    return int(different[0]) if len(different) else size


class _Planner:
    """Cuts ranges of sorted sequences into steps. ``shared[i]`` counts the tokens that ``i`` shares with ``i - 1``."""

    def __init__(
        self, sequences: Sequence[Scorable], order: Sequence[int], shared: Sequence[int], limits: Limits
    ) -> None:
        self._order, self._shared, self._limits = order, shared, limits
        self._sorted = [sequences[index] for index in order]

    def steps(self, low: int, high: int, start: int) -> list[Step]:
        """Return the steps for sequences ``low`` to ``high``, whose first ``start`` tokens are remembered."""
        size = self._size(low, high, start)
        if self._fits(low, high, start, size):
            return [self._leaf(low, high, start)]
        fork = self._fork(low, high)
        if fork - start >= MIN_STEM or high - low == 1:
            rest = size - (fork - start)
            if rest <= self._limits.tokens // 4 and self._fits(low, high, start, size, self._limits.stem):
                return [self._leaf(low, high, start)]
            return [self._stem(low, high, start, min(fork, start + self._limits.stem))]
        return [step for part in self._parts(low, high, start, fork) for step in self.steps(*part, start)]

    def _fits(self, low: int, high: int, start: int, size: int, most: int | None = None) -> bool:
        limits = self._limits
        if limits.sequences is not None and high - low > limits.sequences:
            return False
        if size > (limits.tokens if most is None else most):
            return False
        return high - low == size == 1 or self._wanted(low, high, start) <= limits.lookups

    def _size(self, low: int, high: int, start: int) -> int:
        """Return the number of distinct tokens beyond ``start``."""
        first = len(self._sorted[low].inputs) - start
        return first + sum(
            len(self._sorted[index].inputs) - max(self._shared[index], start) for index in range(low + 1, high)
        )

    def _wanted(self, low: int, high: int, start: int) -> int:
        return sum(
            len(each.inputs) - max(len(each.inputs) - len(each.targets), start) for each in self._sorted[low:high]
        )

    def _fork(self, low: int, high: int) -> int:
        """Return how many tokens all sequences of a range share."""
        return min(self._shared[low + 1 : high], default=len(self._sorted[low].inputs))

    def _parts(self, low: int, high: int, start: int, fork: int) -> list[tuple[int, int]]:
        """Cut a range where its sequences part, and join neighbours again as long as they fit into one step."""
        cuts = [low, *(index for index in range(low + 1, high) if self._shared[index] == fork), high]
        parts: list[tuple[int, int]] = []
        for begin, end in pairwise(cuts):
            if parts and self._fits(parts[-1][0], end, start, self._size(parts[-1][0], end, start)):
                parts[-1] = (parts[-1][0], end)
            else:
                parts.append((begin, end))
        return parts

    def _stem(self, low: int, high: int, start: int, end: int) -> Step:
        tokens = list(self._sorted[low].inputs[start:end])
        step = Step(start, tokens, list(range(-1, len(tokens) - 1)))
        for index in range(low, high):
            self._look_up(step, index, start, end, range(end - start))
        if any(len(self._sorted[index].inputs) > end for index in range(low, high)):
            longer = next(index for index in range(low, high) if len(self._sorted[index].inputs) > end)
            step.then = self.steps(longer, high, end)
        return step

    def _leaf(self, low: int, high: int, start: int) -> Step:
        step, path = Step(start), list[int]()
        for index in range(low, high):
            inputs = self._sorted[index].inputs
            common = start if index == low else max(self._shared[index], start)
            del path[common - start :]
            for token in inputs[common:]:
                step.parents.append(path[-1] if path else -1)
                path.append(len(step.tokens))
                step.tokens.append(token)
            self._look_up(step, index, start, len(inputs), path)
        return step

    def _look_up(self, step: Step, index: int, start: int, end: int, path: Sequence[int]) -> None:
        """Note the predictions that a sequence wants at its tokens from ``start`` to ``end``."""
        each = self._sorted[index]
        offset = len(each.inputs) - len(each.targets)
        for position in range(max(offset, start), min(len(each.inputs), end)):
            step.lookups.append((path[position - start], self._order[index], each.targets[position - offset]))
