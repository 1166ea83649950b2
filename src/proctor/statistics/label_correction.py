"""Means of a judge's scores, corrected by what people say of some of the answers.

:func:`corrected_mean` is for labels of the answers that were scored: prediction-powered inference with a fitted weight
of the judge (Angelopoulos, Duchi and Zrnic 2023, "PPI++", arXiv:2311.01453), with answers drawn by known probabilities
(Fisch and others 2024, "Stratified prediction-powered inference", arXiv:2406.04291). :func:`rogan_gladen` is for labels
of other answers: it knows only how often the judge errs (Rogan and Gladen 1978), with the interval of Lee and others
2025, "How to correctly report LLM-as-a-judge evaluations" (arXiv:2511.21140).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from proctor.lazy import np
from proctor.statistics.arrays import Bools, Floats, Indices
from proctor.statistics.bounded import mean_bounds
from proctor.statistics.distributions import normal_quantile
from proctor.statistics.paired_tests import MeanTest

PREDICTION_POWERED: Final = "prediction-powered"
"""The name of the method, and of the test of a difference by it."""
_MISTAKE = 0.5
"""What is added to the sum of squares: half a mistake, as rare ones may not show."""
MANY: Final = 60
"""Labels from which on kinds of answers share that half as they share the labels; of fewer, each has a whole one."""
_TAIL = 0.975  # the quantile of an interval that holds in 95%
_HALF = 0.5  # of the width of an interval
_TINY = 1e-9  # what the scores of answers count that were all asked about: nothing, unless all were


class Bounded(NamedTuple):
    """A number with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean for which labels vouch, of scores from 0 to 1.

    Attributes:
        bounds: The mean, which may lie a little beyond 0 or 1, and its interval.
        hidden: What of its variance no label shows; the rest is the sum of the squares of clusters' ``parts``.
        trust: The weight of the judge's scores: 0 where they say nothing of the labels.
        labels: Answers with a label.
        units: Clusters with a label.
        parts: What each answer adds to the error.
        clusters: Which of them belong together.
        strata: Of each weight, for how many answers a labelled one stands, and what of the variance is of choosing
            these answers for labels.
    """

    bounds: Bounded
    hidden: float
    trust: float
    labels: int
    units: int
    parts: Floats
    clusters: Indices
    strata: tuple[tuple[float, float], ...] = ()

    @property
    def variance(self) -> float:
        """Return the square of the standard error."""
        sums = _sums(self.parts, self.clusters)
        return float(sums @ sums) + self.hidden

    def width_with(self, factor: float) -> float:
        """Return how wide the interval would be with so many times as many labels, as a share of its width now."""
        gone = sum(part * (1.0 - 1.0 / min(factor, max(weight, 1.0))) for weight, part in self.strata)
        return math.sqrt(max(self.variance - gone, 0.0) / self.variance)

    @property
    def labels_to_halve(self) -> int | None:
        """Return about how many more labels, spread as these, halve the interval; ``None`` where all do not."""
        most = max((weight for weight, _ in self.strata), default=1.0)
        if self.width_with(most) > _HALF:
            return None
        low, high = 1.0, most
        for _ in range(60):  # bisections: to the last bit of a float
            middle = (low + high) / 2.0
            low, high = (middle, high) if self.width_with(middle) > _HALF else (low, middle)
        return math.ceil(self.labels * (high - 1.0) - _TINY)


def corrected_mean(
    scores: Floats, labels: Floats, weights: Floats, clusters: Indices, level: float = 0.95
) -> CorrectedMean:
    """Return the mean of the labels that all answers would have, with the interval of answers drawn like these.

    Args:
        scores: The judge's, from 0 to 1; of all answers.
        labels: What people say, from 0 to 1; NaN where they were not asked. Two or more of each weight.
        weights: How many answers a labelled one was drawn for, 1 by its probability.
        clusters: Numbers of what the answers are about; answers about one thing depend on each other.
        level: Confidence level of the interval.
    """
    known = np.isfinite(labels)
    shares = np.where(known, weights, 0.0)
    shares /= shares.sum()
    groups = np.where(known, weights, -1.0)
    trust = _trust(scores, labels, weights, known)
    rest = np.where(known, labels - trust * scores, 0.0)
    value = trust * float(scores.mean()) + float(shares @ rest)
    parts = shares * rest + trust * scores / len(scores)
    hidden, strata, labelled = 0.0, [], int(known.sum())
    for weight in np.unique(groups):
        own = groups == weight
        count, share = int(own.sum()), float(shares[own].sum())
        parts[own] -= parts[own].mean()
        if weight >= 0:
            parts[own] *= math.sqrt(count / max(count - 2, 1))  # degrees of freedom of mean and trust
            apart = (float((trust * scores + rest)[own].mean()) - value) ** 2
            told = (trust * float(scores[own].mean() - scores.mean())) ** 2  # is among the parts of the others
            mistake = _MISTAKE * (count / labelled if labelled >= MANY else 1.0) * (share / count) ** 2
            hidden += mistake + share * max(apart - told, 0.0) / len(scores)
            sums = _sums((shares * (rest - rest[own].mean()))[own], clusters[own])
            strata.append((share * len(scores) / count, float(sums @ sums) * count / max(count - 2, 1) + mistake))
    sums = _sums(parts, clusters)
    error = math.sqrt(float(sums @ sums) + hidden)
    count = max(len(np.unique(clusters[known])), 2)
    skew = float((sums**3).sum()) * count / error**2
    low, high = mean_bounds(min(max(value, 0.0), 1.0), error, skew, count, level)
    return CorrectedMean(Bounded(value, low, high), hidden, trust, labelled, count, parts, clusters, tuple(strata))


def _trust(scores: Floats, labels: Floats, weights: Floats, known: Bools) -> float:
    """Return the weight of the judge's scores that makes the error least (PPI++, section 6; 2406.04291, section 4)."""
    spread = common = 0.0
    for weight in np.unique(weights[known]):
        own = known & (weights == weight)
        told, said = scores[own] - scores[own].mean(), labels[own] - labels[own].mean()
        spread += float(weight * max(weight - 1.0, _TINY) * (told @ told))
        common += float(weight * max(weight - 1.0, _TINY) * (told @ said))
    return max(common / spread, 0.0) if spread > 0 else 0.0


