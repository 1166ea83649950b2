"""Counts and places in pictures: how near a number or a box comes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_NEAR = 0.5  # nearness up to which a count is wrong
_SIDE = 1000  # coordinates of a side: pictures are measured in thousandths
_BOX = re.compile(r"[(\[]\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*[)\]]")


def count_said(said: str, answers: object, rule: str) -> float:
    """Return how right a count is, by the best of the answers.

    Args:
        said: What the model said.
        answers: A list of texts or numbers.
        rule: ``exact match`` (an answer was said) or ``regression`` (the nearness of the first number).

    Raises:
        ValueError: The rule is another, the answers are not a list, or one that a number is
            compared with is not a whole number.
    """
    if rule not in ("exact match", "regression"):
        raise ValueError(f"counts are compared by 'exact match' or 'regression', not by {rule!r}")
    if not isinstance(answers, list):
        raise ValueError(f"the answers are not a list: {answers!r}")  # noqa: TRY004 - a row that is wrong
    known = [str(each).lower().strip().replace("\n", " ") for each in answers]
    if rule == "exact match":
        return max((float(each in said) for each in known), default=0.0)
    found = re.search(r"\d+", said)
    number = int(found[0]) if found else 0
    return max((_nearness(number, int(each)) for each in known), default=0.0) if number else 0.0


def _nearness(number: int, answer: int) -> float:
    if number >= 2 * answer:
        return 0.0
    near = 1 - abs(number - answer) / answer
    return near if near > _NEAR else 0.0


def last_box(said: str) -> tuple[int, ...] | None:
    """Return the last box ``(left, top, right, bottom)`` in what was said that lies in the picture."""
    found = [tuple(int(each) for each in match.groups()) for match in _BOX.finditer(said)]
    inside = [box for box in found if max(box) <= _SIDE]
    return inside[-1] if inside else None


def signed_overlap(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Return the intersection over union of two boxes of whole numbers.

    Sides of a reversed box are negative and its area may be, as in the benchmark's program; ``boxes.overlap`` takes
    such a box as empty. What is not a number makes it 0.
    """
    try:
        one, two = [int(each) for each in first], [int(each) for each in second]
    except (TypeError, ValueError, OverflowError):
        return 0.0
    across, down = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    shared = max(0, across) * max(0, down)
    whole = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two)) - shared
    return shared / whole if whole else 0.0


def box_said(said: str, answer: Sequence[Any]) -> float:
    """Return how much the last box that was said shares with the right one; 0 without one."""
    box = last_box(said)
    return signed_overlap(box, answer) if box else 0.0
