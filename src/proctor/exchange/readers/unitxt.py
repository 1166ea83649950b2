"""Unitxt's results: what ``unitxt-evaluate --log_samples`` saves, or the instances of ``evaluate`` as JSON.

The command saves instances by subset, with scores and fields of the task side by side: fields stand before ``source``,
scores behind ``processed_references``. The scores of subsets are in the file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.exchange.observed import Observed, ObservedExam, messages_in, prompt_text, scores_of, share, text_of
from proctor.exchange.shapes import UnitxtLine, UnitxtSavedLine, check_lines
from proctor.foreign_text import parse_json
from proctor.recipes.fingerprint import instance_digest
from proctor.safe_files import read_bytes

_MOST_BYTES: Final = 256 << 20
_LAST: Final = ("prediction", "processed_prediction", "processed_references")
_KIND: Final = "a file of Unitxt's results"
_LISTS = ("instance_scores", "instances", "samples", "predictions")


def read(path: Path, content: object) -> list[ObservedExam] | None:
    """Return the exam of a file, a list of instances or an object that holds one; an exam for each subset."""
    subsets = content.get("samples") if isinstance(content, Mapping) else None
    if isinstance(subsets, Mapping) and subsets and all(map(_is_listed, subsets.values())):
        whole = _beside(path)
        for lines in subsets.values():
            check_lines(lines, UnitxtSavedLine, _KIND, path)
        return [_subset(str(name), lines, whole.get(name)) for name, lines in subsets.items()]
    lines = content
    if isinstance(content, Mapping):
        lines = next((content[key] for key in _LISTS if isinstance(content.get(key), list)), None)
    if not _is_listed(lines):
        return None
    if isinstance(lines[0].get("score"), int | float):  # the instance scores of a result, saved by themselves
        check_lines(lines, UnitxtSavedLine, _KIND, path)
        return [_subset(path.stem, lines, None)]
    check_lines(lines, UnitxtLine, _KIND, path)
    whole = _global(content, lines)
    metric = str(whole.get("score_name") or "score")
    score = share(whole.get("score"))
    instances = [_observed(number, line) for number, line in enumerate(lines)]
    return [ObservedExam(path.stem, "Unitxt", instances, metric, score)]


def _is_listed(lines: Any) -> bool:
    is_list = isinstance(lines, list) and bool(lines) and all(isinstance(each, Mapping) for each in lines)
    return is_list and {"source", "prediction"} <= set(lines[0])


def _subset(name: str, lines: Sequence[Mapping[str, Any]], whole: Any) -> ObservedExam:
    metric = str(lines[0].get("score_name") or "score")
    score = share(whole.get("score")) if isinstance(whole, Mapping) else None
    if isinstance(whole, Mapping) and isinstance(whole.get("score_name"), str):
        metric = whole["score_name"]
    instances = [_flat(number, line) for number, line in enumerate(lines)]
    return ObservedExam(name, "Unitxt", instances, metric, score)


def _beside(path: Path) -> Mapping[str, Any]:
    """Return the scores of subsets, from the file without ``_samples`` in its name."""
    file = path.with_name(path.name.replace("_samples", ""))
    if file == path or not file.is_file():
        return {}
    try:
        document = parse_json(read_bytes(file, _MOST_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return {}
    found = document.get("results") if isinstance(document, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _flat(number: int, line: Mapping[str, Any]) -> Observed:
    names = list(line)
    fields = {name: line[name] for name in names[: names.index("source")]}
    last = max(names.index(name) for name in _LAST if name in line)
    scores = {name: line[name] for name in names[last + 1 :] if name not in ("score", "score_name")}
    return _observed(number, {**line, "task_data": fields, "score": scores})


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
    return instance_digest({name: value for name, value in data.items() if name not in ("demos", "source")})