def _sums(parts: Floats, clusters: Indices) -> Floats:
    _, place = np.unique(clusters, return_inverse=True)
    sums: Floats = np.bincount(place.ravel(), weights=parts).astype(np.float64)
    return sums


class LabelledTest(MeanTest):
    """Student's t-test of the difference of two corrected means.

    More questions alone do not decide it: labels have to come with them.
    """

    def needed(self, level: float) -> float:
        """Return infinity: how many labels help is said of each mean (:attr:`CorrectedMean.labels_to_halve`)."""
        del level
        return math.inf


def corrected_test(first: CorrectedMean, second: CorrectedMean, scale: float = 1.0) -> LabelledTest:
    """Return the test of two means, second minus first: what clusters that are the same questions share cancels out.

    Args:
        first, second: The means.
        scale: The full score.
    """
    sums = _sums(np.concatenate([-first.parts, second.parts]), np.concatenate([first.clusters, second.clusters]))
    error = math.sqrt(float(sums @ sums) + first.hidden + second.hidden)
    freedom = min(first.units, second.units) - 1
    difference = second.bounds.value - first.bounds.value
    pairs = max(len(first.parts), len(second.parts))
    return LabelledTest(scale * difference, scale * error, freedom, pairs, scale, PREDICTION_POWERED)


def rogan_gladen(scored: Sequence[float], verdicts: Sequence[bool], truths: Sequence[bool]) -> Bounded | None:
    """Return the share of right answers behind a judge's verdicts, with its interval.

    Args:
        scored: The verdicts, 0 or 1.
        verdicts: On other answers, whether each is right.
        truths: Whether each of them is.

    Returns:
        ``None`` where the judge tells right from wrong no better than chance, or other answers are all right or all
        wrong: no share can be said.
    """
    rights, count = sum(truths), len(scored)
    hits = sum(one and two for one, two in zip(verdicts, truths, strict=True))
    misses = sum(not one and not two for one, two in zip(verdicts, truths, strict=True))
    if not 0 < rights < len(truths) or hits / rights + misses / (len(truths) - rights) <= 1:
        return None
    found, missed, share = hits / rights, misses / (len(truths) - rights), sum(scored) / count
    value = (share + missed - 1.0) / (found + missed - 1.0)
    z = normal_quantile(_TAIL)
    size, right, wrong = count + z * z, rights + 2.0, len(truths) - rights + 2.0
    share, found, missed = (count * share + z * z / 2) / size, (hits + 1.0) / right, (misses + 1.0) / wrong
    if (reach := found + missed - 1.0) <= 0:
        return None
    middle = (share + missed - 1.0) / reach
    of_right, of_wrong = found * (1.0 - found) / right, missed * (1.0 - missed) / wrong
    shifted = middle + 2.0 * z * z * (middle * of_right - (1.0 - middle) * of_wrong)
    error = math.sqrt(share * (1.0 - share) / size + (1.0 - middle) ** 2 * of_wrong + middle**2 * of_right) / reach
    return Bounded(value, max(shifted - z * error, 0.0), min(shifted + z * error, 1.0))
