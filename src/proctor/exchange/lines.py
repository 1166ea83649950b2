"""The lines of a run's ``samples.jsonl``, one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.errors import DataError, Location, reason_of
from proctor.foreign_text import parse_json
from proctor.results.summary import score_rows
from proctor.safe_files import opened


def json_lines(path: Path, within: Path | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, read as they are wanted.

    Raises:
        DataError: A line is not an object, or the file cannot be read.
    """
    try:
        with opened(path, within=within) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _object(line, path, number)
    except OSError as error:
        raise DataError("the file cannot be read", location=Location(str(path)), why=reason_of(error)) from None


def _object(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        value = parse_json(line.decode("utf-8", "replace"))
    except ValueError as error:
        raise DataError("a line is not JSON", location=Location(str(path), number), why=str(error)) from None
    if not isinstance(value, dict):
        raise DataError("a line is not a JSON object", location=Location(str(path), number))
    return value


def samples_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a run folder's samples; nothing where it has none."""
    path = folder / "samples.jsonl"
    if path.is_file():
        yield from json_lines(path, within=folder)


def samples_by_exam(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of a run folder's samples by exam."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in samples_of(folder):
        found.setdefault(str(line.get("exam")), []).append(line)
    return found


def json_text(value: object) -> str:
    """Return a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def token_usage(line: Mapping[str, Any]) -> dict[str, int]:
    """Return how many tokens an instance took, as the formats of others count them."""
    usage = line.get("usage") or {}
    read, written = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def content_of(message: dict[str, Any]) -> str:
    """Return the words of a chat message."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return "" if content is None else str(content)


def shares_of(entry: Mapping[str, Any], of_hundred: Collection[str] = ()) -> dict[str, float]:
    """Return by what to multiply each score of an exam's results to have shares: formats of others know no percent.

    Args:
        entry: The results.
        of_hundred: Metrics that a format has in percent all the same.
    """
    rows = list(score_rows({"": entry}, every_score=True))
    is_kept = {row.metric: re.split("[,:]", row.metric)[0] in of_hundred for row in rows}
    found = {row.metric: 0.01 if row.unit == "percent" and not is_kept[row.metric] else 1.0 for row in rows}
    return {**{base_of(name): scale for name, scale in found.items()}, **found}


def base_of(metric: str) -> str:
    """Return how instances call a score: a mean over runs (``accuracy (3 runs average)``) by what it is a mean of."""
    return metric.partition(" (")[0]


def scores_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of an instance; where ``score`` is one of them once more (``score_name``), it is left out."""
    scores = dict(line.get("scores") or {})
    if "score_name" in scores:
        del scores["score_name"]
        scores.pop("score", None)
    return scores
