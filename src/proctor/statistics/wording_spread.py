"""The spread of a score over wordings: its distribution, the best one, and the questions that decide it.

All wordings are asked the same questions, which are drawn again for all of them together: bands and corrections speak
of other questions and these wordings. How other wordings would score is what variance components say.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

from proctor.lazy import np
from proctor.settings import settings
from proctor.statistics.arrays import Floats
from proctor.statistics.question_clusters import summed
from proctor.statistics.rank_sets import level_of_pairs

QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of wordings, the lowest and the highest among them
_RESAMPLES: Final = 2_000
_AT_ONCE: Final = 1 << 22  # numbers of resamples that are held at once: 32 MB
_MOST: Final = 100  # wordings whose pairs are resampled together: there are thousands of pairs of more

Bounded = tuple[float, float, float]  # a value, and the ends of its 95% interval


def spread_of(
    scores: Floats, *, higher_is_better: bool = True, clusters: Sequence[Hashable] | None = None
) -> tuple[dict[float, Bounded], Bounded]:
    """Return the quantiles of the scores of wordings; and the mean of each question under the wording worst for it.

    ``scores`` has a row for each wording and a column for each question, without gaps; ``clusters`` are the keys of
    questions that belong together; here and below. Intervals of quantiles are those of intervals that hold for all
    wordings at once: the highest of several means is too high by luck.
    """
    means, worst = scores.mean(axis=1), (scores.min if higher_is_better else scores.max)(axis=0)
    reach, score, [own] = _reaches(scores, clusters), float(worst.mean()), _reaches(worst[None, :], clusters)
    ends = (np.quantile(each, QUANTILES).tolist() for each in (means, means - reach, means + reach))
    return dict(zip(QUANTILES, zip(*ends, strict=True), strict=True)), (score, score - float(own), score + float(own))


def _reaches(scores: Floats, clusters: Sequence[Hashable] | None) -> Floats:
    """Return how far the interval of each wording's mean reaches to either side, that all hold at once (max-t)."""
    centred, size = summed(scores - scores.mean(axis=1)[:, None], clusters), scores.shape[1]
    errors: Floats = np.sqrt((centred**2).sum(axis=1) / (size - 1) / size)
    scaled = centred[errors > 0] / (errors[errors > 0, None] * math.sqrt(size * (size - 1)))
    if not len(scaled):
        return errors
    stream, rows = np.random.default_rng(settings.seed & 0xFFFFFFFF), max(1, _AT_ONCE // size)
    blocks = (min(rows, _RESAMPLES - start) for start in range(0, _RESAMPLES, rows))
    drawn = [np.abs(stream.standard_normal((each, scaled.shape[1])) @ scaled.T).max(axis=1) for each in blocks]
    found: Floats = errors * np.quantile(np.concatenate(drawn), 0.95)
    return found


def flips(scores: Floats) -> Floats:
    """Return for each question how much its score differs between wordings: the mean distance of two of them.

    For right and wrong that is the chance that two wordings, drawn at random, disagree; between 0 and about one half.
    """
    count, ordered = len(scores), np.sort(scores, axis=0)
    weights = 2.0 * np.arange(1, count + 1) - count - 1.0
    found: Floats = (weights[:, None] * ordered).sum(axis=0) * 2.0 / (count * max(count - 1, 1))
    return found


class Best(NamedTuple):
    """The place of the best of several wordings, its score without the luck for which it was chosen, and its interval.

    Below a p of ``pair_level`` two wordings are told apart, so that all pairs together err with 5%.
    """

    place: int
    corrected: Bounded
    pair_level: float


def best_of(scores: Floats, *, higher_is_better: bool = True, clusters: Sequence[Hashable] | None = None) -> Best:
    """Return the best wording; the largest of several scores is too large on average, of equal ones it is the luckiest.

    Its score is shrunk towards the mean by the share of the differences that is noise (Efron and Morris 1973, JASA
    68:117); its interval is one of those that hold for all wordings at once (max-t, as in
    :mod:`proctor.statistics.rank_sets`).
    """
    count, size = scores.shape
    means, middle, spread = scores.mean(axis=1), float(scores.mean()), float(scores.mean(axis=1).var(ddof=1))
    place = int(np.argmax(means) if higher_is_better else np.argmin(means))
    centred = summed(scores - means[:, None], clusters)
    noise = float(((centred - centred.mean(axis=0)) ** 2).sum()) / (size - 1) / (count - 1) / size
    kept = max(0.0, 1.0 - noise / spread) if spread > 0 else 0.0
    value, score = middle + kept * (float(means[place]) - middle), float(means[place])
    reach = float(_reaches(scores, clusters)[place])
    level = level_of_pairs(scores, clusters) if count <= _MOST else 0.05 / (count * (count - 1) / 2)
    return Best(place, (value, min(score - reach, value), max(score + reach, value)), level)
