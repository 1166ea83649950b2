"""Sequential gates: is the mean of an exam at least a threshold? Decided as early as the answers allow, either way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from proctor.statistics.betting import Bets, Strategy

Verdict = Literal["passed", "failed", "undecided"]

_CAUTION = math.log(1.1)
"""A verdict needs a tenth more capital than Ville's inequality asks for: exactly at the margin the bound is all but
reached, and what is counted in a simulation of ten thousand gates should stay below it, too."""

_LARGE = 0.1
"""The gap that a search for broken models begins with, as a share of 1: twenty points of a difference."""


def _not_below(margin: float) -> tuple[Strategy, ...]:
    """Return bets that a difference is above the threshold: mostly that the models are equal, else what is seen."""
    return Strategy(margin, weight=0.9), Strategy(margin, memory=50, weight=0.1)


def _not_above(margin: float) -> tuple[Strategy, ...]:
    """Return bets that a difference is below it: whatever is seen, from a large loss on; or a loss of as much again."""
    return Strategy(_LARGE, memory=10, weight=0.7), Strategy(max(margin, 0.005) * 2, weight=0.3)


def _either(gap: float) -> tuple[Strategy, ...]:
    return Strategy(gap, memory=20, weight=0.6), Strategy(gap / 2, weight=0.4)


def capital_for(alpha: float) -> float:
    """Return the logarithm of the capital with which a verdict has an error of at most ``alpha``."""
    return _CAUTION - math.log(alpha)


@dataclass
class GateTest:
    """Tests at once whether a mean is at least a threshold, and whether it is below.

    Scores are between 0 and 1. An answer that failed has no score; it counts against either verdict: as 0 where the
    mean is to be at least the threshold, as 1 where it is to be below.

    Attributes:
        total: Questions of the whole exam.
        threshold: What the mean has to be at least.
        margin: How far the threshold lies below what is expected; ``None`` where nothing is expected.
        spread: Guess of the scores' variance.
    """

    total: int
    threshold: float
    margin: float | None = None
    spread: float = 0.015
    above: Bets = field(init=False)
    below: Bets = field(init=False)

    def __post_init__(self) -> None:
        bets = (
            (_either(0.1), _either(0.1)) if self.margin is None else (_not_below(self.margin), _not_above(self.margin))
        )
        self.above = Bets(self.total, self.threshold, bets[0], self.spread)
        self.below = Bets(self.total, 1.0 - self.threshold, bets[1], self.spread)
        self._lowest = self._largest = 0.0

    def add(self, score: float | None) -> None:
        """Take the score of the next question in the drawn order; ``None`` where there is none."""
        self.add_between(*((0.0, 1.0) if score is None else (score, score)))

    def add_between(self, low: float, high: float) -> None:
        """Take a score of which only bounds are known."""
        self.above.add(low)
        self.below.add(1.0 - high)
        self._lowest += low
        self._largest += high

    def verdict(self, alpha: float = 0.05) -> Verdict:
        """Return what is certain by now, each way with an error of at most ``alpha``; all asked, without any."""
        if self.above.count == self.total and (known := self._exact()) != "undecided":
            return known
        enough = capital_for(alpha)
        if self.above.highest >= enough:
            return "passed"
        return "failed" if self.below.highest >= enough else "undecided"

    def _exact(self) -> Verdict:
        needed = (self.threshold - _TIE) * self.total
        if self._lowest >= needed:
            return "passed"
        return "failed" if self._largest < needed else "undecided"


_TIE = 1e-9  # of a sum of scores: a difference of exactly the margin passes, however its sum was rounded
