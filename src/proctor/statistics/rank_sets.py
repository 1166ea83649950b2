"""The places that several models may hold, from all differences between two of them at once.

A model's places reach from one behind all that are decidedly better to one before all that are decidedly worse. They
hold the true rank of every model at once with the confidence level, since all pairwise tests together err with its
complement (Mogstad, Romano, Shaikh and Wilhelm 2024, Review of Economic Studies 91:476). How small p has to be is found
by the largest studentised difference in resamples of the shared questions, or clusters (max-t: Romano and Wolf 2005,
Econometrica 73:1237): models answer the same questions, so their differences depend on each other, and fewer questions
do than with a level divided by the number of pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from proctor.lazy import np
from proctor.settings import settings
from proctor.statistics.arrays import Floats
from proctor.statistics.distributions import normal_cdf

_RESAMPLES = 4_000
_FEWEST_UNITS = 50
"""From which on standard errors may be taken for known: with 12 clusters, five equal models were told apart in 7.7% of
runs, with 25 in 6.3%, with 50 in 5.0%."""
_AT_ONCE = 1 << 22
"""Numbers of resamples that are held at once: 32 MB."""

Place = tuple[int, int]
"""The best and the worst rank that a model may hold."""


def level_of_pairs(scores: Floats, groups: Sequence[Hashable] | None = None, alpha: float = 0.05) -> float:
    """Return the p below which a single pair of models is decided, so that all pairs together err with ``alpha``.

    A Gaussian multiplier bootstrap of the differences, each centred and divided by its standard error. It takes these
    errors for known: of fewer than 50 clusters, or graded scores, the error is divided by the number of pairs instead.

    Args:
        scores: A row for each model, a column for each question; without gaps.
        groups: A key for each question; questions with the same one are drawn together.
        alpha: Error of all together.
    """
    models, questions = scores.shape
    pairs: int = models * (models - 1) // 2
    if questions < 2:  # noqa: PLR2004 - the spread of one is not defined
        return alpha / pairs
    centred = scores - scores.mean(axis=1, keepdims=True)
    if groups is not None:
        _, places = np.unique([repr(key) for key in groups], return_inverse=True)
        centred = np.array([np.bincount(places, weights=each) for each in centred])
    units = centred.shape[1]
    products = centred @ centred.T
    variances = np.diag(products)[:, None] + np.diag(products)[None, :] - 2 * products
    first, second = np.nonzero(np.triu(variances > 1e-9 * max(float(variances.max()), 1e-300), 1))
    is_exact = groups is None and len(np.unique(scores)) <= 2  # noqa: PLR2004 - right and wrong
    if not first.size or (units < _FEWEST_UNITS and not is_exact):
        return alpha / pairs
    errors = np.sqrt(variances[first, second])
    stream, largest = np.random.default_rng(settings.seed & 0xFFFFFFFF), []
    rows = max(1, _AT_ONCE // max(units, first.size))
    for start in range(0, _RESAMPLES, rows):
        drawn = stream.standard_normal((min(rows, _RESAMPLES - start), units)) @ centred.T
        largest.append((np.abs(drawn[:, first] - drawn[:, second]) / errors).max(axis=1))
    critical = float(np.quantile(np.concatenate(largest), 1.0 - alpha))
    return min(alpha, 2 * normal_cdf(-critical))


def places_of(models: int, sign: Callable[[int, int], int]) -> list[Place]:
    """Return the places that each model may hold.

    Args:
        models: How many there are.
        sign: Whether the second of two models is decidedly better (1), worse (-1), or neither (0).
    """
    better, worse = [0] * models, [0] * models
    for one in range(models):
        for two in range(one + 1, models):
            found = sign(one, two)
            better[one] += found > 0
            worse[two] += found > 0
            better[two] += found < 0
            worse[one] += found < 0
    return [(1 + ahead, models - behind) for ahead, behind in zip(better, worse, strict=True)]
