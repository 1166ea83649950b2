"""Unitxt's results: the instances of ``evaluate`` as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.exchange.observed import Observed, ObservedExam, messages_in, prompt_text, scores_of, share, text_of
from proctor.exchange.shapes import UnitxtLine, check_lines
from proctor.recipes.fingerprint import instance_digest

_LISTS = ("instance_scores", "instances", "samples", "predictions")


def read(path: Path, content: Any) -> list[ObservedExam] | None:
    """Return the exam of a file: a list of instances, or an object that holds one."""
    lines = content
    if isinstance(content, Mapping):
        lines = next((content[key] for key in _LISTS if isinstance(content.get(key), list)), None)
    if not isinstance(lines, list) or not lines or not all(isinstance(each, Mapping) for each in lines):
        return None
    if not {"source", "prediction"} <= set(lines[0]):
        return None
    check_lines(lines, UnitxtLine, "a file of Unitxt's results", path)
    whole = _global(content, lines)
    metric = str(whole.get("score_name") or "score")
    score = share(whole.get("score"))
    instances = [_observed(number, line) for number, line in enumerate(lines)]
    return [ObservedExam(path.stem, "Unitxt", instances, metric, score)]


def _global(content: Any, lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    if isinstance(content, Mapping) and isinstance(content.get("global_scores"), Mapping):
        found: Mapping[str, Any] = content["global_scores"]
        return found
    score = lines[0].get("score")
    whole = score.get("global") if isinstance(score, Mapping) else None
    return whole if isinstance(whole, Mapping) else {}


def _observed(number: int, line: Mapping[str, Any]) -> Observed:
    source = messages_in(line["source"])
    score = line.get("score")
    own = score.get("instance", score) if isinstance(score, Mapping) else {}
    if not isinstance(own, Mapping):
        own = {}
    references = line.get("references") or ([line["target"]] if line.get("target") is not None else [])
    return Observed(
        number,
        _digest(line.get("task_data")),
        prompt_text(source),
        (str(line["prediction"]),),
        text_of(line.get("processed_prediction")),
        tuple(str(each) for each in references),
        None,
        scores_of({name: value for name, value in own.items() if name != "score_name"}),
    )


def _digest(data: Any) -> str:
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except ValueError:
            return ""
    if not isinstance(data, Mapping):
        return ""
    return instance_digest({name: value for name, value in data.items() if name != "demos"})
