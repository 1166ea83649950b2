"""Predictions of OpenCompass and AISBench: ``predictions/MODEL/DATASET.json``, and AISBench's JSON Lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any, Final

from proctor.errors import Location, UsageError
from proctor.exchange.observed import PERCENT, Observed, ObservedExam, prompt_text, scores_of, share, text_of
from proctor.foreign_text import parse_json
from proctor.safe_files import read_bytes

_MOST_BYTES: Final = 256 << 20
_ROUNDED: Final = 5e-5
"""Of a share: percents are written with two decimals, at least."""
_ROLES: Final = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
_PROMPTS: Final = ("origin_prompt", "prompt", "input")
_EXTRACTED: Final = ("pred", "predictions", "prediction", "parsed")
"""What an evaluator was given; AISBench writes ``predictions`` for the one of an instance."""
_GOLDS: Final = ("gold", "answer", "reference", "references")


def read(path: Path, content: Any) -> list[ObservedExam] | None:
    """Return the dataset of a file of predictions; scores come from ``results/`` beside ``predictions/``."""
    lines = _lines(content)
    if lines is None:
        return None
    details, reported = _results(path)
    instances = [_observed(number, line, details.get(number, {})) for number, line in enumerate(lines)]
    instances = _marked(instances, details, reported)
    metric = "accuracy" if "accuracy" in reported else next(iter(reported), "correct")
    score = reported.get(metric)
    if any("correct" in each.scores for each in instances):
        instances = [_named(each, metric) for each in instances]
    return [ObservedExam(path.stem, "OpenCompass", instances, metric, score)]


def _lines(content: Any) -> list[Mapping[str, Any]] | None:
    if isinstance(content, Mapping) and content and all(str(key).isdigit() for key in content):
        values = [content[key] for key in sorted(content, key=int)]
    elif isinstance(content, list) and content and _is_prediction(content[0]):
        values = sorted(content, key=lambda line: str(line.get("id")).zfill(12))
    else:
        return None
    return values if all(isinstance(each, Mapping) and "prediction" in each for each in values) else None


def _is_prediction(line: Any) -> bool:
    return isinstance(line, Mapping) and "id" in line and "doc_id" not in line


def _results(path: Path) -> tuple[Mapping[int, Mapping[str, Any]], Mapping[str, float]]:
    """Return details by instance and scores, as shares, of the file in ``results/`` that belongs to predictions."""
    parts = list(path.parts)
    if "predictions" not in parts:
        return {}, {}
    parts[len(parts) - 1 - parts[::-1].index("predictions")] = "results"
    file = Path(*parts).with_suffix(".json")
    if not file.is_file():
        return {}, {}
    try:
        document = parse_json(read_bytes(file, _MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        raise UsageError("the results cannot be read", location=Location(str(file)), why=str(error)) from None
    if not isinstance(document, Mapping):
        return {}, {}
    scores = scores_of(document, PERCENT)
    details = document.get("details")
    rows: Sequence[Any] = ()
    if isinstance(details, list):
        rows = details
    elif isinstance(details, Mapping):
        rows = [details[key] for key in sorted((key for key in details if str(key).isdigit()), key=int)]
    return {number: each for number, each in enumerate(rows) if isinstance(each, Mapping)}, scores


def _observed(number: int, line: Mapping[str, Any], detail: Mapping[str, Any]) -> Observed:
    prompt = next((line[key] for key in _PROMPTS if line.get(key) is not None), None)
    gold = next((line[key] for key in _GOLDS if line.get(key) is not None), detail.get("answer"))
    prediction = line["prediction"]
    texts = prediction if isinstance(prediction, list) else [prediction]
    extracted = next((detail[key] for key in _EXTRACTED if detail.get(key) is not None), None)
    return Observed(
        number,
        "",
        prompt_text(_messages(prompt)),
        tuple(str(each) for each in texts),
        text_of(extracted),
        tuple(str(each) for each in (gold if isinstance(gold, list) else [gold])) if gold is not None else (),
        None,
        _scores(line, detail),
    )


def _marked(
    instances: list[Observed], details: Mapping[int, Mapping[str, Any]], reported: Mapping[str, float]
) -> list[Observed]:
    """Return instances with what AISBench's accuracy counts and does not write: whether prediction and reference agree.

    Only where their share is the accuracy that the file reports: then nothing else was counted.
    """
    pairs = [
        (details[n].get("predictions"), details[n].get("references")) for n in range(len(instances)) if n in details
    ]
    if len(pairs) != len(instances) or not pairs or "accuracy" not in reported:
        return instances
    if any(each.scores for each in instances) or any(None in pair for pair in pairs):
        return instances
    marks = [float(one == two) for one, two in pairs]
    if not isclose(sum(marks) / len(marks), reported["accuracy"], abs_tol=_ROUNDED):
        return instances
    return [replace(each, scores={"correct": mark}) for each, mark in zip(instances, marks, strict=True)]


def _messages(prompt: Any) -> Any:
    """Return a dialogue of OpenCompass' as chat messages."""
    return [_message(each) for each in prompt] if isinstance(prompt, list) else prompt


def _message(turn: Any) -> dict[str, Any]:
    if not isinstance(turn, Mapping):
        return {"role": "user", "content": str(turn)}
    role = str(turn.get("role"))
    return {"role": _ROLES.get(role, role), "content": turn.get("prompt", turn.get("content"))}


def _scores(line: Mapping[str, Any], detail: Mapping[str, Any]) -> dict[str, float]:
    for source in (detail, line):
        for key in ("correct", "is_correct", "score"):
            if key in source and (found := share(source[key])) is not None:
                return {"correct": found}
    return {}


def _named(each: Observed, metric: str) -> Observed:
    return replace(each, scores={metric: each.scores["correct"]} if "correct" in each.scores else {})
