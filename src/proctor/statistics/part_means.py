"""The mean of a grid of wordings by questions of which a part was asked, drawn at random: what was asked alone says it.

The mean of the scores that were asked is unbiased, whatever wordings and questions are like. Its variance is that of
sums over questions and of sums over wordings, and over the levels of their dimensions, less what both count (two-way
clusters: Cameron, Gelbach and Miller 2011, JBES 29:238). Dimensions of fewer than
:data:`~.wording_model.FEW` levels are taken as they are, and the interval is for these levels.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from proctor.lazy import np
from proctor.statistics.arrays import Floats
from proctor.statistics.distributions import t_quantile
from proctor.statistics.wording_model import FEW


class PartMean(NamedTuple):
    """A mean with its standard error and its intervals: over other wordings and questions, and over questions alone."""

    mean: float
    error: float
    low: float
    high: float
    naive_low: float
    naive_high: float


def mean_of_part(scores: Floats, factors: Mapping[str, Sequence[Hashable]], level: float = 0.95) -> PartMean:
    """Return the mean of scores with gaps.

    Args:
        scores: A row for each wording, a column for each question, at least two of both, none of them empty; NaN where
            it was not asked.
        factors: By dimension, the level that each wording has.
        level: Of the intervals.
    """
    asked = ~np.isnan(scores)
    count, mean = int(asked.sum()), float(np.nanmean(scores))
    centred = np.where(asked, scores - mean, 0.0)
    by_wording, once = centred.sum(axis=1), float((centred**2).sum()) / count**2

    def variance(sums: Floats) -> float:
        return float((sums**2).sum()) * len(sums) / (len(sums) - 1) / count**2

    of_questions, of_wordings = max(variance(centred.sum(axis=0)), once), variance(by_wording)
    parts = [(of_questions, scores.shape[1] - 1), (max(of_wordings - once, 0.0), len(scores) - 1)]
    for values in factors.values():
        order = {value: place for place, value in enumerate(dict.fromkeys(values))}
        if FEW <= len(order) < len(scores):
            sums = np.bincount([order[value] for value in values], weights=by_wording).astype(np.float64)
            parts.append((max(variance(sums) - of_wordings, 0.0), len(order) - 1))
    total = sum(each for each, _ in parts)
    freedom = total**2 / max(sum(each**2 / degrees for each, degrees in parts), 1e-300)  # Satterthwaite (1946)
    reach = t_quantile((1 + level) / 2, max(freedom, 1.0)) * math.sqrt(total)
    alone = t_quantile((1 + level) / 2, parts[0][1]) * math.sqrt(of_questions)
    return PartMean(mean, math.sqrt(total), mean - reach, mean + reach, mean - alone, mean + alone)
