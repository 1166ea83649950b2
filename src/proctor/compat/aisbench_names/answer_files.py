"""Answers that AISBench wrote down, and rows that were not answered, as its scoring sees them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.config_files import load_jsonl
from proctor.compat.aisbench_names.logger import AISLogger

TYPE_DEFAULT_MAP: dict[type, Any] = {list: [], dict: {}, str: "", int: 0, float: 0, bool: 0}
"""What stands in an answer that is missing, by the type that it has in the first that is there."""


def read_answers(path: str | Path) -> list[dict[str, Any]]:
    """Return the lines of a file of answers."""
    return load_jsonl(path)


def completed(answers: Sequence[dict[str, Any]], rows: int, asked: int, logger: AISLogger) -> list[dict[str, Any]]:
    """Return one answer for each row and repeat, in the order of rows.

    Rows whose request failed have none: an empty answer stands in, which is scored, and a warning counts them. Answers
    to rows that are not there, and more than were asked for, are left out with a warning.

    Args:
        answers: Those that are there; ``id`` is the row.
        rows: How many rows there are, repeats included.
        asked: How often every row was asked.
        logger: What is told.
    """
    there = Counter(each.get("id") for each in answers)
    missing = {row: asked - there[row] for row in range(rows // asked) if there[row] < asked}
    found = list(answers)
    if missing:
        logger.warning("%d answers are missing: empty ones are scored in their place", sum(missing.values()))
        empty = {key: TYPE_DEFAULT_MAP.get(type(value)) for key, value in answers[0].items()}
        found += [{**empty, "id": row} for row, count in missing.items() for _ in range(count)]
    if len(found) > rows:
        logger.warning("there are %d answers to %d rows: the others are left out", len(found), rows)
        left: dict[Any, int] = dict.fromkeys(range(rows // asked), asked)
        kept = []
        for each in found:
            if left.get(each.get("id"), 0):
                left[each["id"]] -= 1
                kept.append(each)
        found = kept
    return sorted(found, key=lambda each: each.get("id", 0))
