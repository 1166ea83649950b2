"""Global metrics whose scores are a function of sums over instances."""
# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.errors import ScoringError
from proctor.lazy import Deferred
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.grade import Columns
from proctor.statistics.arrays import Floats
from proctor.statistics.resampling import Resampler, Sums

if TYPE_CHECKING:
    import numpy as np
else:
    np = Deferred("numpy")

Finished = dict[str, Floats]
"""Scores by name, each of shape (samples,); NaN where a sample does not have the score."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What instances add, and how sums become scores.

    Attributes:
        parts: What each instance adds, shape (instances, parts).
        finish: Takes sums of shape (samples, parts).
    """

    parts: Floats
    finish: Callable[[Floats], Finished]


class CountedMetric(GlobalMetric):
    """Override :meth:`count`; resamples then cost a product of matrices, not a computation each."""

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return what instances add, and how sums become scores."""
        raise ScoringError(f"{type(self).__name__} does not override count")

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        counts = self.count(references, predictions, task_data)
        sums = counts.parts.sum(axis=0, keepdims=True)
        return {name: float(value[0]) for name, value in counts.finish(sums).items()}

    def resampler(self, columns: Columns, names: Sequence[str]) -> Resampler:
        """Return scores of resampled sums."""
        counts = self.count(*self._lists(columns))

        def finish(sums: Floats) -> Floats:
            found = counts.finish(sums)
            return np.array([found.get(name, np.full(len(sums), math.nan)) for name in names])

        return Sums(counts.parts, finish)


def ratio(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Return quotients; ``otherwise`` where the denominator is 0."""
    quotients: Floats = np.full(np.broadcast(numerator, denominator).shape, otherwise)
    np.divide(numerator, denominator, out=quotients, where=np.asarray(denominator) != 0)
    return quotients
