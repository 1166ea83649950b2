"""Tells whether an instance was answered right, as far as its exam's main score says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from proctor.scoring.flat_scores import DIRECTION, UNIT

Outcome = Literal["right", "wrong", "part", ""]
"""Right, wrong, between the two; empty where the score does not say it."""

SIGNS: Final[Mapping[str, str]] = {"right": "✓", "wrong": "✗", "part": "◐", "": ""}
"""What stands for an outcome, beside its colour."""

_TOPS: Final = {"share": (1.0,), "percent": (100.0, 1.0), "": (1.0,)}
"""Scores of a right answer by unit; exams in percent score an instance in percent, or as 1."""


def outcome_of(score: float | None, entry: Mapping[str, Any]) -> Outcome:
    """Return whether an instance was answered right.

    A score without a unit (a count, a perplexity) says neither; results of older versions say no unit, and there the
    scores 1 and 0 mean what they mean everywhere.

    Args:
        score: The instance's main score; ``None`` where it has none.
        entry: The exam's results.
    """
    unit = entry.get(UNIT, "")
    if score is None or unit not in _TOPS:
        return ""
    is_reversed = entry.get(DIRECTION) is False
    if score in _TOPS[unit]:
        return "wrong" if is_reversed else "right"
    if score == 0.0:
        return "right" if is_reversed else "wrong"
    return "part" if unit and 0.0 < score < max(_TOPS[unit]) else ""


def bounds_of(entries: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, str]]:
    """Return filters by outcome (``right``, ``wrong``), as bounds of exams' scores; none where their units differ."""
    kinds = {(entry.get(UNIT, ""), entry.get(DIRECTION) is False) for entry in entries.values()}
    if len(kinds) != 1:
        return {}
    unit, is_reversed = next(iter(kinds))
    if unit not in _TOPS:
        return {}
    top, bottom = {"failed": "no", "lowest": "1"}, {"failed": "no", "highest": "0"}
    return {"right": bottom, "wrong": top} if is_reversed else {"right": top, "wrong": bottom}
