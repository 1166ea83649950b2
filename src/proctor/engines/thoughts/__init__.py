"""Separates a model's thoughts from its answer.

Everything that a model writes passes :func:`~proctor.engines.thoughts.hearing.heard` once on its way out of an engine,
and whatever was recorded before there was such a thing passes it on its way out of the response log.
"""

from __future__ import annotations

from proctor.engines.thoughts.hearing import (
    UNKNOWN,
    Opening,
    as_written,
    cut_at,
    heard,
    opening_of,
    token_counter,
    turn_of,
)
from proctor.engines.thoughts.marks import Family, Marks, marks_of, special_marks
from proctor.engines.thoughts.splitting import Split, split

__all__ = [
    "UNKNOWN", "Family", "Marks", "Opening", "Split", "as_written", "cut_at", "heard", "marks_of", "opening_of",
    "special_marks", "split", "token_counter", "turn_of",
]  # fmt: skip
