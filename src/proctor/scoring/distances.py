"""Edit distances of texts and of ordered trees; normalised answers."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

_OPENING: Final = r"\s\"'`“”„‘’‚«»‹›「」『』《》(\[¿¡"  # noqa: RUF001 - marks of many languages
_CLOSING: Final = r"\s\"'`“”‘’«»‹›「」『』《》)\].,;:!?…。，；：！？"  # noqa: RUF001 - marks of many languages
AROUND: Final = (
    rf"^(?:[{_OPENING}]|\*\*)+(?=[^{_OPENING}{_CLOSING}])",
    rf"(?<=[^{_CLOSING}])(?:[{_CLOSING}]|\*\*)+$",
    r"(?<=\d),(?=\d{3}(?!\d))",
)
"""What does not count in an answer: quotes, brackets and marks of sentences around it, emphasis, and commas between the
thousands of a number. All else does: ``-5`` is not 5, ``C++`` is not C, ``1.5`` is not 15, and ``?`` is something."""

_THOUSANDS: Final = re.compile(AROUND[2])
_OPENS, _CLOSES = (frozenset(each.replace("\\", "")[1:]) for each in (_OPENING, _CLOSING))


def without_around(text: str) -> str:
    """Return a text without what :data:`AROUND` matches, in time that grows with its length, which theirs does not.

    >>> without_around("**(Paris).**"), without_around("A*."), without_around("...")
    ('Paris', 'A*', '...')
    """
    start = place = 0
    while place < len(text):
        opens = text[place] in _OPENS or text[place].isspace()
        if place and not opens and text[place] not in _CLOSES:
            start = place
        if not opens and not text.startswith("**", place):
            break
        place += 1 if opens else 2
    text = text[start:]
    end = place = len(text)
    while place:
        closes = text[place - 1] in _CLOSES or text[place - 1].isspace()
        if place < len(text) and not closes:
            end = place
        if not closes and not text.endswith("**", 0, place):
            break
        place -= 1 if closes else 2
    text = text[:end]
    return _THOUSANDS.sub("", text) if "," in text else text


def bare(text: str) -> str:
    """Return an answer without what does not count in it, in small letters.

    >>> bare("**Paris**."), bare("C++"), bare("1,234")
    ('paris', 'c++', '1234')
    """
    return without_around(text.strip()).lower()


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


Label = TypeVar("Label")


@dataclass(slots=True)
class Tree(Generic[Label]):
    """A node with the trees below it, in their order."""

    label: Label
    children: list[Tree[Label]] = field(default_factory=list)

    def size(self) -> int:
        """Return the number of nodes.

        >>> Tree("table", [Tree("tr"), Tree("tr", [Tree("td")])]).size()
        4
        """
        return len(_Walk(self).labels)


class _Walk(Generic[Label]):
    """Nodes of a tree in postorder.

    Attributes:
        labels: Of the nodes.
        leftmost: Where the first leaf below each node stands.
        roots: Nodes that are not the first child of another (and the root), in postorder.
    """

    def __init__(self, tree: Tree[Label]) -> None:
        self.labels: list[Label] = []
        self.leftmost: list[int] = []
        waiting: list[tuple[Tree[Label], int]] = [(tree, -1)]
        while waiting:
            node, first = waiting.pop()
            if first < 0 and node.children:
                waiting.append((node, len(self.labels)))
                waiting += [(child, -1) for child in reversed(node.children)]
                continue
            self.leftmost.append(first if first >= 0 else len(self.labels))
            self.labels.append(node.label)
        self.roots = sorted({first: place for place, first in enumerate(self.leftmost)}.values())


def tree_distance(first: Tree[Label], second: Tree[Label], rename: Callable[[Label, Label], float]) -> float:
    """Return the least cost of making one ordered tree the other.

    A node that is put in or taken out costs 1; its children go to its parent. The algorithm is Zhang and Shasha's
    (1989), which finds the same cost as every other exact one.

    Args:
        first, second: Trees.
        rename: What it costs to give a node another's label.
    """
    one, two = _Walk(first), _Walk(second)
    between = [[0.0] * len(two.labels) for _ in one.labels]
    for left_root in one.roots:
        for right_root in two.roots:
            _fill(one, two, (left_root, right_root), between, rename)
    return between[-1][-1]


def _fill(
    one: _Walk[Label],
    two: _Walk[Label],
    roots: tuple[int, int],
    between: list[list[float]],
    rename: Callable[[Label, Label], float],
) -> None:
    """Compute the distances of the subtrees that begin where those of ``roots`` begin."""
    left, right = one.leftmost[roots[0]], two.leftmost[roots[1]]
    width = roots[1] - right + 2
    forests = [[float(place) for place in range(width)]]
    for x in range(left, roots[0] + 1):
        above, row, subtrees = forests[-1], [float(len(forests))], between[x]
        begins, is_whole = forests[one.leftmost[x] - left], one.leftmost[x] == left
        for column, y in enumerate(range(right, roots[1] + 1), 1):
            cost = min(above[column], row[-1]) + 1
            if is_whole and two.leftmost[y] == right:
                cost = min(cost, above[column - 1] + rename(one.labels[x], two.labels[y]))
                subtrees[y] = cost
            else:
                cost = min(cost, begins[two.leftmost[y] - right] + subtrees[y])
            row.append(cost)
        forests.append(row)
