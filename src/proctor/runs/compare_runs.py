"""Runs against a baseline, exam by exam: paired differences of the main scores, and which instances flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from proctor.results.comparison import compare, holm
from proctor.runs.sample_index import SampleIndex
from proctor.scoring.score import Unit

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

_FEWEST_PAIRS = 2  # the spread of one difference is not defined


@dataclass(frozen=True, slots=True)
class ExamComparison:
    """Second run minus first run, on the instances of one exam that both scored.

    Attributes:
        task: The exam.
        n: Instances that both runs scored.
        left_out: Instances that only one run has or scored.
        first, second: Mean scores over the ``n`` instances; ``None`` where n is 0.
        difference: ``second - first``.
        low, high: Bounds of its 95% interval; ``None`` where n < 2, and so for what follows.
        p: From :func:`proctor.results.compare`; ``p_corrected`` the same for all comparisons together (Holm).
        test: What p comes from.
        better, worse: Instances that the second run scored higher, and lower.
        detectable: The smallest difference that would be found four times out of five.
        unit: In which unit the scores are; shares where one run has shares and the other percentages.
        refused: Why the runs cannot be compared on this exam, where they cannot.
    """

    task: str
    n: int
    left_out: int
    better: int = 0
    worse: int = 0
    first: float | None = None
    second: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    test: str = ""
    detectable: float | None = None
    unit: Unit = "raw"
    refused: str = ""


def compare_runs(first: SampleIndex, second: SampleIndex) -> list[ExamComparison]:
    """Return a comparison for every exam that both runs have, in the order of the first."""
    return compare_with(first, [second])[0]


def compare_with(baseline: SampleIndex, others: Sequence[SampleIndex]) -> list[list[ExamComparison]]:
    """Return for each other run its comparisons with the baseline, as :func:`compare_runs` does.

    The corrected p-values hold for all exams of all runs together: who looks at twenty differences finds one by chance.
    """
    names = baseline.exams()
    found = []
    for other in others:
        theirs = set(other.exams())
        found.append([_compare_exam(exam, baseline, other) for exam in names if exam in theirs])
    tested = [each.p for comparisons in found for each in comparisons if each.p is not None]
    corrected = iter(holm(tested))
    return [
        [each if each.p is None else replace(each, p_corrected=next(corrected)) for each in comparisons]
        for comparisons in found
    ]


def _compare_exam(exam: str, first: SampleIndex, second: SampleIndex) -> ExamComparison:
    _, old, new, either = _paired(first, second, exam)
    left_out = either - len(old)
    better, worse = int((new > old).sum()), int((new < old).sum())
    bare = ExamComparison(exam, len(old), left_out, better, worse, unit=_units(first, second, exam)[2])
    if why := _difference_of_units(first, second, exam):
        return replace(bare, better=0, worse=0, refused=why)
    if len(old) < _FEWEST_PAIRS:
        return bare
    found = compare(old.tolist(), new.tolist(), name=exam)
    return replace(
        bare,
        first=found.first,
        second=found.second,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p=found.p_value,
        test=found.test,
        detectable=found.detectable,
    )


def _paired(first: SampleIndex, second: SampleIndex, exam: str) -> tuple[Numbers, Floats, Floats, int]:
    """Return the instances that both runs scored, both scores of each, and how many instances either run has."""
    (numbers, before), (others, after) = first.score_columns(exam), second.score_columns(exam)
    mine, theirs, common = _units(first, second, exam)
    before, after = _converted(before, mine, common), _converted(after, theirs, common)
    shared, here, there = np.intersect1d(numbers, others, assume_unique=True, return_indices=True)
    old, new = before[here], after[there]
    scored = ~(np.isnan(old) | np.isnan(new))
    return shared[scored], old[scored], new[scored], len(numbers) + len(others) - len(shared)


def _units(first: SampleIndex, second: SampleIndex, exam: str) -> tuple[Unit, Unit, Unit]:
    """Return the unit of an exam's scores in either run, and the one to compare them in."""
    mine, theirs = first.units.get(exam, "raw"), second.units.get(exam, "raw")
    return mine, theirs, mine if mine == theirs else "share"


def _converted(values: Floats, unit: Unit, common: Unit) -> Floats:
    return values / 100.0 if (unit, common) == ("percent", "share") else values


def _difference_of_units(first: SampleIndex, second: SampleIndex, exam: str) -> str:
    """Return why two runs cannot be compared on an exam; empty where they can, or where a run does not say its unit."""
    if exam not in first.units or exam not in second.units:
        return ""
    mine, theirs, _ = _units(first, second, exam)
    if (mine == "raw") == (theirs == "raw"):
        return ""
    return f"one run has a score in the unit '{mine}', the other in the unit '{theirs}'"


def flips(first: SampleIndex, second: SampleIndex, exam: str, *, better: bool) -> list[int]:
    """Return the numbers of the instances that the second run scored higher (``better``) or lower than the first."""
    numbers, old, new, _ = _paired(first, second, exam)
    return [int(number) for number in numbers[new > old if better else new < old]]
