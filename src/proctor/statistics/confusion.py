"""Matthews' correlation coefficient (Gorodkin 2004), of one confusion of labels or of many at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from proctor.lazy import np
from proctor.statistics.arrays import Floats


def matthews(hits: Floats, wanted: Floats, given: Floats) -> Floats:
    """Return the coefficient; 0 where it is undefined.

    Args:
        hits: How many labels are right, shape (…).
        wanted: How often each label is gold, shape (…, labels).
        given: How often each label is predicted, shape (…, labels).
    """
    total = wanted.sum(axis=-1)
    covariance = hits * total - (wanted * given).sum(axis=-1)
    spread = np.sqrt((total**2 - (given**2).sum(axis=-1)) * (total**2 - (wanted**2).sum(axis=-1)))
    found: Floats = np.divide(covariance, spread, out=np.zeros_like(covariance), where=spread != 0)
    return found


def matthews_of_labels(golds: Sequence[Hashable], predictions: Sequence[Hashable]) -> float:
    """Return the coefficient of labels, equal to scikit-learn's to the last bit."""
    place = {label: number for number, label in enumerate(dict.fromkeys([*golds, *predictions]))}
    wanted, given = (counted(labels, place) for labels in (golds, predictions))
    hits = np.array(float(sum(gold == said for gold, said in zip(golds, predictions, strict=True))))
    return float(matthews(hits, wanted, given))


def counted(labels: Sequence[Hashable], place: dict[Any, int]) -> Floats:
    """Return how often each label stands in a column, by its place."""
    return np.bincount([place[label] for label in labels], minlength=len(place)).astype(float)
