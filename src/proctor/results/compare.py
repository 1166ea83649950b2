"""Two runs on the same instances: is the difference more than chance?

Scores are compared in pairs, instance by instance, which is far more sensitive than comparing two means whose
intervals overlap (Miller 2024, "Adding Error Bars to Evals", section 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.results.sample_index import SampleIndex
from proctor.scoring.distributions import binomial_cdf, t_cdf, t_quantile

_BINARY = frozenset({0.0, 1.0})


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two columns of scores of the same instances.

    Attributes:
        task: The exam.
        n: Instances that both runs scored.
        left_out: Instances that only one run has or scored.
        first, second: Mean scores over the ``n`` instances.
        difference: ``second - first``.
        low, high: Bounds of its 95% interval (paired t); ``None`` where n < 2.
        p: Probability of a difference at least as large if there were none: exact McNemar where all scores are 0 or
            1, paired t otherwise; ``None`` where n < 2.
        better, worse: Instances that the second run scored higher, and lower.
        detectable: The smallest difference that 80% of such comparisons would find at the 5% level.
    """

    task: str
    n: int
    left_out: int
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    better: int
    worse: int
    detectable: float | None


def compare_scores(task: str, first: Sequence[float], second: Sequence[float], left_out: int = 0) -> Comparison:
    """Return the paired comparison of two columns of equal length."""
    n = len(first)
    if n == 0:
        return Comparison(task, 0, left_out, math.nan, math.nan, math.nan, None, None, None, 0, 0, None)
    differences = [after - before for before, after in zip(first, second, strict=True)]
    mean = math.fsum(differences) / n
    better, worse = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    low = high = p = detectable = None
    if n > 1:
        spread = math.sqrt(math.fsum((each - mean) ** 2 for each in differences) / (n - 1)) / math.sqrt(n)
        reach = t_quantile(0.975, n - 1) * spread
        low, high = mean - reach, mean + reach
        detectable = (t_quantile(0.975, n - 1) + t_quantile(0.8, n - 1)) * spread
        is_binary = _BINARY.issuperset(first) and _BINARY.issuperset(second)
        p = mcnemar(better, worse) if is_binary else _t_test(mean, spread, n)
    means = math.fsum(first) / n, math.fsum(second) / n
    return Comparison(task, n, left_out, *means, mean, low, high, p, better, worse, detectable)


def mcnemar(better: int, worse: int) -> float:
    """Return the exact two-sided p of McNemar's test: a fair coin decides each instance that flipped."""
    flips = better + worse
    if flips == 0:
        return 1.0
    return min(1.0, 2.0 * binomial_cdf(min(better, worse), flips, 0.5))


def _t_test(mean: float, spread: float, n: int) -> float:
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return 2.0 * (1.0 - t_cdf(abs(mean) / spread, n - 1))


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for their number (Holm 1979); ``None`` stays ``None`` and does not count."""
    order = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p))
        corrected[place] = largest
    return corrected


def compare_runs(first: SampleIndex, second: SampleIndex) -> list[Comparison]:
    """Return a comparison for every exam that both runs have, in the order of the first."""
    shared = [exam for exam in first.exams() if exam in set(second.exams())]
    return [_compare_exam(exam, first, second) for exam in shared]


def _compare_exam(exam: str, first: SampleIndex, second: SampleIndex) -> Comparison:
    before, after = dict(first.scores(exam)), dict(second.scores(exam))
    shared = sorted(doc for doc in before.keys() & after.keys() if before[doc] is not None and after[doc] is not None)
    left_out = len(before.keys() | after.keys()) - len(shared)
    return compare_scores(
        exam,
        [value for doc in shared if (value := before[doc]) is not None],
        [value for doc in shared if (value := after[doc]) is not None],
        left_out,
    )


def flips(first: SampleIndex, second: SampleIndex, exam: str, *, better: bool) -> list[int]:
    """Return the document ids that the second run scored higher (``better``) or lower than the first."""
    before = dict(first.scores(exam))
    return [
        doc
        for doc, score in second.scores(exam)
        if (old := before.get(doc)) is not None and score is not None and (score > old if better else score < old)
    ]


def rows_of(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    """Return comparisons as JSON-like rows, each with its p corrected for the number of exams."""
    listed = list(comparisons)
    corrected = holm([each.p for each in listed])
    return [
        {**{name: getattr(each, name) for name in each.__dataclass_fields__}, "p_corrected": p}
        for each, p in zip(listed, corrected, strict=True)
    ]
