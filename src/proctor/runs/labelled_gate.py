"""Gates on scores as labels correct them: one look at all answers, since bets on single answers cannot be corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from proctor.errors import UsageError
from proctor.ir import Usage
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.running.baselines import Baseline, ExamBaseline
from proctor.running.gate import ExamVerdict, GateResult, GateRules
from proctor.running.gate_baselines import check_same, known_exam
from proctor.runs.answer_labels import Labels, answers_in, index_of, labelled_exams, why_too_few
from proctor.runs.compare_runs import evidence_of
from proctor.runs.corrected_scores import is_mean_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.stored_run import StoredRun
from proctor.statistics.gates import Verdict
from proctor.statistics.label_correction import corrected_mean

_CORRECTED: Final = "scores and bounds are as labels of the answers of both correct them (prediction-powered)"
_MORE: Final = (
    "the interval of the corrected score holds both; proctor plan RUN --labels says what more labels would do"
)


def gate_by_labels(run: StoredRun, baseline: StoredRun | None, labels: Labels, rules: GateRules) -> GateResult:
    """Return the verdicts on a run that has answered everything, by scores that labels correct.

    Bounds are those of a comparison (:mod:`proctor.runs.labelled_pairs`), each way with the gate's level, which all
    exams share (Bonferroni).

    Args:
        run: The run of the model.
        baseline: The run to compare with; ``None`` where ``rules.at_least`` says what is enough.
        labels: What people say of the answers of both.
        rules: What is wanted.

    Raises:
        UsageError: Labels cannot correct a score, or the baseline is of another exam.
    """
    index = index_of(run)
    before = None if baseline is None else index_of(baseline)
    for each in filter(None, (index, before)):
        each.labels = labels
    exams = labelled_exams(run)
    level = 1.0 - 2.0 * (1.0 - rules.level) / max(len(exams), 1)
    verdicts = [
        _at_least(index, exam, rules, level) if before is None else _no_worse(before, index, exam, rules, level)
        for exam in exams
    ]
    counts = run.run.get("requests") or {}
    used = [(int(each["prompt_tokens"]), int(each["completion_tokens"])) for each in _tokens(run.run)]
    return GateResult(
        tuple(verdicts),
        rules,
        "" if baseline is None else str(baseline.path),
        run.model,
        {name: int(counts.get(name) or 0) for name in ("asked", "from_log", "failed")},
        Usage(sum(read for read, _ in used), sum(wrote for _, wrote in used)),
    )


def _tokens(facts: Mapping[str, Any]) -> list[dict[str, int]]:
    return list((facts.get("usage") or {}).values())


def _no_worse(before: SampleIndex, index: SampleIndex, exam: str, rules: GateRules, level: float) -> ExamVerdict:
    first, second = (Fingerprint.from_dict(each.results.get(exam, {}).get(FINGERPRINT)) for each in (before, index))
    source = Baseline({name: ExamBaseline({}, first) for name in before.results}, str(before.path.parent))
    check_same(exam, known_exam(exam, source), second or Fingerprint(), source, rules.changed)
    row = evidence_of(before, exam, index, exam)
    if row.evidence is None or row.refused:
        raise UsageError(f"{exam} cannot be gated on by labels: {row.refused or row.too_few}")
    scale = 100.0 if row.unit == "percent" else 1.0
    low, high = (bound / scale for bound in row.evidence.test.interval(level))
    model, old = (row.second or 0.0) / scale, (row.first or 0.0) / scale
    counts = row.n + row.unanswered, row.unanswered
    found = _verdict((exam, row.metric), (low, high), -rules.margin, counts, is_less_better=row.direction == -1)
    return replace(found, model=model, baseline=old, difference=model - old, note=_CORRECTED)


def _at_least(index: SampleIndex, exam: str, rules: GateRules, level: float) -> ExamVerdict:
    answers, main = answers_in(index, exam), index.mains[exam]
    known, weights = index.labels.of(answers) if isinstance(index.labels, Labels) else Labels().of(answers)
    lack = why_too_few(known, weights) if is_mean_of(answers) else f"{main.name} is not the mean of its answers"
    if lack:
        raise UsageError(f"{exam} cannot be gated on by labels: {lack}")
    mean = corrected_mean(answers.scores, known, weights, answers.questions, level).bounds
    asked = max(index.counts_said.get(exam, 0), len(answers.keys))
    share = len(answers.keys) / asked  # of the others nothing is known
    bounds = share * mean.low, share * mean.high + 1.0 - share
    counts = asked, asked - len(answers.keys)
    less = main.higher_is_better is False
    found = _verdict((exam, main.name), bounds, rules.at_least or 0.0, counts, is_less_better=less)
    note = f"the score is corrected by {int(np.isfinite(known).sum())} labels (prediction-powered)"
    return replace(found, model=mean.value, difference=mean.value, note=note)


def _verdict(
    named: tuple[str, str], bounds: tuple[float, float], edge: float, counts: tuple[int, int], *, is_less_better: bool
) -> ExamVerdict:
    """Return the verdict on an exam and its metric by bounds, still without scores."""
    (exam, metric), (low, high), (asked, failed) = named, bounds, counts
    if is_less_better:
        raise UsageError(f"less of {metric} is better, and a gate wants more", hint="proctor compare --fail-if-worse")
    verdict: Verdict = "passed" if low >= edge else "failed" if high < edge else "undecided"
    why = _MORE if verdict == "undecided" else ""
    nothing = math.nan, None, math.nan
    return ExamVerdict(exam, verdict, asked, asked, None, failed, metric, *nothing, low, high, why, is_corrected=True)
