"""Pairs of right and wrong answers: McNemar's exact test, the interval that agrees with it, its power.

Of n pairs, ``won`` are right in the second run only and ``lost`` in the first only. The difference of the two shares is
``discordant * (2 * second - 1)``, where ``discordant`` is the share of pairs that differ and ``second`` the share of
these that the second run won. Given how many pairs differ, ``won`` is binomial with ``second``: McNemar's exact test
asks whether that is one half.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from proctor.lazy import np
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.distributions import beta_cdf, beta_quantile, binomial_cdf, normal_cdf, normal_quantile
from proctor.statistics.intervals import Interval

POWER = 0.8
"""Four times out of five: what studies plan with."""

_NODES = 48  # of Gauss and Legendre over eighteen standard deviations of a share: exact to 1e-12
_STEPS = 60
_HALVINGS = 9  # down to 0.002, within which the functions here are smooth
_CLOSE = 1e-14  # of a chance, and between two bounds
_MOST_COUNTS = 160  # numbers of differing pairs that a power is summed over; between them it is smooth
_MANY = 300  # differing pairs, from which on the exact test and its normal limit have the same power within 0.003
_MOST_PAIRS = 1 << 40


def mcnemar_p(won: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test: twice the smaller binomial tail, 1 at most."""
    return min(1.0, 2 * binomial_cdf(min(lost, won), lost + won, 0.5)) if lost + won else 1.0


@lru_cache(maxsize=4096)
def melded_interval(won: int, lost: int, pairs: int, level: float = 0.95) -> Interval:
    """Return the interval of a difference of paired shares that agrees with McNemar's exact test.

    It leaves out 0 exactly where :func:`mcnemar_p` is below ``1 - level``, and never has width 0. Exact distributions
    of the two shares (Clopper and Pearson) are melded: the lower bound is a quantile of
    ``discordant * (2 * second - 1)`` with ``second ~ Beta(won, lost + 1)``, and with
    ``discordant ~ Beta(differing, pairs - differing + 1)`` where the product is positive,
    ``Beta(differing + 1, pairs - differing)`` where it is negative; the upper bound mirrors it (Fay and Lumbard 2021,
    Statistics in Medicine 40:1147, after Fay, Proschan and Brittain 2015, Biometrics 71:146).

    Args:
        won, lost: Pairs of which only the second, or only the first is right.
        pairs: All pairs.
        level: Confidence level.
    """
    alpha = 1.0 - level
    is_outside = mcnemar_p(won, lost) < alpha
    low = _lower(won, lost, pairs, alpha / 2, is_positive=is_outside and won > lost)
    high = -_lower(lost, won, pairs, alpha / 2, is_positive=is_outside and lost > won)
    return Interval(low, high)


def _lower(won: int, lost: int, pairs: int, alpha: float, *, is_positive: bool) -> float:
    """Return the lower bound of the difference with an error of ``alpha``, above 0 or not."""
    differing = won + lost
    if not won:  # the second run may win none: the bound is the largest share that the first may win
        return -beta_quantile(1.0 - alpha, differing + 1.0, pairs - differing) if differing < pairs else -1.0
    if is_positive:
        above = _Discordant(differing, pairs - differing + 1)
        return root_of(lambda bound: above.mean_tail(bound, won, lost) - alpha)
    below = _Discordant(differing + 1, pairs - differing)
    return -root_of(lambda bound: alpha - below.mean_tail(-bound, won, lost))


def root_of(rising: Callable[[float], float]) -> float:
    """Return where in [0, 1] a smooth rising function is 0: 0 or 1 where it is above or below all along.

    Halves until the function is all but straight, then false positions that are corrected on both sides (Illinois).
    """
    low, high, below, above = 0.0, 1.0, rising(0.0), rising(1.0)
    if below >= 0.0 or above <= 0.0:
        return 0.0 if below >= 0.0 else 1.0
    side = 0
    for step in range(_STEPS):
        is_rough = step < _HALVINGS
        middle = (low + high) / 2 if is_rough else (low * above - high * below) / (above - below)
        value = rising(middle)
        if abs(value) < _CLOSE or high - low < _CLOSE:
            return middle
        if value < 0.0:
            low, below, above, side = middle, value, above / (1 + (side < 0 and not is_rough)), -1
        else:
            high, above, below, side = middle, value, below / (1 + (side > 0 and not is_rough)), 1
    return (low + high) / 2


@lru_cache(maxsize=1)
def _quadrature() -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss and Legendre, which are the same every time."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


