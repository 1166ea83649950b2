"""Rows of the Berkeley function calling leaderboard (BFCL), from its package ``bfcl-eval`` or from a folder."""

from __future__ import annotations

import json
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.errors import DataError, DatasetNotFoundError

_VERSION = "BFCL_v3"
_AS_TEXT = ("question", "ground_truth", "function", "missed_function", "involved_classes", "initial_config")
"""Columns that upstream keeps as JSON texts."""
SEVERAL_TURNS = (
    "questions of several turns run the functions that the model calls, on programs of the package bfcl-eval"
)


def bfcl(source: Source) -> list[Row]:
    """Return the questions of a category with the acceptable calls; those that want no call have none to compare.

    Raises:
        DataError: The category is one of several turns, or questions and calls do not belong together.
        DatasetNotFoundError: There is no such file.
    """
    category, wanted = str(source.arguments["category"]), source.arguments.get("test_ids")
    if "multi_turn" in category:
        raise DataError(f"the category '{category}' is not asked here", location=source.place, why=SEVERAL_TURNS)
    folder = f"{path}/" if (path := source.arguments.get("path")) else ""
    questions = _read(source, f"{folder}{_VERSION}_{category}.json")
    if "relevance" in category:
        answers = [{"id": row["id"], "ground_truth": ["relevance_mock_gt"]} for row in questions]
    else:
        answers = _read(source, f"{folder}possible_answer/{_VERSION}_{category}.json")
    if [row["id"] for row in questions] != [row["id"] for row in answers]:
        raise DataError(f"questions and acceptable calls of '{category}' have different ids", location=source.place)
    pairs = zip(questions, answers, strict=True)
    return [
        _as_texts({**row, "ground_truth": answer["ground_truth"]})
        for row, answer in pairs
        if not wanted or row["id"] in wanted
    ]


def _read(source: Source, path: str) -> list[Row]:
    try:
        return source.rows(path, LINES)
    except DatasetNotFoundError as error:
        hint = "pip install --no-deps 'bfcl-eval==2025.6.14' brings it; or name a folder that has it: path=…"
        raise DatasetNotFoundError(
            error.diagnostics[0].what, location=source.place, why=error.diagnostics[0].why, hint=hint
        ) from None


def _as_texts(row: Row) -> Row:
    return {name: _text(value) if name in _AS_TEXT else value for name, value in row.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
