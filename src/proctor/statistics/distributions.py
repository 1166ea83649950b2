"""The distributions that intervals and tests need: normal, beta, Student's t, binomial.

Written here because the core has no SciPy; tests hold every function to SciPy's within 1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_MEDIAN = 0.5  # every t distribution is symmetric about 0, so the lower half follows from the upper
_TINY = 1e-300  # Lentz's method puts it where a denominator is 0: near the least float, whose inverse is still finite
_PRECISION = 1e-16  # below the spacing of floats at 1: the fraction does not change any more
_MAX_STEPS = 10_000  # some root of a or b steps are needed, so this is enough up to a hundred million instances


def normal_cdf(x: float) -> float:
    """Return the probability that a standard normal variable is at most ``x``."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile (Wichura, AS 241); infinite at 0 and 1, NaN for NaN."""
    if math.isnan(probability):
        return math.nan
    if probability <= 0.0:
        return -math.inf
    if probability >= 1.0:
        return math.inf
    return _NORMAL.inv_cdf(probability)


def beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) (continued fraction, DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - beta_cdf(1.0 - x, b, a)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    return math.exp(log_front) * _beta_fraction(x, a, b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Evaluate the continued fraction by Lentz's method."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0) or _TINY)
    value = d
    for m in range(1, _MAX_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + even * d or _TINY)
        c = 1.0 + even / c or _TINY
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / (1.0 + odd * d or _TINY)
        c = 1.0 + odd / c or _TINY
        value *= d * c
        if abs(d * c - 1.0) < _PRECISION:
            break
    return value


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the ``x`` with ``beta_cdf(x, a, b) == probability``."""
    return _bisect(lambda x: beta_cdf(x, a, b), probability, 0.0, 1.0)


def t_cdf(x: float, degrees: float) -> float:
    """Return the probability that Student's t with ``degrees`` degrees of freedom is at most ``x``."""
    square = x * x
    if square < degrees:  # near the middle the tail is 0.5 less a small part, which must not drown in it
        part = 0.5 * beta_cdf(square / (degrees + square), 0.5, degrees / 2.0)
        return 0.5 + part if x > 0 else 0.5 - part
    tail = 0.5 * beta_cdf(degrees / (degrees + square), degrees / 2.0, 0.5)
    return 1.0 - tail if x > 0 else tail


@lru_cache(maxsize=256)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the quantile of Student's t."""
    if probability == _MEDIAN:
        return 0.0
    if probability < _MEDIAN:
        return -t_quantile(1.0 - probability, degrees)
    upper = 1.0
    while t_cdf(upper, degrees) < probability:
        upper *= 2.0
    return _bisect(lambda x: t_cdf(x, degrees), probability, 0.0, upper)


def binomial_cdf(successes: int, trials: int, chance: float) -> float:
    """Return the probability of at most ``successes`` in ``trials``."""
    if successes < 0:
        return 0.0
    if successes >= trials:
        return 1.0
    return beta_cdf(1.0 - chance, float(trials - successes), successes + 1.0)


def _bisect(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    while True:
        middle = 0.5 * (low + high)
        if middle in (low, high):
            return middle
        if function(middle) < target:
            low = middle
        else:
            high = middle
