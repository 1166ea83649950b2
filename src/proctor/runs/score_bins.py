"""Scores of instances in ranges, for a picture of how they are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class ScoreBin(NamedTuple):
    """The instances whose scores lie from ``low`` to ``high``, both included."""

    low: float
    high: float
    instances: int


def score_bins(counted: Sequence[tuple[float, int]], most: int) -> list[ScoreBin]:
    """Return ranges of one width from the lowest score to the highest; every instance is in one of them.

    Args:
        counted: Scores, each once and ascending, and how many instances have each.
        most: Ranges.
    """
    lowest, highest = counted[0][0], counted[-1][0]
    edges = sorted({lowest + (highest - lowest) * place / most for place in range(most)})
    bins = []
    for place, low in enumerate(edges):
        is_last = place == len(edges) - 1
        high = highest if is_last else math.nextafter(edges[place + 1], -math.inf)
        bins.append(ScoreBin(low, high, sum(count for score, count in counted if low <= score <= high)))
    return bins
