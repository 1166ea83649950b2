"""Files that other systems wrote, as run folders: for comparisons, reports and the viewer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from proctor.errors import UsageError
from proctor.exchange.observed import Observed, ObservedExam
from proctor.jsonable import to_document, to_line
from proctor.recipes.fingerprint import instance_digest
from proctor.running.spec import SCHEMA_VERSION, RunSpec
from proctor.safe_files import write_bytes, write_text


def write_foreign(exams: Sequence[ObservedExam], folder: Path, known: Sequence[ObservedExam] = ()) -> list[str]:
    """Write exams as a run folder; return the names of those that have scores of instances.

    An instance has the digest of its row where a file holds the row, else that of what was sent and is right. One that
    another exam has too, by its row or by what was sent and is right, has the digest that it has there.

    Args:
        exams: What was read of a file.
        folder: The folder; it is made.
        known: Exams that the digests have to agree with.

    Raises:
        UsageError: No exam has scores of its instances.
    """
    entries = {exam.name: entry for exam in exams if (entry := _entry(exam)) is not None}
    if not entries:
        raise UsageError(
            "the file has no scores of instances",
            why="scores are compared instance by instance",
            hint="ask the system for them: lm_eval --log_samples, ais_bench --dump-eval-details",
        )
    folder.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(model=_model(exams), tasks=tuple(entries), version=exams[0].system)
    write_text(folder / "run.yaml", spec.to_yaml())
    lines = [line for exam in exams if exam.name in entries for line in _lines(exam, known)]
    write_bytes(folder / "samples.jsonl", b"".join(to_line(each) + b"\n" for each in lines))
    run = {"engine": {"label": spec.model, "identity": ""}}
    write_bytes(
        folder / "results.json", to_document({"schema_version": SCHEMA_VERSION, "results": entries, "run": run})
    )
    return list(entries)


def _model(exams: Sequence[ObservedExam]) -> str:
    named = {each.model for exam in exams for each in exam.instances if each.model}
    return ", ".join(sorted(named)) or exams[0].system


def _entry(exam: ObservedExam) -> dict[str, Any] | None:
    """Return the results of an exam; ``None`` where no instance has its score."""
    values = [each.scores[exam.metric] for each in exam.instances if exam.metric in each.scores]
    if not values:
        return None
    score = fmean(values) if exam.score is None else exam.score
    return {
        exam.metric: score,
        "score": score,
        "score_name": exam.metric,
        "unit": "share" if all(0.0 <= each <= 1.0 for each in (*values, score)) else "raw",
        "n": len(exam.instances),
        "num_of_instances": len(exam.instances),
        "failures": len(exam.instances) - len(values),
    }


def _lines(exam: ObservedExam, known: Sequence[ObservedExam]) -> Iterator[dict[str, Any]]:
    digests = _digests(exam, known)
    for number, (each, digest) in enumerate(zip(exam.instances, digests, strict=True)):
        answers = [{"log_likelihood": part} if isinstance(part, float) else part for part in each.answer]
        yield {
            "exam": exam.name,
            "doc_id": number,
            "instance": digest,
            "kind": "choose" if answers and isinstance(answers[0], Mapping) else "generate",
            "prompt": each.prompt,
            "output": answers[0] if len(answers) == 1 and isinstance(answers[0], str) else answers or None,
            "references": list(each.references),
            "failure": {"kind": "failure", "message": each.failure} if each.failure else None,
            "processed_prediction": each.extracted,
            "scores": {exam.metric: each.scores[exam.metric]} if exam.metric in each.scores else {},
            **({"model": each.model} if each.model else {}),
        }


def _digests(exam: ObservedExam, known: Sequence[ObservedExam]) -> list[str]:
    theirs = [each for other in known for each in other.instances]
    held = {each.digest for each in theirs if each.digest}
    waiting: dict[str, list[str]] = defaultdict(list)
    for each in theirs:
        waiting[_own(each)].append(each.digest or _own(each))
    return [
        each.digest
        if each.digest in held
        else waiting[own].pop(0)
        if waiting.get(own := _own(each))
        else each.digest or own
        for each in exam.instances
    ]


def _own(each: Observed) -> str:
    """Return the digest of what was sent and is right; empty where a file does not say what was sent."""
    return "" if each.prompt is None else instance_digest({"sent": each.prompt, "right": list(each.references)})
