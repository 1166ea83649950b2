"""The mean of a finite exam from questions that were drawn for what they tell, corrected so that it stays unbiased.

Each draw is without replacement, with chances pi_t(i) that favour questions whose answers are uncertain. After it,

    Z_t = (sum of all scores known before + sum of predictions of the others + (y - f) / pi_t) / N

has the exam's mean as its expectation, whatever the predictions f are: what they get wrong is asked about and put right
(active inference: Zrnic and Candes, arXiv 2403.03208; Wu, Nair and Candes, arXiv 2601.20251; weighted draws without
replacement: arXiv 2305.06884). The estimate weighs each Z_t by the variance that was expected of it before it was
drawn; its errors are a martingale, so it is normal for many draws.

Whoever stops as soon as the interval is narrow looks at its width, never at the mean, and such intervals keep their
coverage (Chow and Robbins 1965); that it does with few draws is simulated in ``benchmarks/precision.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from proctor.statistics.arrays import Floats
from proctor.statistics.distributions import t_quantile
from proctor.statistics.item_models import ItemModel

_UNIFORM = 0.2
"""Share of the draws that is uniform: no question's chance falls below a fifth of the average, so that no answer
weighs more than fivefold, however wrong the predictions are."""

_LEAST_VARIANCE = 0.02
"""Of an answer: predictions are never taken to be surer."""

_PRIOR_DRAWS = 8.0
"""Draws that the variance expected of a question weighs beside those that were seen: few equal answers do not prove
that all are equal."""


class AdaptiveMean:
    """Draws questions and estimates the mean of all.

    Args:
        total: Questions of the exam.
        model: What other models' answers say about them; ``None`` draws uniformly.
        random: Returns the next number of a seeded stream, from 0 to 1.
        level: Of the interval.
    """

    def __init__(self, total: int, model: ItemModel | None, random: Callable[[], float], level: float = 0.95) -> None:
        self.total = total
        self.places: list[int] = []
        """Questions in the order in which they were drawn."""
        self._model, self._random, self._level = model, random, level
        self._scores: list[tuple[float, float]] = []
        self._is_left = np.ones(total, dtype=np.bool_)
        self._round: list[_Draw] = []
        self._values: list[tuple[float, float]] = []
        self._expected: list[float] = []
        self._sums = (0.0, 0.0)

    @property
    def count(self) -> int:
        """Scores so far."""
        return len(self._scores)

    def draw(self, count: int) -> list[int]:
        """Return the next questions; their scores have to be taken before more are drawn."""
        predicted = self._predictions()
        variances = np.maximum(predicted * (1.0 - predicted), _LEAST_VARIANCE)
        weights = np.sqrt(variances)
        self._round = []
        for _ in range(min(count, int(self._is_left.sum()))):
            left = np.flatnonzero(self._is_left)
            chances = (1.0 - _UNIFORM) * weights[left] / weights[left].sum() + _UNIFORM / len(left)
            bounds = np.cumsum(chances)
            at = min(int(np.searchsorted(bounds, self._random() * bounds[-1], side="right")), len(left) - 1)
            spread = float((variances[left] / chances).sum())
            self._round.append(
                _Draw(
                    int(left[at]), float(chances[at]), float(predicted[left].sum()), float(predicted[left[at]]), spread
                )
            )
            self._is_left[left[at]] = False
        return [each.place for each in self._round]

    def _predictions(self) -> Floats:
        places = np.asarray(self.places, dtype=np.intp)
        scores = np.asarray([(low + high) / 2 for low, high in self._scores])
        if self._model is not None:
            return self._model.predictions(places, scores)
        mean = (scores.sum() + 1.0) / (len(scores) + 2.0)
        return np.full(self.total, round(float(mean), 6))

    def take(self, scores: Sequence[float | None]) -> None:
        """Take the scores of the questions that were drawn, from 0 to 1; one that is missing may be anything.

        Where there are fewer scores than questions, those that are left out count as not drawn.
        """
        for each, score in zip(self._round, scores, strict=False):
            ends = (0.0, 1.0) if score is None else (score, score)
            low, high = (
                (known + each.others + (end - each.prediction) / each.chance) / self.total
                for known, end in zip(self._sums, ends, strict=True)
            )
            self._values.append((low, high))
            self._expected.append(each.spread / self.total**2)
            self._sums = (self._sums[0] + ends[0], self._sums[1] + ends[1])
            self._scores.append(ends)
            self.places.append(each.place)
        for each in self._round[len(scores) :]:
            self._is_left[each.place] = True
        self._round = []

    def estimate(self) -> tuple[float, float, float]:
        """Return the mean of all questions and its interval; where scores are missing, the mean between the ends."""
        if not self._scores:
            return 0.5, 0.0, 1.0
        unknown = self.total - self.count
        least, most = self._sums[0] / self.total, (self._sums[1] + unknown) / self.total
        if not unknown:
            return (least + most) / 2, least, most
        values, weights = np.asarray(self._values), 1.0 / np.asarray(self._expected)
        means = weights @ values / weights.sum()
        low = means[0] - self._margin(values[:, 0], weights, float(means[0]))
        high = means[1] + self._margin(values[:, 1], weights, float(means[1]))
        middle = float(np.clip(means.mean(), least, most))
        return middle, min(max(float(low), least), middle), max(min(float(high), most), middle)

    def _margin(self, values: Floats, weights: Floats, mean: float) -> float:
        """Return half the width of the interval; the variance is what is seen, and a little of what was expected."""
        seen = float((weights**2 * (values - mean) ** 2).sum())
        each = float(weights.mean())
        ratio = (seen + _PRIOR_DRAWS * each) / ((len(values) - 1 + _PRIOR_DRAWS) * each)
        freedom = len(values) - 1 + _PRIOR_DRAWS
        return t_quantile(0.5 + self._level / 2, freedom) * math.sqrt(ratio / float(weights.sum()))


class _Draw:
    """A question that was drawn: its chance, and what was expected before its answer was seen."""

    __slots__ = ("chance", "others", "place", "prediction", "spread")

    def __init__(self, place: int, chance: float, others: float, prediction: float, spread: float) -> None:
        self.place, self.chance, self.others = place, chance, others
        self.prediction, self.spread = prediction, spread
