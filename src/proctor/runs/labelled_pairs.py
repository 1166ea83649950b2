"""Comparisons of scores as labels correct them: one test, from which interval, p and sentence come."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from proctor.errors import ScoringError, UsageError
from proctor.runs.answer_labels import answers_in, why_too_few
from proctor.runs.exam_comparison import Evidence, ExamComparison
from proctor.runs.kept_labels import labels_for
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import ScoredLines, instance_of_key
from proctor.statistics.arrays import Bools, Floats, Indices
from proctor.statistics.label_correction import CorrectedMean, LabelledTest, corrected_mean, corrected_test
from proctor.statistics.paired_tests import BoundedTest, PairedTest


class LabelledSide(NamedTuple):
    """The answers of a run to the questions that are compared, with what the judge and what people say.

    Attributes:
        run: Its name.
        kept: The files of its labels, where nobody named them.
        is_kept: Whether nobody did.
        places: The question of each answer, by its place among those that are compared.
        scores, known, weights: As of :func:`~proctor.statistics.label_correction.corrected_mean`.
    """

    run: str
    kept: tuple[Path, ...]
    is_kept: bool
    places: Indices
    scores: Floats
    known: Floats
    weights: Floats

    def corrected(self, is_scored: Bools, units: Indices) -> CorrectedMean:
        """Return the corrected mean over questions that both runs scored, which depend on each other by units."""
        kept = is_scored[self.places]
        return corrected_mean(self.scores[kept], self.known[kept], self.weights[kept], units[self.places[kept]])

    def lack(self, is_scored: Bools) -> str:
        """Return why labels do not correct it over questions that both runs scored; nothing where they do."""
        kept = is_scored[self.places]
        few = why_too_few(self.known[kept], self.weights[kept])
        return f"labels do not correct {self.run}: {few}" if few else ""


def labelled_side(index: SampleIndex, exam: str, lines: ScoredLines, kept: Indices) -> LabelledSide | None:
    """Return the answers to questions of an exam; ``None`` where nobody named labels and none of them are kept.

    Args:
        index, exam: The run and its exam.
        lines: Its instances.
        kept: The places of those that are compared.

    Raises:
        ScoringError: Labels were named, and its scores are not such as labels correct.
    """
    labels = labels_for(index)
    if labels is None:
        return None
    try:
        answers = answers_in(index, exam)
    except UsageError as error:
        if labels.is_kept:
            return None
        raise ScoringError(error.diagnostics[0].what, why=error.diagnostics[0].why) from None
    known, weights = labels.of(answers)
    if labels.is_kept and not np.isfinite(known).any():
        return None
    by_content = exam in index.copied  # of such an exam, several answers are to one question
    wanted = (lines.digests if by_content else lines.numbers)[kept].tolist()
    own = map(instance_of_key, answers.keys) if by_content else answers.numbers.tolist()
    place = {each: at for at, each in enumerate(wanted)}
    places = np.array([place.get(each, -1) for each in own], dtype=np.int64)
    asked = places >= 0
    scores, known, weights = (values[asked] for values in (answers.scores, known, weights))
    where = {labels.sources[each]: None for each in labels.ids(answers) if labels.is_kept and each in labels.sources}
    run = index.path.parent.name
    return LabelledSide(run, tuple(where), labels.is_kept, places[asked], scores, known, weights)


def corrected_pairs(
    bare: ExamComparison, sides: Sequence[LabelledSide], is_scored: Bools, keys: Sequence[Hashable] | None
) -> ExamComparison:
    """Return the comparison of two runs by corrected means of the instances that both scored.

    Args:
        bare: The comparison without numbers.
        sides: Both runs.
        is_scored: Which instances both scored.
        keys: The cluster of each instance, where there are clusters.
    """
    places = np.arange(len(is_scored))
    units = places if keys is None else np.unique([repr(key) for key in keys], return_inverse=True)[1]
    first, second = (side.corrected(is_scored, units) for side in sides)
    scale = 100.0 if bare.unit == "percent" else 1.0
    test = with_unanswered(replace(corrected_test(first, second, scale), pairs=int(is_scored.sum())), bare.unanswered)
    return replace(
        bare,
        first=scale * first.bounds.value,
        second=scale * second.bounds.value,
        difference=test.difference,
        evidence=Evidence(test),
        test=test.name,
        better=0,
        worse=0,
        notes=(*bare.notes, *_notes(sides, (first, second))),
    )


def with_unanswered(test: LabelledTest, unanswered: int) -> PairedTest:
    """Return a test that holds whatever instances without a score would have scored."""
    if not unanswered:
        return test
    share = test.pairs / (test.pairs + unanswered)
    ends = [
        replace(test, difference=share * test.difference + (1 - share) * end, error=share * test.error)
        for end in (-test.reach, test.reach)
    ]
    return BoundedTest(test, *ends)


def _notes(sides: Sequence[LabelledSide], means: Sequence[CorrectedMean]) -> list[str]:
    told = [f"{mean.labels} of {side.run}" for side, mean in zip(sides, means, strict=True)]
    where = {str(path): None for side in sides for path in side.kept}
    kept = f", as kept in {', '.join(where)}" if where else ""
    return [
        f"scores, difference, interval and p are corrected by labels: {' and '.join(told)}{kept} (prediction-powered)"
    ]
