"""Our own run folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.exchange.lines import samples_of
from proctor.exchange.observed import PERCENT, Observed, ObservedExam, prompt_text, scores_of, text_of
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
    mains = {name: _main(run.results.get(name, {})) for name in lines}
    judged = {name: run.results.get(name, {}).get(JUDGED) for name in lines}
    return [ObservedExam(name, "Proctor", found, *mains[name], engine, judged[name]) for name, found in lines.items()]


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
        _answer(line.get("output")),
        text_of(line.get("processed_prediction")),
        tuple(str(each) for each in line.get("references") or ()),
        _decoding(line.get("decoding")),
        scores_of(scores, scale),
        str(failure.get("message", failure)) if isinstance(failure, Mapping) else "",
        text_of(line.get("model")) or "",
    )


def _decoding(value: Any) -> Mapping[str, Any] | None:
    """Return how the model wrote; the first time where it wrote in several ways."""
    found = value[0] if isinstance(value, list) and value else value
    return found if isinstance(found, Mapping) else None


def _answer(output: Any) -> tuple[str | float, ...]:
    if isinstance(output, list):
        return tuple(each["log_likelihood"] if isinstance(each, Mapping) else str(each) for each in output)
    return () if output is None else (str(output),)
