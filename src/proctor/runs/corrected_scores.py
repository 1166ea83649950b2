"""Scores of runs beside what they are once labels have corrected them, and the judge beside people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from proctor.errors import UsageError
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.summary import shown
from proctor.runs.answer_labels import FEWEST, Labels, ScoredAnswers, answers_in, index_of, labelled_exams, why_too_few
from proctor.runs.compare_runs import compare_with
from proctor.runs.item_tables import ItemTable
from proctor.runs.judge_report import LABELLERS, JudgeReport, judge_report, report_tables
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import StoredRun
from proctor.scoring.flat_scores import main_of
from proctor.scoring.judges.judged import JUDGED
from proctor.statistics import label_correction
from proctor.statistics.bounded import share_bounds
from proctor.statistics.label_correction import PREDICTION_POWERED, Bounded

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
        labels_to_halve: About how many more halve the interval; ``None`` where labels of all answers do not.
        least_width: How wide the interval were with labels of all answers, as a share of its width.
    """

    run: str
    exam: str
    metric: str
    plain: tuple[float | None, ...]
    corrected: Bounded | None
    method: str
    labels: int
    notes: tuple[str, ...]
    labels_to_halve: int | None = None
    least_width: float | None = None


@dataclass(frozen=True, slots=True)
class Corrections:
    """What labels say of some runs; differences are of the first run of an exam and each later one."""

    scores: list[CorrectedScore]
    differences: list[tuple[str, str, Bounded]]
    judges: JudgeReport
    notes: list[str]


class _Case:
    """An exam of a run, with its labels."""

    def __init__(self, run: StoredRun, index: SampleIndex, exam: str, labels: Labels) -> None:
        answers = answers_in(index, exam)
        self.run, self.answers, self.entry = run, answers, answers.entry
        self.labels, self.weights = labels.of(answers)
        self.known = np.isfinite(self.labels)
        self.count = int(self.known.sum())
        self.told = self.known & (self.labels != _HALF) & (answers.scores != _HALF)  # verdicts on both sides
        self.scale = 100.0 if self.entry.get("unit") == "percent" else 1.0

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
    indexes = [index_of(run) for run in runs]
    for run, index in zip(runs, indexes, strict=True):
        index.labels = labels
        for exam in labelled_exams(run):
            try:
                cases.append(_Case(run, index, exam, labels))
            except UsageError as error:
                unfit.append(": ".join(filter(None, (error.diagnostics[0].what, error.diagnostics[0].why))))
    if unfit and not cases:
        raise UsageError("; ".join(unfit))
    labels = labels.among(case.answers for case in cases)
    _check_labellers(labels)
    notes, judges = [*unfit, *_notes(cases, labels)], judge_report(runs, labels)
    if any(each.of.endswith(LABELLERS) and not (each.low > 0 or each.value == 1) for each in judges.measures):
        notes.append("labellers may agree by chance alone: what is right has to be settled before a score is believed")
    scores = [_corrected(case, cases) for case in cases]
    return Corrections(scores, list(_differences(indexes)), judges, notes)


def _differences(indexes: Sequence[SampleIndex]) -> Iterator[tuple[str, str, Bounded]]:
    """Yield the corrected differences that ``proctor compare`` gives of these runs."""
    first, others = indexes[0], indexes[1:]
    for index, rows in zip(others, compare_with(first, others), strict=True):
        for row in rows:
            if row.test == PREDICTION_POWERED and row.difference is not None and row.low is not None:
                names = row.task, f"{index.path.parent.name} less {first.path.parent.name}"
                yield (*names, Bounded(row.difference, row.low, row.high or row.low))


def _check_labellers(labels: Labels) -> None:
    every = [list(given.values()) for given in labels.given.values()]
    pairs = [one == two for given in every for one, two in combinations(given, 2)]
    if len(pairs) >= _PAIR and not any(pairs):
        hint = "settle what makes an answer right, and label again"
        why = "labels that contradict each other everywhere say nothing of what is right"
        raise UsageError(f"the labellers agree on none of {len(pairs)} answers", why=why, hint=hint)


