"""Runs against a baseline, exam by exam: paired differences of the main scores, and which instances flipped.

Instances are paired by what they hold (:mod:`proctor.runs.pairs`); scores are compared only where they mean the same. A
score that is the mean of its instances is compared by its paired instances. One that is not (F1, BLEU) is computed
again, for both runs, on resamples of the pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np

from proctor.errors import ProctorError, ScoringError
from proctor.recipes.exam import Exam
from proctor.results.comparison import bounded_test
from proctor.running.regrade import RegradedExam
from proctor.running.spec import RunSpec
from proctor.runs.exam_comparison import FEWEST_PAIRS, Evidence, ExamComparison
from proctor.runs.labelled_pairs import corrected_pairs, labelled_side
from proctor.runs.meaning import differences_of, meaning_of, why_not_comparable
from proctor.runs.pairs import SharedLines, matched_exams
from proctor.runs.rankings import with_places
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import ScoredLines, failure_of
from proctor.scoring.grading.groups import Alone, cluster_key
from proctor.scoring.judges.judged import judges_that_differ
from proctor.scoring.scores import Score, Unit
from proctor.settings import settings
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.paired_tests import ResampledTest

FindExam = Callable[[RunSpec, str], Exam]
"""Builds an exam of a run again, by its name."""

RESAMPLES: Final = 1_000
FEWEST_RESAMPLES: Final = 200
"""Resamples of a score of a whole exam: enough for bounds at 2.5% and 97.5%."""

MOST_ANSWERS: Final = 300_000
"""Answers that are scored again for one comparison of such scores: BLEU of a thousand takes a third of a second. The
number of pairs alone decides how many resamples that are, so that a comparison says the same on every machine."""

_ROUNDED: Final = 5e-5
"""How far the mean of instance scores may be from the main score to be it, as a share of 1: some systems round."""


def compare_runs(first: SampleIndex, second: SampleIndex, find_exam: FindExam | None = None) -> list[ExamComparison]:
    """Return a comparison for every exam that both runs have, in the order of the first."""
    return compare_with(first, [second], find_exam)[0]


def compare_with(
    baseline: SampleIndex, others: Sequence[SampleIndex], find_exam: FindExam | None = None
) -> list[list[ExamComparison]]:
    """Return for each other run its comparisons with the baseline, as :func:`compare_runs` does.

    p and intervals hold for all exams of all runs together: who looks at twenty differences finds one by chance.

    Args:
        baseline: The run that the others are compared with.
        others: The others.
        find_exam: Builds exams again whose scores are of the whole exam; without it these are not compared.
    """
    found = [
        [evidence_of(baseline, mine, other, theirs, find_exam) for mine, theirs in matched_exams(baseline, other)]
        for other in others
    ]
    return with_places(corrected(found))


def corrected(found: Sequence[Sequence[ExamComparison]]) -> list[list[ExamComparison]]:
    """Return comparisons whose p-values and intervals hold for all of them together.

    Bonferroni's correction: Holm's rejects more, and has no intervals that agree with it and say how large what is
    rejected is (Strassburger and Bretz 2008, Statistics in Medicine 27:4914).
    """
    tested = sum(each.evidence is not None for comparisons in found for each in comparisons)
    return [[each.together_with(tested) for each in comparisons] for comparisons in found]


def evidence_of(
    first: SampleIndex,
    exam: str,
    second: SampleIndex,
    other: str,
    find_exam: FindExam | None = None,
    clusters: str | None = None,
) -> ExamComparison:
    """Return the comparison of two exams before p and interval, which :func:`corrected` gives all of a command.

    Args:
        first, exam: The baseline.
        second, other: What it is compared with.
        find_exam: Builds exams again whose scores are of the whole exam; without it these are not compared.
        clusters: The field whose values say which instances belong together; by default the one that a run names.
    """
    sides = _Sides(_Side(first, exam), _Side(second, other))
    bare = sides.described()
    if bare.refused or sides.count < FEWEST_PAIRS:
        return bare
    by = clusters or first.clusters.get(exam) or second.clusters.get(other)
    try:
        bare, corrected = sides.by_labels(bare, by)
        if corrected:
            return bare
        if by and sides.is_of_wholes:
            raise ScoringError(
                f"clusters of '{by}' are for means of instances", why=f"{bare.metric} is of all together"
            )
        return _of_scores(sides, bare, find_exam) if sides.is_of_wholes else _of_instances(sides, bare, by)
    except ProctorError as error:
        return replace(bare, refused=f"{error.diagnostics[0].what}{_because(error)}", better=0, worse=0)


def _because(error: ProctorError) -> str:
    return f": {error.diagnostics[0].why}" if error.diagnostics[0].why else ""


class _Side:
    """An exam of a run."""

    def __init__(self, index: SampleIndex, exam: str) -> None:
        self.index, self.exam = index, exam
        self.lines: ScoredLines = index.scored(exam)
        self.main: Score | None = index.mains.get(exam)
        self.unit: Unit | None = index.units.get(exam)
        self.fingerprint = index.fingerprints.get(exam)
        self.said = None if index.spec is None else index.spec.exams.get(exam)
        self.is_of_whole = self.main is not None and _is_of_whole(self.lines.scores, self.main)

    @property
    def lacks_lines(self) -> str:
        """The reason why the score is not that of the samples, where some of them are gone."""
        told, here = self.index.counts_said.get(self.exam, 0), len(self.lines.numbers)
        if not self.is_of_whole or here >= told or self.exam in self.index.copied:
            return ""
        return f"the samples have {here} of the {told} instances that the score of {self.exam} is of"

    def failed(self) -> set[int]:
        """Return the numbers of the instances that have a failure in place of an answer or a score."""
        return {int(each["doc_id"]) for each in self.index.records(self.exam) if failure_of(each) is not None}

    def regraded(self, find_exam: FindExam | None) -> RegradedExam:
        """Return the exam, graded again."""
        if self.exam in self.index.copied:
            raise ScoringError(
                f"the score of {self.exam} is of several runs of its questions together, not a mean of instances"
            )
        if find_exam is None:
            name = self.main.name if self.main is not None else "this"
            raise ScoringError(f"{name} is a score of the whole exam: proctor compare computes it on resamples")
        if self.index.spec is None or self.main is None:
            raise ScoringError(f"{self.exam} has a score of the whole exam, and what was run is not known")
        exam = find_exam(self.index.spec, self.exam)
        return RegradedExam(exam, self.index.records(self.exam), self.main)


def _is_of_whole(scores: Floats, main: Score) -> bool:
    """Whether a main score is anything else than the mean of the scores of instances."""
    known = scores[~np.isnan(scores)]
    if main.number is None:
        return False
    near = _ROUNDED * (100.0 if main.unit == "percent" else 1.0)
    return not known.size or not math.isclose(float(known.mean()), main.number, rel_tol=1e-6, abs_tol=near)


def _converted(values: Floats, unit: Unit, common: Unit) -> Floats:
    """Return scores of a unit in the one in which both sides are compared."""
    return values / 100.0 if (unit, common) == ("percent", "share") else values


class _Sides:
    """An exam of one run and an exam of another, with the instances that they have in common."""

    def __init__(self, first: _Side, second: _Side) -> None:
        self.first, self.second = first, second
        shared = SharedLines(first.index, first.exam, second.index, second.exam)
        self.pairs, self.columns, self.as_sent = shared.pairs, shared.columns, shared.as_sent
        first.lines, second.lines = shared.first, shared.second
        units = first.unit or second.unit or "raw", second.unit or first.unit or "raw"  # older runs do not say it
        self.unit: Unit = units[0] if units[0] == units[1] else "share"
        self.is_of_wholes = first.is_of_whole or second.is_of_whole
        mine = _converted(first.lines.scores, units[0], self.unit)[self.pairs.first]
        theirs = _converted(second.lines.scores, units[1], self.unit)[self.pairs.second]
        self.all_scores = mine, theirs
        self.is_scored = ~(np.isnan(mine) | np.isnan(theirs))
        self.kept = np.ones(len(mine), bool) if self.is_of_wholes else self.is_scored
        self.scores = mine[self.kept], theirs[self.kept]
        self.count = int(self.kept.sum())
        ways = [side.main.higher_is_better for side in (first, second) if side.main is not None]
        self.higher_is_better = next((way for way in ways if way is not None), None)

    @property
    def numbers(self) -> tuple[Indices, Indices]:
        """The numbers of the instances that are compared, of either side."""
        mine, theirs = self.all_numbers
        return mine[self.kept], theirs[self.kept]

    @property
    def all_numbers(self) -> tuple[Indices, Indices]:
        """The numbers of the instances that both have, of either side."""
        return self.first.lines.numbers[self.pairs.first], self.second.lines.numbers[self.pairs.second]

    def unanswered(self) -> int:
        """Return how many instances that both have lack a score; of scores of wholes, an answer."""
        if not self.is_of_wholes:
            return int((~self.is_scored).sum())
        mine, theirs = (side.failed() for side in (self.first, self.second))
        return sum(int(a) in mine or int(b) in theirs for a, b in zip(*self.all_numbers, strict=True))

    def described(self) -> ExamComparison:
        """Return the comparison without numbers."""
        one, two, pairs = self.first, self.second, self.pairs
        either = pairs.alone_first + pairs.alone_second + len(pairs)
        refused = (
            why_not_comparable(one.main, two.main, (one.unit, two.unit), (one.fingerprint, two.fingerprint))
            or judges_that_differ(one.index.judged.get(one.exam), two.index.judged.get(two.exam))
            or self._nothing_in_common()
            or self._unlike_the_rest()
            or one.lacks_lines
            or two.lacks_lines
        )
        mine, theirs = meaning_of(one.main), meaning_of(two.main)
        better, worse = (0, 0) if refused or self.is_of_wholes else self._flipped()
        return ExamComparison(
            one.exam,
            self.count,
            either - self.count,
            better,
            worse,
            unit=self.unit,
            refused=refused,
            metric=mine,
            task_second=two.exam,
            metric_second=theirs,
            alone_first=pairs.alone_first,
            alone_second=pairs.alone_second,
            unanswered=0 if self.is_of_wholes else self.unanswered(),
            higher_is_better=self.higher_is_better,
            notes=tuple(self._notes()),
        )

    def _nothing_in_common(self) -> str:
        counts = len(self.first.lines.numbers), len(self.second.lines.numbers)
        if len(self.pairs) or not all(counts):
            return ""
        if not (self.first.lines.digests.any() and self.second.lines.digests.any()):
            return "one of the runs does not say what its instances hold, so nothing tells which are the same"
        return f"their {counts[0]} and {counts[1]} instances have none in common"

    def _unlike_the_rest(self) -> str:
        drawn = [side.exam for side in (self.first, self.second) if side.exam in side.index.adaptive]
        if not drawn:
            return ""
        return (
            f"questions of {drawn[0]} were drawn for what they tell (adaptive): they are harder to foretell than others"
        )

    def cluster_keys(self, by: str) -> list[Hashable]:
        """Return the cluster of each instance that both have.

        Raises:
            ScoringError: Neither run's samples have the field.
        """
        for side, numbers in zip((self.first, self.second), self.all_numbers, strict=True):
            values = dict(_values(side.index.records(side.exam), by))
            found = [values.get(int(number), Alone(int(number))) for number in numbers]
            if not all(isinstance(key, Alone) for key in found):
                return found
        hint = "clusters are of a field of the task or its metadata: proctor show lists them"
        raise ScoringError(f"the samples of {self.first.exam} have no field '{by}'", hint=hint)

    def by_labels(self, bare: ExamComparison, by: str | None) -> tuple[ExamComparison, bool]:
        """Return the comparison as labels correct it, and whether they do; where kept ones do not, a note says why.

        Raises:
            ScoringError: Labels were named that cannot.
        """
        sides = (self.first, self.pairs.first), (self.second, self.pairs.second)
        found = [labelled_side(side.index, side.exam, side.lines, kept) for side, kept in sides]
        labelled = [each for each in found if each is not None]
        if not labelled:
            return bare, False
        lack = "labels correct means of instances, and this is a score of all together" if self.is_of_wholes else ""
        lack = lack or next(filter(None, (each.lack(self.is_scored) for each in labelled)), "")
        lack = lack or "the other run has no labels" * (len(labelled) < len(found))
        if not lack:
            return corrected_pairs(bare, labelled, self.is_scored, self.cluster_keys(by) if by else None), True
        if not labelled[0].is_kept:
            raise ScoringError(lack)
        note = f"as judged, although labels are kept in {labelled[0].kept[0]}: {lack}"
        return replace(bare, notes=(*bare.notes, note)), False

    def _notes(self) -> list[str]:
        one, two = self.first, self.second
        by_number = ["instances are paired by number: neither run says what they hold"] * (self.pairs.by == "number")
        few = ", ".join(sorted(self.columns))
        more = [f"paired by the columns that both runs have: only one has {few}"] if few else []
        if self.as_sent:
            more.append(f"{self.as_sent} paired by what was sent and is right: nothing says that their rows are equal")
        prints, said = (one.fingerprint, two.fingerprint), (one.said, two.said)
        return [*by_number, *more, *differences_of(one.main, two.main, prints, said)]

    def _flipped(self) -> tuple[int, int]:
        mine, theirs = self.scores
        more, less = int((theirs > mine).sum()), int((theirs < mine).sum())
        return (less, more) if self.higher_is_better is False else (more, less)


def _values(records: Iterator[dict[str, Any]], by: str) -> Iterator[tuple[int, Hashable]]:
    for record in records:
        given, number = record.get("input"), record.get("doc_id")
        if isinstance(given, Mapping) and isinstance(number, int):
            yield number, cluster_key(given, by, number)


def _of_instances(sides: _Sides, bare: ExamComparison, by: str | None = None) -> ExamComparison:
    keys = sides.cluster_keys(by) if by else None
    notes = [*bare.notes]
    if keys is not None:
        single = sum(isinstance(key, Alone) for key in keys)
        without = f"; {single} instances have no '{by}', and each is a cluster of its own" if single else ""
        notes.append(f"errors are of {len(set(keys))} clusters of '{by}'{without}")
    old, new = sides.scores
    return replace(
        bare,
        notes=tuple(notes),
        first=float(old.mean()),
        second=float(new.mean()),
        difference=float((new - old).mean()),
        evidence=(evidence := _evidence(sides, keys)),
        test=evidence.test.name,
    )


def _evidence(sides: _Sides, keys: Sequence[Hashable] | None) -> Evidence:
    """Return the test of the pairs, with what holds whatever those without a score would have had."""
    whole = {"percent": 100.0, "share": 1.0}.get(sides.unit)
    return Evidence(bounded_test(*sides.all_scores, keys, whole), sides.all_numbers[0], *sides.all_scores, keys, whole)


def _of_scores(sides: _Sides, bare: ExamComparison, find_exam: FindExam | None) -> ExamComparison:
    """Compare scores of whole exams: a bootstrap of the pairs, the score computed again for both on each resample."""
    before, after = sides.first.regraded(find_exam), sides.second.regraded(find_exam)
    numbers, others = (each.tolist() for each in sides.numbers)
    scale = [0.01 if (side.unit, sides.unit) == ("percent", "share") else 1.0 for side in (sides.first, sides.second)]
    first, second = scale[0] * before.score(numbers), scale[1] * after.score(others)
    differences = np.array(
        [
            scale[1] * after.score([others[place] for place in places])
            - scale[0] * before.score([numbers[place] for place in places])
            for places in _resamples(len(numbers))
        ]
    )
    differences = differences[~np.isnan(differences)]
    if len(differences) < FEWEST_RESAMPLES // 2 or math.isnan(first - second):
        raise ScoringError(f"{bare.metric} is not defined on these {len(numbers)} instances")
    note = f"{bare.metric} is a score of the whole exam: {len(differences)} paired resamples"
    return replace(
        bare,
        first=first,
        second=second,
        difference=second - first,
        evidence=Evidence(ResampledTest(second - first, np.sort(differences), len(numbers))),
        test="bootstrap",
        unanswered=(lost := sides.unanswered()),
        signs=(-1, 1) if lost else (0, 0),
        notes=(*bare.notes, note),
    )


def _resamples(count: int) -> Iterator[list[int]]:
    """Yield resamples of so many pairs."""
    generator = np.random.default_rng(settings.seed & 0xFFFFFFFF)
    for _ in range(min(RESAMPLES, max(FEWEST_RESAMPLES, MOST_ANSWERS // count))):
        yield generator.integers(0, count, count).tolist()


def flips(first: SampleIndex, second: SampleIndex, exam: str, *, better: bool, other: str | None = None) -> list[int]:
    """Return the numbers, in the first run, of the instances that the second run scored better, or worse."""
    return [mine for mine, _ in pairs_by_change(first, second, exam, other or exam)["better" if better else "worse"]]


Change = Literal["worse", "better", "same"]
"""What became of an instance: whether the second run scored it worse than the first, better, or equally."""


def pairs_by_change(
    first: SampleIndex, second: SampleIndex, exam: str, other: str
) -> dict[Change, list[tuple[int, int]]]:
    """Return the numbers in both runs of the instances that both scored, by what became of them."""
    sides = _Sides(_Side(first, exam), _Side(second, other))
    if sides.described().refused or sides.is_of_wholes:
        return {"worse": [], "better": [], "same": []}
    mine, theirs = sides.scores if sides.higher_is_better is not False else sides.scores[::-1]
    one, two = sides.numbers
    chosen: dict[Change, Any] = {"worse": theirs < mine, "better": theirs > mine, "same": theirs == mine}
    return {
        change: [(int(a), int(b)) for a, b in zip(one[kept], two[kept], strict=True)] for change, kept in chosen.items()
    }
