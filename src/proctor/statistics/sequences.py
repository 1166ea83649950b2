"""Confidence sequences: intervals of a mean that hold all along, however often one looks, and whenever one stops."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from proctor.statistics.betting import Bets, Strategy

_GRID = 200
"""Means that are bet against at once. Bounds are refined once more between two of them."""


_BETS = (Strategy(0.0, memory=20, weight=0.5), Strategy(0.1, memory=5, weight=0.2), Strategy(0.02, weight=0.3))
"""Whatever gap is seen; a large one at once, a small one at leisure."""


class ConfidenceSequence:
    """The interval of the mean of a finite exam whose questions are drawn without replacement, for scores from 0 to 1.

    A mean is left out once a bet against it has made its capital as large as the level wants (Waudby-Smith and
    Ramdas, arXiv 2010.09686, theorem 3 and section 4); with the bounds that what is left allows.

    Args:
        total: Questions of the whole exam.
        level: Chance that the interval holds the mean at all times.
        low, high: Means that are in question.
        spread: Guess of the variance.
    """

    def __init__(
        self, total: int, level: float = 0.95, low: float = 0.0, high: float = 1.0, spread: float = 0.1
    ) -> None:
        self.total = total
        self.means = np.linspace(low, high, _GRID + 1)
        self._enough = math.log(2.0 / (1.0 - level))
        self._up = Bets(total, self.means, _BETS, spread)
        self._down = Bets(total, 1.0 - self.means, _BETS, spread)
        self._least = 0.0
        self._most = float(total)

    @property
    def count(self) -> int:
        """Scores so far."""
        return self._up.count

    def add(self, score: float | None) -> None:
        """Take the next score; one that is missing may be anything."""
        low, high = (0.0, 1.0) if score is None else (score, score)
        self._up.add(low)
        self._down.add(1.0 - high)
        self._least += low
        self._most -= 1.0 - high

    def bounds(self) -> tuple[float, float]:
        """Return the interval: the outermost means that are not left out, and those next to them outside."""
        kept = np.flatnonzero((self._up.highest < self._enough) & (self._down.highest < self._enough))
        least, most = self._least / self.total, self._most / self.total
        if not kept.size:  # a mean between two of the grid
            middle = self._sum_between()
            first, last = middle
        else:
            first, last = max(int(kept[0]) - 1, 0), min(int(kept[-1]) + 1, len(self.means) - 1)
        return max(float(self.means[first]), least), min(float(self.means[last]), most)

    def _sum_between(self) -> tuple[int, int]:
        """Return the places between which no mean was left: above those that are too low, below those too high."""
        too_low = np.flatnonzero(self._up.highest >= self._enough)
        first = int(too_low[-1]) if too_low.size else 0
        return first, min(first + 1, len(self.means) - 1)


def mean_interval(scores: Iterable[float | None], total: int, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of a confidence sequence after some scores, refined to a hundredth of the grid.

    Args:
        scores: Between 0 and 1, in the order in which they were drawn; ``None`` where one is missing.
        total: Questions of the whole exam.
        level: Chance that the interval holds the mean at all times.
    """
    known = list(scores)
    coarse = _after(known, ConfidenceSequence(total, level))
    fine = [
        _after(known, ConfidenceSequence(total, level, max(0.0, bound - 1 / _GRID), min(1.0, bound + 1 / _GRID)))
        for bound in coarse
    ]
    return max(coarse[0], fine[0][0]), min(coarse[1], fine[1][1])


def _after(scores: list[float | None], sequence: ConfidenceSequence) -> tuple[float, float]:
    for score in scores:
        sequence.add(score)
    return sequence.bounds()
