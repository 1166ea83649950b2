"""Bets against a null: tests of the mean of a finite exam that hold at every stopping time.

Questions are drawn without replacement from an exam of ``N``; scores ``x`` lie between 0 and 1. Somebody who believes
that the mean of all is at most ``m`` sells bets at the price mu_i(m) = (N m - S_{i-1}) / (N - i + 1), what he then
expects of the next score. Whoever buys them fairly cannot make his capital 20-fold with a chance above 1 in 20,
whenever he stops (Ville 1939); where he does, the belief is rejected (Waudby-Smith and Ramdas, arXiv 2006.04347 and
2010.09686).

Everything is vectorised: many exams at once for simulations, or many nulls at once for confidence sequences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from proctor.statistics.arrays import Floats

_CAP = 0.9
"""Share of the capital that a single bet may lose. With less, broken models take longer to be found; with all of it,
one answer against the bet would end it."""

_ROUNDING = 1e-9
"""Of a sum of scores: whatever is nearer to the null's sum than that is rounding, and no proof."""

_SPREAD, _SPREAD_WEIGHT = 0.015, 50.0
"""The variance of scores before there are any, and how many scores that guess weighs. Differences of two models of
which 6% of the answers differ have this variance (as shares of 1). Tried on exams of GSM8K's size with 2, 6 and 12%:
with a weight of 10 gates need a tenth more questions."""

_EDGE = 1e-12  # of prices: keeps logarithms finite where a price is 0 or 1


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy of betting that the mean is above the null.

    The stake is the gap over the variance plus the squared gap, which makes capital grow fastest where the gap is
    right (GRAPA, section B.2 of arXiv 2010.09686, with plug-in moments).

    Attributes:
        gap: How far above the null the mean is believed to be.
        memory: After how many scores the gap that was seen weighs as much as the belief; infinite for a belief that
            stays (the alternative that one hopes for).
        weight: Share of the first capital.
    """

    gap: float
    memory: float = math.inf
    weight: float = 1.0


class Bets:
    """The capital of a mixture of strategies, bet against "the mean is at most the null".

    Args:
        total: Questions of the whole exam.
        null: The null; one for each of several bets at once.
        strategies: How to bet; their weights are made to add up to 1.
        spread: Guess of the variance.
    """

    def __init__(self, total: int, null: ArrayLike, strategies: Sequence[Strategy], spread: float = _SPREAD) -> None:
        self.total = total
        self.null = np.asarray(null, dtype=np.float64)
        self.count = 0
        self._strategies = strategies
        weights = np.array([each.weight for each in strategies])
        self._parts = [np.log(weight / weights.sum()) + np.zeros(self.null.shape) for weight in weights]
        self._spread = spread
        self._sum: Any = np.zeros(self.null.shape)
        self._squares: Any = np.zeros(self.null.shape)
        self.highest: Floats = np.zeros(self.null.shape)
        """The largest logarithm of the capital so far."""

    def add(self, score: ArrayLike) -> Floats:
        """Take the next score (one for each bet, or one for all); return the logarithms of the capital."""
        x = np.asarray(score, dtype=np.float64)
        left = self.total - self.count
        price = np.clip((self.total * self.null - self._sum) / left, _EDGE, 1 - _EDGE)
        variance = self._variance()
        for place, strategy in enumerate(self._strategies):
            gap = self._gap(strategy) * (self.total / left)
            stake = np.clip(gap / (variance + gap * gap), 0.0, _CAP / price)
            self._parts[place] = self._parts[place] + np.log1p(stake * (x - price))
        self._sum, self._squares = self._sum + x, self._squares + x * x
        self.count += 1
        logs = self._mixture()
        self.highest = np.maximum(self.highest, logs)
        return logs

    def _gap(self, strategy: Strategy) -> Any:
        if math.isinf(strategy.memory):
            return strategy.gap
        seen = self._sum - self.count * self.null
        return np.maximum((strategy.memory * strategy.gap + seen) / (strategy.memory + self.count), 0.0)

    def _variance(self) -> Any:
        weight, count = _SPREAD_WEIGHT, self.count
        mean = (self._sum + weight * 0.5) / (count + weight)
        seen = self._squares - 2 * mean * self._sum + count * mean * mean
        return np.maximum((weight * self._spread + seen) / (count + weight), _EDGE)

    def _mixture(self) -> Floats:
        logs = np.asarray(self._parts)
        top = logs.max(axis=0)
        mixed = top + np.log(np.exp(logs - top).sum(axis=0))
        is_proven = self._sum > self.total * self.null + _ROUNDING * self.total
        return np.asarray(np.where(is_proven, np.inf, mixed))
