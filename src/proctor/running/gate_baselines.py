"""Baselines of a gate: scores of the same exam, checked, or made of a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

from proctor.errors import Location, UsageError
from proctor.ir import Failure
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.recipes.fingerprint import Fingerprint, FingerprintMaker, RowsDigest, instance_digest
from proctor.running.baselines import Baseline, ExamBaseline, keys_of
from proctor.running.drawn_questions import shares_of
from proctor.running.log import ResponseLog
from proctor.running.log_place import LogAddress
from proctor.running.maintenance import engines as engines_of_log
from proctor.running.plan import Filed, answered
from proctor.scoring.answer_reducers import reducer_of, reducers

_FEWEST = 2  # questions in common: one says nothing about others
_COMPARED = ("rows", "prompts", "decoding", "extraction", "metrics")
"""Layers that two runs of one exam have to share; who answers is what a gate compares."""


def known_exam(name: str, baseline: Baseline) -> ExamBaseline:
    """Return a baseline's scores of an exam.

    Raises:
        UsageError: It does not have it.
    """
    if name not in baseline.exams:
        has = ", ".join(baseline.exams) or "no exam"
        raise UsageError(f"the baseline {baseline.source} does not have '{name}'", hint=f"it has {has}")
    return baseline.exams[name]


UNCHECKED = "the baseline has no fingerprint: that prompts, decoding and metrics are the same was not checked"
_MOST_NEW = 3  # columns that came since: of more, all choices take long


def without_new_columns(
    known: ExamBaseline, questions: Sequence[Question], now: Fingerprint
) -> tuple[list[str], Fingerprint]:
    """Return digests of questions and the fingerprint, without columns that came after the baseline was made.

    A column that the baseline's rows did not have is found by their digests: without it, rows have the same.
    """
    digests = [each.digest for each in questions]
    first = next((each for each in questions if each.digest), None)
    if first is None or first.digest in known.scores or instance_digest(first.instance) != first.digest:
        return digests, now
    choices = chain.from_iterable(combinations(first.instance, count) for count in range(1, _MOST_NEW + 1))
    new = next((names for names in choices if _digest_without(first, names) in known.scores), ())
    if not new:
        return digests, now
    rows = RowsDigest()
    rows.add_all(digests := [_digest_without(each, new) if each.digest else "" for each in questions])
    return digests, replace(now, data=rows.in_order, rows=rows.as_set)


def _digest_without(question: Question, names: Collection[str]) -> str:
    return instance_digest({name: value for name, value in question.instance.items() if name not in names})


def check_same(exam: str, known: ExamBaseline, now: Fingerprint, baseline: Baseline, changed: Collection[str]) -> None:
    """Refuse a baseline of another exam than the one that is asked now.

    Args:
        exam: The exam's name.
        known: What the baseline knows of it.
        now: The exam's fingerprint.
        baseline: The baseline.
        changed: Layers that may differ, since they are what is gated.

    Raises:
        UsageError: A layer differs.
    """
    if known.fingerprint is None:
        return
    differing = set(known.fingerprint.differences(now)) - set(changed)
    layers = [each for each in _COMPARED if each in differing]
    if layers:
        first, also = layers[0], ", ".join(_LAYERS[each] for each in layers[1:])
        raise UsageError(
            f"the baseline is of another '{exam}': {_LAYERS[first]} differ{f', and so do {also}' if also else ''}",
            location=Location(baseline.source),
            why=f"layer '{first}' of its fingerprint is {getattr(known.fingerprint, first)}, now {getattr(now, first)}",
            hint="ask with the options of the baseline, or make a new one with --save-baseline; "
            f"{' '.join(f'--changed {each}' for each in layers)} says that the change is what you want to gate",
        )


_LAYERS: Mapping[str, str] = {
    "rows": "the instances",
    "prompts": "the prompts",
    "decoding": "the decoding parameters",
    "extraction": "the ways answers are read",
    "metrics": "the metrics",
}


def check_reduced(exam: Exam, known: ExamBaseline, baseline: Baseline, changed: Collection[str]) -> None:
    """Refuse a baseline whose answers were reduced in another way: a best of four is not a mean of four.

    Args:
        exam: The exam.
        known: What the baseline knows of it.
        baseline: The baseline.
        changed: Layers that may differ, since they are what is gated.

    Raises:
        UsageError: The reducers differ.
    """
    if not known.metric or "metrics" in changed:
        return
    before = reducer_of(known.metric)
    now = reducers(exam.options.reduce, getattr(exam.grader, "count", exam.options.repeats or 1))[0].name
    if before != now:
        raise UsageError(
            f"the baseline's scores of '{exam.name}' are of another reducer: {before}, and {now} is asked for",
            location=Location(baseline.source),
            why=f"its score is '{known.metric}'",
            hint=f"--reduce {before}; or run the baseline again with the reducer of this gate, which asks nothing anew",
        )


def check_common(
    name: str, known: ExamBaseline, before: Sequence[float | None], keys: Sequence[str], baseline: Baseline
) -> None:
    """Refuse a baseline that lacks scores, or has hardly a question in common with an exam.

    Args:
        name: The exam.
        known: What the baseline knows of it.
        before: Its score of each question of the exam, ``None`` where it has none.
        keys: The questions.
        baseline: The baseline.

    Raises:
        UsageError: It cannot be gated on.
    """
    if known.failed:
        raise UsageError(
            f"{known.failed} instances of the baseline of '{name}' have no score",
            location=Location(baseline.source),
            why="they failed, and nobody knows what the model would have scored",
            hint="run it again until nothing fails: proctor run RUN_FOLDER",
        )
    common = sum(score is not None for score in before)
    if common < _FEWEST:
        raise UsageError(
            f"the baseline and '{name}' have {common} questions in common",
            location=Location(baseline.source),
            why=f"it has {len(known.scores)}, the exam {len(keys)}",
            hint="gate the exam that the baseline is of",
        )


def baseline_of_log(path: Path | LogAddress, exams: Sequence[Exam], engine: str | None = None) -> Baseline:
    """Return the scores of a model whose answers are in a response log; nobody is asked.

    Args:
        path: The log.
        exams: The exams, as the model was asked.
        engine: Label or identity of the model; needed where the log has several.

    Raises:
        UsageError: The log has several models, or not this one.
    """
    with ResponseLog(path, read_only=True) as log:
        known = engines_of_log(log)
        found = [each for each in known if engine is None or engine == each.label or each.identity.startswith(engine)]
        if len(found) != 1:
            times = Counter(each.label for each in known)
            own = [each.label if times[each.label] == 1 else f"{each.identity[:12]} ({each.label})" for each in known]
            labels = ", ".join(own) or "no model"
            what = f"{path} has answers of {len(found)} models" + (f" named '{engine}'" if engine else "")
            raise UsageError(what, hint=f"--baseline-model chooses one: {labels}")
        filed = Filed(log, found[0].number, with_failures=True)
        return baseline_of_answers(exams, filed, str(path), found[0].label)


def baseline_of_answers(exams: Sequence[Exam], filed: Filed, source: str, label: str) -> Baseline:
    """Return the scores of the answers that a log holds for one engine.

    Raises:
        UsageError: A score cannot be gated on.
    """
    missing = Failure("missing", "the response log holds no answer")
    scored = {}
    for exam in exams:
        maker = FingerprintMaker()
        questions = list(maker.passing(exam.questions()))
        grade = exam.grade(answered(questions, filed, missing))
        shares = shares_of(exam.name, grade, len(questions), instance_scores=True)
        keys = keys_of(each.digest for each in questions)
        known = {key: value for key, value in zip(keys, shares.values, strict=True) if value is not None}
        failed = len(keys) - len(known)
        scored[exam.name] = ExamBaseline(known, maker.made(exam.definition), failed, shares.metric)
    return Baseline(scored, source, label)
