"""Questions that come in clusters (on one text, repeated): the part of their variance that is the clusters'."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from proctor.lazy import np
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.two_level import clustered_error

CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class ClusterPart:
    """What clusters are of the variance of questions, by the analysis of variance of an unbalanced one-way layout.

    Attributes:
        variance, low, high: Of clusters, with a generalised confidence interval (Weerahandi 1993, JASA 88:899).
        less: What of the variance of questions, estimated without clusters, is theirs or comes from the layout.
        error: The standard error of the mean of all questions (Liang and Zeger 1986).
        freedom: One less than there are clusters.
        averaged: Over so many independent draws of a cluster the mean is.
    """

    variance: float
    low: float
    high: float
    less: float
    error: float
    freedom: int
    averaged: float


def cluster_part(means: Floats, keys: Sequence[Hashable], stream: np.random.Generator, draws: int) -> ClusterPart:
    """Return the part of clusters.

    Args:
        means: The mean of each question over all wordings.
        keys: The cluster of each; at least two, and fewer than questions.
        stream: What the interval is drawn from.
        draws: How often.
    """
    places, counts = _places(keys)
    n, groups = len(means), len(counts)
    centres = np.bincount(places, weights=means) / counts
    between = float((counts * (centres - means.mean()) ** 2).sum()) / (groups - 1)
    inside = float(((means - centres[places]) ** 2).sum()) / (n - groups)
    size = (n - float((counts**2).sum()) / n) / (groups - 1)
    drawn = between * (groups - 1) / stream.chisquare(groups - 1, draws)
    drawn = drawn - inside * (n - groups) / stream.chisquare(n - groups, draws)
    low, high = np.quantile(np.maximum(drawn, 0.0) / size, [0.025, 0.975]).tolist()
    value = max(between - inside, 0.0) / size
    error, _ = clustered_error(means, keys)
    averaged = n**2 / float((counts**2).sum())
    less = float(means.var(ddof=1)) - inside
    return ClusterPart(value, min(low, value), max(high, value), less, error, groups - 1, averaged)


def are_clusters(keys: Sequence[Hashable] | None) -> bool:
    """Whether questions come in clusters of which anything can be said: two or more, some with several questions."""
    return keys is not None and 1 < len(set(keys)) < len(keys)


def summed(centred: Floats, keys: Sequence[Hashable] | None) -> Floats:
    """Return deviations of questions summed by cluster, scaled so that their squares have the variance of the mean.

    So what is computed of independent questions (a row for each wording) is computed of clusters.
    """
    if keys is None or not are_clusters(keys):
        return centred
    places, counts = _places(keys)
    n, groups = centred.shape[1], len(counts)
    sums = np.array([np.bincount(places, weights=each) for each in centred])
    return np.asarray(sums * math.sqrt(groups * (n - 1) / ((groups - 1) * n)))


def _places(keys: Sequence[Hashable]) -> tuple[Indices, Indices]:
    order = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    places = np.array([order[key] for key in keys], dtype=np.int64)
    return places, np.bincount(places).astype(np.int64)
