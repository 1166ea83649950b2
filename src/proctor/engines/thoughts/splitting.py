"""One text, split into thoughts, answer and marks; put together again, they are the text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from proctor.engines.thoughts.marks import Family, Marks, either

Kind = Literal["mark", "thought", "answer"]
_QUOTES = "`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb"
"""A mark between two of these is talked about, not meant."""
_MOST_PIECES = 3000
"""Pieces of thoughts at the beginning of a text: models that think in turns have tens. What a stranger's server sends
beyond them is taken for the answer, so that no reply takes minutes."""
_BLANKS = re.compile(r"\s*")


class Split(NamedTuple):
    """A text split into thoughts and answer.

    Attributes:
        pieces: Kind and text, in order; together they are the whole text. Blanks beside a mark belong to it.
        is_open: Whether the thoughts do not end.
    """

    pieces: tuple[tuple[Kind, str], ...]
    is_open: bool = False

    @property
    def thoughts(self) -> tuple[str, ...]:
        """The model's thoughts, without blanks around them and without empty ones."""
        found = (text.strip() for kind, text in self.pieces if kind == "thought")
        return tuple(text for text in found if text)

    @property
    def answer(self) -> str:
        """The model's answer; empty where the thoughts do not end."""
        return "".join(text for kind, text in self.pieces if kind == "answer")

    @property
    def start(self) -> int:
        """The position in the text at which the answer begins."""
        lengths = 0
        for kind, text in self.pieces:
            if kind == "answer":
                return lengths
            lengths += len(text)
        return lengths

    @property
    def is_plain(self) -> bool:
        """Whether the text is nothing but an answer."""
        return all(kind == "answer" for kind, _ in self.pieces)


def split(text: str, marks: Marks, opened: Family | None = None, *, is_closed: bool = False) -> Split:
    """Split a text into thoughts and answer.

    Thoughts stand at its beginning: a mark further on is part of the answer, and so is one in quotes. Where the first
    mark of a text ends thoughts, all before it are thoughts, because then the prompt began them.

    Args:
        text: What the model wrote.
        marks: The marks to look for.
        opened: Whose thoughts the prompt began, where it is known to have done so.
        is_closed: Whether the prompt ended the thoughts already: a lone end is then part of the answer.
    """
    pieces: list[tuple[Kind, str]] = []
    position, family = 0, opened
    if family is None:
        begun = _begins(text, 0, marks)
        family = begun[0] if begun else None if is_closed else _ended_without_beginning(text, marks)
    while family is not None and len(pieces) < _MOST_PIECES:
        own = either(family.start).match(text, _behind_blanks(text, position)) if family.start else None
        inside = own.end() if own else position
        end = _end(text, inside, family)
        if end is None and pieces:  # a second beginning that never ends: the answer talks about it
            break
        if inside > position:
            pieces.append(("mark", text[position:inside]))
        if end is None:
            return Split((*pieces, ("thought", text[inside:])), is_open=True)
        pieces += [("thought", text[inside : end[0]]), ("mark", text[end[0] : end[1]])]
        last, position = family, end[1]
        begun = _begins(text, position, marks)
        family = begun[0] if begun else None
        if family is None:
            return Split((*pieces, *_without_tail(text[position:], last)))
    return Split((*pieces, ("answer", text[position:])))


def _begins(text: str, position: int, marks: Marks) -> tuple[Family, int] | None:
    """Return whose thoughts begin at a place, blanks left out, and where the mark of their beginning ends."""
    found = marks.any_start.match(text, _behind_blanks(text, position))
    return (marks.family_of_start[found[0]], found.end()) if found else None


def _behind_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _ended_without_beginning(text: str, marks: Marks) -> Family | None:
    """Return whose thoughts a text ends that it did not begin: the first mark in it is an end, and not a quotation."""
    first = marks.any_mark.search(text)
    if first is None or _is_quoted(text, first.start(), first.end()):
        return None
    return next((family for family in marks.families if first[0] in family.end), None)


def _end(text: str, position: int, family: Family) -> tuple[int, int] | None:
    """Return where the mark that ends thoughts begins, and where it ends, with the blanks behind it."""
    found = deque(_ends(text, position, family), 1) if family.ends_at_last else islice(_ends(text, position, family), 1)
    start, end = next(iter(found), (-1, -1))
    if start < 0:
        return None
    return start, _behind_blanks(text, end)


def _ends(text: str, position: int, family: Family) -> Iterator[tuple[int, int]]:
    for match in either(family.end).finditer(text, position):
        if family.ends_at_last or not _is_quoted(text, match.start(), match.end()):
            yield match.start(), match.end()


def _is_quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and text[start - 1] in _QUOTES and text[end] in _QUOTES


def _without_tail(text: str, family: Family) -> Iterator[tuple[Kind, str]]:
    """Yield an answer and, where one stands behind it, the mark of its end."""
    bare = text.rstrip()
    tail = next((mark for mark in family.tail if bare.endswith(mark)), "")
    cut = len(bare) - len(tail) if tail else len(text)
    yield "answer", text[:cut]
    if tail:
        yield "mark", text[cut:]
