"""Two runs, exam by exam: paired differences of the main scores, and which instances flipped."""

from __future__ import annotations

from dataclasses import dataclass

from proctor.results.compare import compare, holm
from proctor.results.sample_index import SampleIndex

_FEWEST_PAIRS = 2


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
        p: From :func:`proctor.results.compare.compare`; ``p_corrected`` the same for all exams together (Holm).
        test: What p comes from.
        better, worse: Instances that the second run scored higher, and lower.
        detectable: The smallest difference that would be found four times out of five.
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


def compare_runs(first: SampleIndex, second: SampleIndex) -> list[ExamComparison]:
    """Return a comparison for every exam that both runs have, in the order of the first."""
    theirs = set(second.exams())
    found = [_compare_exam(exam, first, second) for exam in first.exams() if exam in theirs]
    tested = [each.p for each in found if each.p is not None]
    corrected = iter(holm(tested))
    return [_with_correction(each, None if each.p is None else next(corrected)) for each in found]


def _with_correction(comparison: ExamComparison, p: float | None) -> ExamComparison:
    values = {name: getattr(comparison, name) for name in ExamComparison.__dataclass_fields__}
    return ExamComparison(**{**values, "p_corrected": p})


def _compare_exam(exam: str, first: SampleIndex, second: SampleIndex) -> ExamComparison:
    before, after = dict(first.scores(exam)), dict(second.scores(exam))
    pairs = [
        (old, new)
        for document in sorted(before.keys() & after.keys())
        if (old := before[document]) is not None and (new := after[document]) is not None
    ]
    left_out = len(before.keys() | after.keys()) - len(pairs)
    better, worse = sum(new > old for old, new in pairs), sum(new < old for old, new in pairs)
    bare = ExamComparison(exam, len(pairs), left_out, better, worse)
    if len(pairs) < _FEWEST_PAIRS:
        return bare
    columns: tuple[list[float], list[float]] = ([old for old, _ in pairs], [new for _, new in pairs])
    found = compare(*columns, name=exam)
    return ExamComparison(
        exam,
        len(pairs),
        left_out,
        better,
        worse,
        found.first,
        found.second,
        found.difference,
        found.low,
        found.high,
        found.p_value,
        None,
        found.test,
        found.detectable,
    )


def flips(first: SampleIndex, second: SampleIndex, exam: str, *, better: bool) -> list[int]:
    """Return the document ids that the second run scored higher (``better``) or lower than the first."""
    before = dict(first.scores(exam))
    return [
        document
        for document, score in second.scores(exam)
        if (old := before.get(document)) is not None and score is not None and (score > old if better else score < old)
    ]
