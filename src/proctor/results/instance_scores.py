"""Reads an instance's scores from a line of ``samples.jsonl``: one rule for all readers of stored runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

_CLOSE = 1e-6
"""How near a mean of instances has to be to the score of all to be it: sums are rounded in another order."""


def main_score(record: Mapping[str, Any], name: str | None) -> float | None:
    """Return the main score of an instance: the one named, ``score``, or the first number there is.

    One that is listed without a value is not made up from others. A mean over runs (``accuracy (3 runs average)``) is
    named by what it is a mean of.
    """
    scores = record.get("scores")
    if isinstance(scores, dict) and type(found := scores.get(name)) is float:  # nearly always, and half a million times
        return found
    if not isinstance(scores, Mapping):
        return None
    named = next((each for each in (name, "score", (name or "").partition(" (")[0]) if each in scores), None)
    for value in scores.values() if named is None else [scores[named]]:
        if isinstance(value, bool | int | float):  # code of exams says right and wrong as true and false
            with suppress(OverflowError):
                return float(value)
    return None


def whole_of(values: Collection[float], entry: Mapping[str, Any]) -> float:
    """Return the full score of an instance: 100 where the exam is in percent and its instances are, too.

    Some exams in percent score an instance as 1. Which it is, the mean tells; where the score is not their mean, the
    largest value does.

    Args:
        values: The scores of instances.
        entry: The exam's results.
    """
    if entry.get("unit") != "percent" or not values:
        return 1.0
    mean, score = math.fsum(values) / len(values), entry.get("score")
    if isinstance(score, int | float) and mean:
        for whole in (100.0, 1.0):
            if math.isclose(mean * 100.0 / whole, score, rel_tol=_CLOSE):
                return whole
    return 100.0 if max(values) > 1 else 1.0
