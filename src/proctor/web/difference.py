"""The difference of two texts, word by word where that is soon done, else line by line, else as a whole.

Comparing is quadratic in what the texts have in common, so work is counted and not time: equal texts give equal pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import accumulate

MOST_STEPS = 3_000_000
"""Pairs of equal words that are looked at: about half a second."""
LONGEST = 100_000
"""Characters of a text that are compared: more than demos ever fill."""
_WORDS = re.compile(r"\s*\w+|\s*[^\w\s]|\s+")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Piece = tuple[str, str]
"""``same``, ``added`` or ``removed``, and the text."""
_Range = tuple[int, int, int, int]


@dataclass
class Difference:
    """The edits that turn one text into the other.

    Attributes:
        pieces: The texts in pieces.
        note: What was not compared word by word, and why; empty where everything was.
    """

    pieces: list[Piece] = field(default_factory=list)
    note: str = ""


def difference(before: str, after: str) -> Difference:
    """Return the difference of two texts; it takes a second at most."""
    budget = _Budget(MOST_STEPS)
    left, right = before[:LONGEST], after[:LONGEST]
    pieces = list(_merged(_by_words(left, right, budget)))
    notes = [f"only the first {LONGEST:,} characters are compared"] if (left, right) != (before, after) else []
    if budget.is_used_up:
        notes.append("the texts are too different to compare all of their words: some lines stand there as a whole")
    return Difference(pieces, "; ".join(notes))


@dataclass
class _Budget:
    left: int
    is_used_up: bool = False

    def take(self, steps: int) -> bool:
        """Return whether there are so many steps left, and take them."""
        if steps > self.left:
            self.is_used_up = True
            return False
        self.left -= steps
        return True


def _by_words(before: str, after: str, budget: _Budget) -> Iterator[Piece]:
    """Yield the pieces of two texts, by lines first where there are too many words."""
    words = _WORDS.findall(before), _WORDS.findall(after)
    cost = _Costs(*words)
    if cost.of(0, len(words[0])) * 2 <= budget.left:
        for left, right in _compared(*words, budget):
            yield from _piece(left, right)
        return
    for left, right in _compared(_LINES.findall(before), _LINES.findall(after), budget):
        if left == right or not left or not right:
            yield from _piece(left, right)
            continue
        for inner in _compared(_WORDS.findall(left), _WORDS.findall(right), budget):
            yield from _piece(*inner)


def _piece(left: str, right: str) -> Iterator[Piece]:
    if left == right:
        yield ("same", left)
        return
    if left:
        yield ("removed", left)
    if right:
        yield ("added", right)


def _merged(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Join neighbours of one kind; between two that are the same, what is removed comes before what is added."""
    held = {"removed": "", "added": ""}
    same = ""
    for kind, text in pieces:
        if kind == "same":
            yield from ((each, words) for each, words in held.items() if words)
            held = {"removed": "", "added": ""}
            same += text
            continue
        if same:
            yield ("same", same)
            same = ""
        held[kind] += text
    if same:
        yield ("same", same)
    yield from ((each, words) for each, words in held.items() if words)


class _Costs:
    """How many pairs of equal items a search for the longest match looks at."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        counts: dict[str, int] = {}
        for each in after:
            counts[each] = counts.get(each, 0) + 1
        self._sums = [0, *accumulate(1 + counts.get(each, 0) for each in before)]

    def of(self, start: int, end: int) -> int:
        """Return it for a part of the first text."""
        return self._sums[end] - self._sums[start]


def _compared(before: Sequence[str], after: Sequence[str], budget: _Budget) -> Iterator[tuple[str, str]]:
    """Yield pairs of parts, in order: equal ones, and what stands between them."""
    start, end = _in_common(before, after)
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    yield "".join(before[:start]), "".join(before[:start])
    place = other = 0
    for first, second, size in _matches(left, right, budget):
        yield "".join(left[place:first]), "".join(right[other:second])
        place, other = first + size, second + size
        yield "".join(left[first:place]), "".join(left[first:place])
    yield "".join(left[place:]), "".join(right[other:])
    tail = "".join(before[len(before) - end :])
    yield tail, tail


def _in_common(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Return how many items at the start, and then at the end, are the same."""
    shorter = min(len(before), len(after))
    start = next((place for place in range(shorter) if before[place] != after[place]), shorter)
    rest = shorter - start
    return start, next((count for count in range(rest) if before[-1 - count] != after[-1 - count]), rest)


def _matches(before: Sequence[str], after: Sequence[str], budget: _Budget) -> list[tuple[int, int, int]]:
    """Return the longest matches, those between them, and so on, as far as the budget goes; in order."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    costs = _Costs(before, after)
    waiting: list[_Range] = [(0, len(before), 0, len(after))]
    found = []
    while waiting:
        start, end, other_start, other_end = waiting.pop()
        if start == end or other_start == other_end or not budget.take(costs.of(start, end)):
            continue
        place, other, size = matcher.find_longest_match(start, end, other_start, other_end)
        if size:
            found.append((place, other, size))
            waiting += [(start, place, other_start, other), (place + size, end, other + size, other_end)]
    return sorted(found)
