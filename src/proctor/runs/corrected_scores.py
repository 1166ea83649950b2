"""Scores of runs beside what they are once labels have corrected them, and the judge beside people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from proctor.errors import UsageError
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.summary import shown
from proctor.runs.answer_labels import Labels, ScoredAnswers, answers_of, labelled_exams
from proctor.runs.item_tables import ItemTable
from proctor.runs.stored_run import StoredRun
from proctor.scoring.flat_scores import main_of
from proctor.scoring.judges.judge_agreement import Agreement, agreement
from proctor.scoring.judges.judged import JUDGED
from proctor.statistics import label_correction
from proctor.statistics.bounded import share_bounds
from proctor.statistics.label_correction import Bounded, CorrectedMean

FEWEST: Final = 10
"""Labels from which on a score is corrected: the intervals of fewer are nearly as wide as the scale."""
_USUAL: Final = 100  # labels, for comparison
_HALF: Final = 0.5  # of the points: a score or label above it says that an answer is right
_PAIR: Final = 2  # labels of a kind that have a spread


@dataclass(frozen=True, slots=True)
class CorrectedScore:
    """A score of a run, plain and corrected, each with its interval and in the unit of the exam.

    Attributes:
        corrected: ``None`` where labels do not allow it; the notes say why.
        method: ``prediction-powered``, ``Rogan-Gladen``, or nothing.
        labels: Answers with a label that were used.
        judge: Its verdicts beside the labels of its answers.
    """

    run: str
    exam: str
    metric: str
    plain: tuple[float | None, ...]
    corrected: Bounded | None
    method: str
    labels: int
    judge: Agreement | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corrections:
    """What labels say of some runs; differences are of the first run of an exam and each later one."""

    scores: list[CorrectedScore]
    differences: list[tuple[str, str, Bounded]]
    labellers: Agreement | None
    notes: list[str]


class _Case:
    """An exam of a run, with its labels."""

    def __init__(self, run: StoredRun, answers: ScoredAnswers, labels: Labels) -> None:
        self.run, self.answers, self.entry = run, answers, answers.entry
        self.labels, self.weights = labels.of(answers)
        self.known = np.isfinite(self.labels)
        self.count = int(self.known.sum())
        self.told = self.known & (self.labels != _HALF) & (answers.scores != _HALF)  # verdicts on both sides
        self.scale = 100.0 if self.entry.get("unit") == "percent" else 1.0
        self.mean: CorrectedMean | None = None

    def verdicts(self) -> tuple[list[bool], list[bool]]:
        """Return what the judge and what people say, right or wrong."""
        return (self.answers.scores[self.told] > _HALF).tolist(), (self.labels[self.told] > _HALF).tolist()

    def is_judged_as(self, other: _Case) -> bool:
        """Whether what labels say of another run's judge holds for this one's: one exam, one judge, right or wrong."""
        prints = [Fingerprint.from_dict(each.entry.get(FINGERPRINT)) or Fingerprint() for each in (self, other)]
        same = self.answers.exam == other.answers.exam and self.entry.get(JUDGED) == other.entry.get(JUDGED)
        verdicts = (np.isin(each.answers.scores, (0.0, 1.0)).all() for each in (self, other))
        return same and prints[0].metrics == prints[1].metrics != "" and all(verdicts)


def corrections_of(runs: Sequence[StoredRun], labels: Labels) -> Corrections:
    """Return the scores of runs as labels correct them; refuse labels of none of their answers, or that all differ."""
    cases, unfit = [], []
    for run, exam in [(each, exam) for each in runs for exam in labelled_exams(each)]:
        try:
            cases.append(_Case(run, answers_of(run, exam), labels))
        except UsageError as error:
            unfit.append(": ".join(filter(None, (error.diagnostics[0].what, error.diagnostics[0].why))))
    if unfit and not cases:
        raise UsageError("; ".join(unfit))
    notes, labellers = [*unfit, *_notes(cases, labels)], _labellers(labels)
    if labellers and not labellers.kappa_interval.low > 0:
        notes.append("labellers may agree by chance alone: what is right has to be settled before a score is believed")
    scores = [_corrected(case, cases) for case in cases]
    differences = []
    for case in cases:
        first = next(each for each in cases if each.answers.exam == case.answers.exam)
        if first is not case and first.mean and case.mean:
            bounds = label_correction.corrected_difference(first.mean, case.mean)
            names = case.answers.exam, f"{case.run.path.name} less {first.run.path.name}"
            differences.append((*names, Bounded(*(each * case.scale for each in bounds))))
    return Corrections(scores, differences, labellers, notes)


def _labellers(labels: Labels) -> Agreement | None:
    every = [[str(given[each]) for each in sorted(given)] for given in labels.given.values()]
    pairs = [pair for given in every for pair in combinations(given, 2)]
    if len(pairs) < _PAIR:
        return None
    found = agreement([first for first, _ in pairs], [second for _, second in pairs])
    if not found.share:
        hint = "settle what makes an answer right, and label again"
        raise UsageError(f"the labellers agree on none of {len(pairs)} answers", hint=hint)
    return found


def _notes(cases: Sequence[_Case], labels: Labels) -> list[str]:
    """Return what there is to say of the labels as they were given; refuse those of which none belongs to an answer."""
    keys = {(draw, key) for case in cases for key in case.answers.keys for draw in ("", case.answers.draw)}
    instances = {key.rpartition("-")[0] for _, key in keys}
    lost = [key for key in labels.given if key not in keys]
    older = sum(key.rpartition("-")[0] in instances for _, key in lost)
    told = f"{len(lost)} of {len(labels.given)} labels are not of answers of these runs"
    told += f" ({older} of other answers to the same questions: another version, or another run)" * bool(older)
    if len(lost) == len(labels.given):
        hint = "name the run they were drawn from, too, or label this one: proctor judge label RUN"
        raise UsageError(told if lost else "no line has a label", hint=hint)
    notes = [f"{told}: not counted"] if lost else []
    if labels.empty:
        notes.append(f"{labels.empty} lines have no label: they count as left out by chance")
    if any(not draw for draw, _ in labels.given):
        notes.append("labels without a draw count as drawn at random from all answers")
    return notes


def _corrected(case: _Case, cases: Sequence[_Case]) -> CorrectedScore:
    main, bounds, method, used = main_of(case.entry), None, "", case.count
    lenders = [each for each in cases if each is not case and each.count >= FEWEST and case.is_judged_as(each)]
    if problem := _problem(case, main.value):
        note = f"no corrected score: {problem}"
    elif case.count >= FEWEST:
        known = case.answers.scores, case.labels, case.weights, case.answers.questions
        found = case.mean = label_correction.corrected_mean(*known)
        bounds, method = found.bounds, "prediction-powered"
        note = f"{used} of {len(case.labels)} answers have labels: {method}; the judge weighs {found.trust:.2f}"
    elif lenders:
        verdicts, truths = lenders[0].verdicts()
        scores, used = case.answers.scores.tolist(), len(truths)
        bounds = label_correction.rogan_gladen(scores, verdicts, truths)
        errors = f"the judge's errors on {used} labelled answers of {lenders[0].run.path.name}"
        note = f"no corrected score: by {errors} it knows no more than chance, and a correction leaves the scale"
        if bounds:
            method = "Rogan-Gladen"
            note = f"fewer than {FEWEST} labels: {method} correction by {errors}; it holds if it errs as often here"
    else:
        note = f"no corrected score: {_too_few(case)}"
    notes = [note]
    if bounds and not 0 <= bounds.value <= 1:
        notes.append(f"the correction, {shown(bounds.value * case.scale)}, leaves the scale: its end is shown")
    if case.run.model in (case.run.run.get("judges") or {}):
        notes.append(f"{case.run.model} judged itself: what it prefers in its own answers is in the plain score")
    return CorrectedScore(
        case.run.path.name,
        case.answers.exam,
        main.name,
        tuple(float(each) if isinstance(each, int | float) else None for each in (main.value, main.low, main.high)),
        bounds and Bounded(*(min(max(each, 0.0), 1.0) * case.scale for each in bounds)),
        method,
        used,
        agreement(*([str(each) for each in side] for side in case.verdicts())) if case.told.sum() >= FEWEST else None,
        tuple(notes),
    )


def _problem(case: _Case, score: object) -> str:
    """Return why labels cannot correct a score; nothing where they can."""
    mean = float(case.answers.scores.mean()) * case.scale
    if not isinstance(score, int | float) or not math.isclose(mean, score, abs_tol=1e-6 * case.scale):
        return f"{case.entry.get('score_name')} is not the mean of the answers' scores"
    counts = Counter(case.weights[case.known].tolist())
    alone = [weight for weight, count in counts.items() if count < _PAIR <= FEWEST <= case.count]
    return f"one alone of the answers that stand for {alone[0]:g} has a label; label one more" if alone else ""


def _too_few(case: _Case) -> str:
    if not case.count:
        return "none of its answers has a label"
    bounds = [share_bounds(count // 2, count) for count in (case.count, _USUAL)]
    widths = [shown((high - low) * case.scale) for low, high in bounds]
    few = f"{case.count} of its answers have a label, and {FEWEST} are the fewest"
    return f"{few}: so few leave an interval {widths[0]} wide, {_USUAL} one of {widths[1]}"


def correction_tables(found: Corrections) -> Iterator[ItemTable]:
    """Yield what labels say as tables for people."""
    header: tuple[str, ...] = ("exam", "score", "as it was judged", "corrected", "labels", "method")
    rows = [
        (_name(it), it.metric, _told(it.plain), _told(it.corrected), str(it.labels), it.method or "-")
        for it in found.scores
    ]
    yield ItemTable("Scores corrected by labels, with 95% intervals", header, tuple(rows))
    if found.differences:
        differences = tuple((exam, runs, _told(bounds)) for exam, runs, bounds in found.differences)
        yield ItemTable("Differences of corrected scores, paired", ("exam", "runs", "difference"), differences)
    every = [(_name(it), "judge and labels", it.judge) for it in found.scores] + [("all", "labellers", found.labellers)]
    measures = ("share", "kappa", "ac1")
    agreed = tuple(
        (name, who, str(it.count), *(_told((getattr(it, each), *getattr(it, f"{each}_interval"))) for each in measures))
        for name, who, it in every
        if it
    )
    header = ("exam", "who", "answers", "agree", "Cohen's kappa", "Gwet's AC1")
    if agreed:
        yield ItemTable("Agreement on labelled answers, with 95% intervals", header, agreed)


def correction_notes(found: Corrections) -> list[str]:
    """Return what was done and why, a sentence each."""
    return [*found.notes, *(f"{_name(each)}: {note}" for each in found.scores for note in each.notes)]


def _name(score: CorrectedScore) -> str:
    return f"{score.exam}, {score.run}"


def _told(bounds: tuple[float | None, ...] | None) -> str:
    value, low, high = bounds or (None, None, None)
    return shown(value) + ("" if low is None or math.isnan(low) else f" [{shown(low)}, {shown(high)}]")