def _notes(cases: Sequence[_Case], labels: Labels) -> list[str]:
    """Return what there is to say of the labels as they were given; refuse those of which none belongs to an answer."""
    keys = {each for case in cases for each in labels.ids(case.answers)}
    instances = {key.rpartition("-")[0] for _, key in keys}
    lost = [key for key in labels.given if key not in keys]
    older = sum(key.rpartition("-")[0] in instances for _, key in lost)
    told = f"{len(lost)} of {len(labels.given)} labels are not of answers of these runs"
    told += f" ({older} of other answers to the same questions: another version, or another run)" * bool(older)
    if len(lost) == len(labels.given):
        if not lost:
            why = f"the column label of {labels.empty} lines is empty"
            raise UsageError("no line has a label", why=why, hint="fill it in: 1 for right, 0 for wrong")
        why = f"these have no answer such as {lost[0][1]}, or it was written otherwise"
        hint = "name the run they were drawn from, too, or label this one: proctor judge label RUN"
        raise UsageError(told, why=why, hint=hint)
    notes = [f"{told}: not counted"] if lost else []
    notes += [f"labels as kept in {path}" for path in dict.fromkeys(labels.sources.values())]
    if labels.empty:
        notes.append(f"{labels.empty} lines have no label: they count as left out by chance")
    if any(not draw for draw, _ in labels.given):
        notes.append("labels without a draw count as drawn at random from all answers")
    return notes


def _corrected(case: _Case, cases: Sequence[_Case]) -> CorrectedScore:
    main, bounds, method, used, found = main_of(case.entry), None, "", case.count, None
    lenders = [each for each in cases if each is not case and each.count >= FEWEST and case.is_judged_as(each)]
    if problem := _problem(case):
        note = f"no corrected score: {problem}"
    elif case.count >= FEWEST:
        known = case.answers.scores, case.labels, case.weights, case.answers.questions
        found = label_correction.corrected_mean(*known)
        bounds, method = found.bounds, PREDICTION_POWERED
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
        tuple(notes),
        found.labels_to_halve if found else None,
        found.width_with(math.inf) if found else None,
    )


def is_mean_of(answers: ScoredAnswers) -> bool:
    """Whether the score of an exam is the mean of the scores of its answers."""
    scale = 100.0 if answers.entry.get("unit") == "percent" else 1.0
    score = answers.entry.get("score")
    mean = float(answers.scores.mean()) * scale
    return isinstance(score, int | float) and math.isclose(mean, score, abs_tol=1e-6 * scale)


def _problem(case: _Case) -> str:
    """Return why labels cannot correct a score; nothing where they can."""
    if not is_mean_of(case.answers):
        return f"{case.entry.get('score_name')} is not the mean of the answers' scores"
    return why_too_few(case.labels, case.weights) if case.count >= FEWEST else ""


def _too_few(case: _Case) -> str:
    if not case.count:
        return "none of its answers has a label"
    bounds = [share_bounds(count // 2, count) for count in (case.count, _USUAL)]
    widths = [shown((high - low) * case.scale) for low, high in bounds]
    few = why_too_few(case.labels, case.weights)
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
    yield from report_tables(found.judges)


def label_plan(found: Corrections) -> list[str]:
    """Return how many more labels halve each interval, a sentence each."""
    said = []
    for each in found.scores:
        told = each.notes[0]
        if each.least_width is not None:
            told = f"corrected score {_told(each.corrected)} by {each.labels} labels; "
            least = f"labels of all answers leave {each.least_width:.0%} of the interval"
            more = each.labels_to_halve
            told += f"about {more:,} more halve the interval, and " if more else "no labels halve it: "
            told += least + ("" if more else "; more questions do")
        said.append(f"{_name(each)}: {told}")
    return said


def correction_notes(found: Corrections) -> list[str]:
    """Return what was done and why, a sentence each."""
    return [*found.notes, *(f"{_name(each)}: {note}" for each in found.scores for note in each.notes)]


def _name(score: CorrectedScore) -> str:
    return f"{score.exam}, {score.run}"


def _told(bounds: tuple[float | None, ...] | None) -> str:
    value, low, high = bounds or (None, None, None)
    return shown(value) + ("" if low is None or math.isnan(low) else f" [{shown(low)}, {shown(high)}]")
