"""Predictions of OpenCompass and AISBench: ``predictions/MODEL/DATASET.json``, and AISBench's JSON Lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path
from typing import Any, Final

from proctor.errors import Location, UsageError, reason_of
from proctor.exchange.observed import PERCENT, Observed, ObservedExam, prompt_text, scores_of, share, text_of
from proctor.exchange.shapes import PredictionLine, check_lines
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


def read(path: Path, content: object) -> list[ObservedExam] | None:
    """Return the dataset of a file of predictions; scores come from ``results/`` beside ``predictions/``."""
    lines = _lines(content)
    if lines is None:
        return None
    check_lines(lines, PredictionLine, "a file of predictions", path)
    details, reported = _results(path)
    places = _places(lines, details)
    own = [details.get(place, {}) for place in places]
    instances = [_observed(number, line, detail) for number, (line, detail) in enumerate(zip(lines, own, strict=True))]
    instances = _marked(instances, own, reported, _runs(lines))
    metric = "accuracy" if "accuracy" in reported else next(iter(reported), "correct")
    score = reported.get(metric)
    if any("correct" in each.scores for each in instances):
        instances = [_named(each, metric) for each in instances]
    return [ObservedExam(path.stem, "OpenCompass", instances, metric, score)]


def _lines(content: Any) -> list[Mapping[str, Any]] | None:
    if isinstance(content, Mapping) and content and all(str(key).isdigit() for key in content):
        values = [content[key] for key in sorted(content, key=int)]
    elif isinstance(content, list) and content and all(map(_is_prediction, content)):
        values = sorted(content, key=_place_of)
    else:
        return None
    return values if all(isinstance(each, Mapping) and "prediction" in each for each in values) else None


def _places(lines: Sequence[Mapping[str, Any]], details: Mapping[int, Any]) -> Sequence[int]:
    """Return where AISBench's details tell of each line."""
    numbers = [number for line in lines if isinstance(number := line.get("id"), int)]
    if len(lines) == len(details) or len(numbers) != len(lines):
        return range(len(lines))
    most = max(Counter(numbers).values())
    if most > 1 and not _are_repeats(lines):
        return range(len(lines))
    seen: Counter[Any] = Counter()
    places = []
    for number in numbers:
        places.append(number * most + seen[number])
        seen[number] += 1
    return places


def _runs(lines: Sequence[Mapping[str, Any]]) -> int:
    """Return how often every row was asked: as often as its number stands there with the same words."""
    counts = set(Counter(text_of(line.get("id")) for line in lines).values())
    return counts.pop() if len(counts) == 1 and "id" in lines[0] and _are_repeats(lines) else 1


def _place_of(line: Mapping[str, Any]) -> tuple[bool, int, str]:
    number = line.get("id")
    return (False, number, "") if isinstance(number, int) else (True, 0, str(number))


def _are_repeats(lines: Sequence[Mapping[str, Any]]) -> bool:
    """Whether lines of one number were asked the same words; else they are the turns of a conversation."""
    asked: dict[Any, Any] = {}
    return all(asked.setdefault(line.get("id"), _asked(line)) == _asked(line) for line in lines)


def _asked(line: Mapping[str, Any]) -> Any:
    return next((line[key] for key in _PROMPTS if line.get(key) is not None), None)


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
        raise UsageError("the results cannot be read", location=Location(str(file)), why=reason_of(error)) from None
    if not isinstance(document, Mapping):
        return {}, {}
    scores = scores_of(document, PERCENT)
    details = document.get("details")
    rows: Sequence[Any] = ()
    if isinstance(details, list):
        rows = _ungrouped(details)
    elif isinstance(details, Mapping):
        rows = [details[key] for key in sorted((key for key in details if str(key).isdigit()), key=int)]
    return {number: each for number, each in enumerate(rows) if isinstance(each, Mapping)}, scores


def _ungrouped(details: Sequence[Any]) -> Sequence[Any]:
    """Return details one for each answer, the answers to a row beside each other."""
    if not all(isinstance(each, Mapping) and "example_abbr" in each for each in details):
        return details
    runs = max((len(value) for each in details for value in each.values() if isinstance(value, list)), default=1)
    kept = [
        {key: value for key, value in each.items() if isinstance(value, list) and len(value) == runs}
        for each in details
    ]
    flat = [{key: value[place] for key, value in each.items()} for each in kept for place in range(runs)]
    return [flat[run * len(details) + row] for row in range(len(details)) for run in range(runs)]


def _observed(number: int, line: Mapping[str, Any], detail: Mapping[str, Any]) -> Observed:
    prompt = _asked(line)
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
    instances: list[Observed], details: Sequence[Mapping[str, Any]], reported: Mapping[str, float], runs: int
) -> list[Observed]:
    """Return instances with what AISBench's accuracy counts and does not write: whether prediction and reference agree.

    Only where their share is the accuracy that the file reports, of several runs that of the last: then nothing else
    was counted.
    """
    pairs = [(detail.get("predictions"), detail.get("references")) for detail in details if detail]
    if len(pairs) != len(instances) or not pairs or "accuracy" not in reported:
        return instances
    if any(each.scores for each in instances) or any(None in pair for pair in pairs):
        return instances
    marks = [float(one == two) for one, two in pairs]
    last = marks[runs - 1 :: runs]
    if not isclose(sum(last) / len(last), reported["accuracy"], abs_tol=_ROUNDED):
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
            if key in source and (found := share(_single(source[key]))) is not None:
                return {"correct": found}
    return {}


def _single(value: Any) -> Any:
    """Return what stands alone in a list: AISBench's details of one run hold lists of one."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _named(each: Observed, metric: str) -> Observed:
    return replace(each, scores={metric: each.scores["correct"]} if "correct" in each.scores else {})
