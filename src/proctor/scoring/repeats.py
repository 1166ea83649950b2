"""Scores of repeats: the same instance, answered several times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import ScoringError


def at_least_one(count: int, hits: int, k: int) -> float:
    """Return the chance that one of ``k`` of ``count`` answers is right, as a ratio of binomials (Chen et al. 2021).

    :func:`at_least_one_as_product` is the same number up to its last digits; each dialect keeps its own.
    """
    return 1.0 - math.comb(count - hits, k) / math.comb(count, k)


def at_least_one_as_product(count: int, hits: int, k: int) -> float:
    """Return the chance that one of ``k`` of ``count`` answers is right, as a product (Chen et al. 2021)."""
    if count - hits < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(count - hits + 1, count + 1))


def most_frequent(values: Sequence[Any]) -> Any:
    """Return the value that there is most of; of equals, the first."""
    counts: dict[Any, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return max(counts, key=counts.__getitem__)


def pass_at_k(right: Sequence[bool], answers: Sequence[Any], k: int) -> float:
    """Return the chance that one of ``k`` answers is right."""
    del answers
    return at_least_one(len(right), sum(right), k)


def mean_of_repeats(right: Sequence[bool], answers: Sequence[Any], k: int) -> float:
    """Return the share of the first ``k`` answers that are right."""
    del answers
    return sum(right[:k]) / k


def vote_of_repeats(right: Sequence[bool], answers: Sequence[Any], k: int) -> float:
    """Return whether the most frequent of the first ``k`` answers is right."""
    texts = [str(each) for each in answers]
    return float(right[texts.index(most_frequent(texts[:k]))])


OF_REPEATS: Mapping[str, Callable[[Sequence[bool], Sequence[Any], int], float]] = {
    "pass": pass_at_k,
    "avg": mean_of_repeats,
    "maj": vote_of_repeats,
}
"""Scores of repeats by the first part of their names: ``pass@8``."""


def score_of_repeats(family: str, right: Sequence[bool], answers: Sequence[Any], k: int) -> float:
    """Return a score of ``k`` of the repeats.

    Args:
        family: ``pass``, ``avg`` or ``maj``.
        right: Whether each answer is right.
        answers: The answers, for votes.
        k: How many count.

    Raises:
        ScoringError: There are fewer answers.
    """
    if k > len(right):
        raise ScoringError(f"{family}@{k} needs {k} answers, and there are {len(right)}", hint=f"set repeats: {k}")
    return OF_REPEATS[family](right, answers, k)
