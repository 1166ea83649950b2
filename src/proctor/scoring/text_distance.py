"""Edit distances and normalised answers."""

from __future__ import annotations

import re
import string
from collections.abc import Hashable, Sequence

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def levenshtein(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Return the least number of insertions, deletions and substitutions that make one sequence the other.

    Myers' bit-parallel algorithm (1999) in Hyyrö's form, on integers of any width.
    """
    if not first or not second:
        return len(first) or len(second)
    if len(first) > len(second):
        first, second = second, first
    places: dict[Hashable, int] = {}
    for position, item in enumerate(first):
        places[item] = places.get(item, 0) | 1 << position
    last = 1 << (len(first) - 1)
    mask = (1 << len(first)) - 1
    positive, negative, distance = mask, 0, len(first)
    for item in second:
        match = places.get(item, 0)
        diagonal = ((((match & positive) + positive) ^ positive) | match | negative) & mask
        up = negative | ~(diagonal | positive) & mask
        down = positive & diagonal
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
        up = (up << 1 | 1) & mask
        down = down << 1 & mask
        positive = down | ~(diagonal | up) & mask
        negative = up & diagonal
    return distance


def normalize_answer(text: str) -> str:
    """Return text without case, ASCII punctuation, English articles and extra white space (SQuAD's rule)."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())