class _Discordant:
    """A Clopper-Pearson distribution of the share of pairs that differ: ``Beta(a, b)``."""

    def __init__(self, a: int, b: int) -> None:
        self.a, self.b = a, b
        total = a + b
        spread = 9 * math.sqrt(a * max(b, 1) / total)
        self.low, self.high = max(0.0, (a - spread - 9) / total), min(1.0, (a + spread + 30) / total)
        self.nodes, self.weights = _quadrature()

    def mean_tail(self, difference: float, won: int, lost: int) -> float:
        """Return the chance of ``won`` or more where the difference is this, the mean over the shares that differ."""
        if not self.b:  # all pairs differ for certain
            return float(_tails(np.array([(1.0 + difference) / 2]), won, lost)[0])
        low = min(max(self.low, abs(difference)), self.high)
        sure = beta_cdf(difference, self.a, self.b) if difference > 0 else 0.0  # too small a share for the difference
        half = (self.high - low) / 2
        shares = low + half * (self.nodes + 1.0)
        tails = _tails(np.clip((1.0 + difference / shares) / 2, 0.0, 1.0), won, lost)
        return sure + float(np.dot(self._density(shares) * tails, self.weights)) * half

    def _density(self, shares: Floats) -> Floats:
        a, b = self.a, self.b
        front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        inside = np.clip(shares, 1e-300, 1.0 - 1e-16)
        found: Floats = np.exp(front + (a - 1) * np.log(inside) + (b - 1) * np.log1p(-inside))
        return found


def _tails(chances: Floats, won: int, lost: int) -> Floats:
    """Return the chance of ``won`` or more of ``won + lost``, for each chance of one."""
    trials = won + lost
    found: Floats = _binomial(np.arange(won, trials + 1), trials, chances[:, None]).sum(axis=1)
    return np.minimum(found, 1.0)


def _binomial(successes: Indices, trials: Indices | int, chances: Floats | float) -> Floats:
    """Return binomial probabilities; 0 where there are more successes than trials."""
    most = int(np.max(trials))
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    misses = np.maximum(trials - successes, 0)
    ways = logs[trials] - logs[np.minimum(successes, most)] - logs[misses]
    inside = np.clip(chances, 1e-300, 1.0)
    outside = np.clip(1.0 - np.asarray(chances), 1e-300, 1.0)
    found = np.exp(ways + successes * np.log(inside) + misses * np.log(outside))
    return np.where(successes <= trials, found, 0.0)


# -- what would be seen ---------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def power_of(difference: float, discordant: float, pairs: int, level: float = 0.95) -> float:
    """Return the chance with which McNemar's exact test finds a true difference.

    The sum over how many pairs may differ; from 300 expected ones on the normal limit of the same test.

    Args:
        difference: Of the two shares.
        discordant: Share of pairs that differ; at least the difference.
        pairs: All pairs.
        level: One less the error of the test.
    """
    difference, discordant = abs(difference), max(discordant, abs(difference))
    expected = pairs * discordant
    if expected > _MANY:
        spread = math.sqrt(pairs * (discordant - difference**2))
        needed = normal_quantile(0.5 + level / 2) * math.sqrt(expected) + 1.0
        return normal_cdf((pairs * difference - needed) / spread) if spread else 1.0
    reach = 7 * math.sqrt(expected) + 8
    counts = np.arange(max(0, int(expected - reach)), min(pairs, int(expected + reach)) + 1)
    counts = counts[:: max(1, len(counts) // _MOST_COUNTS)]
    chances = _binomial(counts, pairs, discordant)
    rows, fewer = counts[:, None], np.arange(int(counts[-1]) // 2 + 1)
    is_found = 2 * np.cumsum(_binomial(fewer, rows, 0.5), axis=1) < 1.0 - level
    second = 0.5 + difference / discordant / 2 if discordant else 0.5
    found = _binomial(fewer, rows, 1.0 - second) + _binomial(fewer, rows, second)
    return float(np.dot((found * is_found).sum(axis=1), chances) / chances.sum())


@lru_cache(maxsize=4096)
def detectable_share(discordant: float, pairs: int, level: float = 0.95) -> float:
    """Return the smallest difference that McNemar's exact test finds with a power; infinite where it finds none.

    As many pairs differ as ``discordant`` says, or as the difference itself needs: without any that differ, that is a
    difference of eight pairs, all one way.
    """
    if power_of(1.0, 1.0, pairs, level) < POWER:
        return math.inf
    return root_of(lambda share: power_of(share, discordant, pairs, level) - POWER)


def needed_pairs(difference: float, discordant: float, level: float = 0.95) -> int:
    """Return how many pairs McNemar's exact test needs to find a difference with a power.

    Args:
        difference: Of the two shares.
        discordant: Share of pairs that differ.
        level: One less the error of the test.
    """
    least, most = 1, 8
    while power_of(difference, discordant, most, level) < POWER and most < _MOST_PAIRS:
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if power_of(difference, discordant, middle, level) < POWER else (least, middle)
    return most
