"""Our own run folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from proctor.exchange.lines import samples_of
from proctor.exchange.observed import PERCENT, Observed, ObservedExam, prompt_text, scores_of, text_of
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.runs.stored_run import load_run
from proctor.scoring.flat_scores import UNIT
from proctor.scoring.judges.judged import JUDGED


def read(path: Path) -> list[ObservedExam]:
    """Return the exams of a run."""
    run = load_run(path)
    lines: dict[str, list[Observed]] = {}
    for line in samples_of(path):
        exam = str(line.get("exam"))
        found = lines.setdefault(exam, [])
        scale = PERCENT if run.results.get(exam, {}).get(UNIT) == "percent" else 1.0
        found.append(_observed(len(found), line, scale))
    spec = run.spec
    engine = None if spec is None else {"identity": spec.engine, "engine": spec.model, **spec.model_args}
    entries = {name: run.results.get(name, {}) for name in lines}
    return [
        ObservedExam(
            name, "Proctor", found, *_main(entry := entries[name]), engine, _definitions(entry), entry.get(JUDGED)
        )
        for name, found in lines.items()
    ]


def _definitions(entry: Mapping[str, Any]) -> dict[Literal["extraction", "metric"], str]:
    found = Fingerprint.from_dict(entry.get(FINGERPRINT)) or Fingerprint()
    return {"extraction": found.extraction, "metric": found.metrics}


def _main(entry: Mapping[str, Any]) -> tuple[str, float | None]:
    score = entry.get("score")
    scale = PERCENT if entry.get(UNIT) == "percent" else 1.0
    return str(entry.get("score_name") or ""), score * scale if isinstance(score, int | float) else None


def _observed(number: int, line: Mapping[str, Any], scale: float) -> Observed:
    scores = {name: value for name, value in (line.get("scores") or {}).items() if name not in ("score", "score_name")}
    failure = line.get("failure") or line.get("scoring_failure")
    return Observed(
        number,
        str(line.get("instance") or ""),
        prompt_text(line.get("prompt"), line.get("continuations") or ()),
        _answer(line),
        text_of(line.get("processed_prediction")),
        tuple(str(each) for each in line.get("references") or ()),
        _decoding(line),
        scores_of(scores, scale),
        str(failure.get("message", failure)) if isinstance(failure, Mapping) else "",
        text_of(line.get("model")) or "",
    )


def _decoding(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return how the model wrote, the first time where it wrote in several ways, and how often it was asked."""
    value = line.get("decoding")
    found = value[0] if isinstance(value, list) and value else value
    return {"max_tokens": None, **found, "repeats": max(len(_repeats(line)), 1)} if isinstance(found, Mapping) else None


def _repeats(line: Mapping[str, Any]) -> list[str]:
    """Return the answers where one thing was asked several times."""
    found = line.get("prediction")
    return found if isinstance(found, list) and all(isinstance(each, str) for each in found) else []


def _answer(line: Mapping[str, Any]) -> tuple[str | float, ...]:
    output = line.get("output")
    if line.get("kind") == "generate" and len(repeats := _repeats(line)) > 1:
        return tuple(repeats)
    if isinstance(output, list):
        return tuple(each["log_likelihood"] if isinstance(each, Mapping) else str(each) for each in output)
    return () if output is None else (str(output),)
