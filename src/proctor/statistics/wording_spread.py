"""The distribution of a score over wordings: quantiles, worst case, the worst case of each question, with bands.

All wordings are asked the same questions, which a bootstrap draws again for all of them together. A band speaks of
other questions and these wordings; how other wordings would score is what variance components say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from proctor.lazy import Deferred
from proctor.settings import settings
from proctor.statistics.arrays import Floats, Indices

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""The quantiles that are told of, the worst and the best wording among them."""
_RESAMPLES: Final = 2_000
_AT_ONCE: Final = 1 << 22  # numbers of resamples that are held at once: 32 MB


@dataclass(frozen=True, slots=True)
class Spread:
    """How a score differs between wordings.

    Attributes:
        quantiles: Of the scores of the wordings: the value, and the 95% interval over questions.
        worst_of_each: The mean over questions of the score under the wording that is worst for it, with its interval:
            what is right under every wording.
    """

    quantiles: Mapping[float, tuple[float, float, float]]
    worst_of_each: tuple[float, float, float]


def spread_of(scores: Floats, *, higher_is_better: bool = True, level: float = 0.95) -> Spread:
    """Return the distribution of a score over wordings.

    Args:
        scores: A row for each wording, a column for each question; without gaps.
        higher_is_better: Which end is the worst.
        level: Of the intervals.
    """
    each = scores.min(axis=0) if higher_is_better else scores.max(axis=0)
    size = scores.shape[1]
    stream = np.random.default_rng(settings.seed & 0xFFFFFFFF)
    drawn, means = [], []
    rows = max(1, _AT_ONCE // size)
    for start in range(0, _RESAMPLES, rows):
        weights = stream.multinomial(size, np.full(size, 1.0 / size), min(rows, _RESAMPLES - start)) / size
        means.append(weights @ scores.T)
        drawn.append(weights @ each)
    resampled = np.quantile(np.concatenate(means), QUANTILES, axis=1)
    ends = ((1 - level) / 2, (1 + level) / 2)
    found = np.quantile(scores.mean(axis=1), QUANTILES)
    bounds = np.quantile(resampled, ends, axis=1)
    quantiles = {q: (float(found[k]), float(bounds[0][k]), float(bounds[1][k])) for k, q in enumerate(QUANTILES)}
    low, high = np.quantile(np.concatenate(drawn), ends)
    return Spread(quantiles, (float(each.mean()), float(low), float(high)))


def flips(scores: Floats) -> Floats:
    """Return for each question how much its score differs between wordings: the mean distance of two of them.

    For right and wrong that is the chance that two wordings, drawn at random, disagree; between 0 and about one half.
    """
    count = scores.shape[0]
    ordered = np.sort(scores, axis=0)
    weights = 2.0 * np.arange(1, count + 1) - count - 1.0
    found: Floats = (weights[:, None] * ordered).sum(axis=0) * 2.0 / (count * max(count - 1, 1))
    return found


def most_flipped(scores: Floats, most: int) -> Indices:
    """Return the places of the questions that flip most, the first ones first among equals."""
    found = flips(scores)
    order = np.argsort(-found, kind="stable")[:most]
    return order[found[order] > 0]
