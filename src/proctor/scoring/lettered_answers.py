"""Answers to lettered choices (``ANSWER: B``): which letters a completion names, and whether they are the right ones.

Letters are ``A`` to ``Z``, then ``1``, ``2`` …; the rules of reading are those of inspect's ``multiple_choice``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from proctor.errors import ScoringError
from proctor.scoring.answer_checks import MISSING, RIGHT, WRONG, Verdict
from proctor.scoring.text.how_read import taken

_LETTERS: Final = 26
_IN_DOLLARS: Final = re.compile(r"\x24\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\x24")
_IN_STARS: Final = re.compile(r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*")
_IN_BRACKETS: Final = re.compile(r"(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))", re.IGNORECASE)
_LINE: Final = re.compile(r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.IGNORECASE | re.MULTILINE)
_ANYWHERE: Final = re.compile(r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)", re.IGNORECASE)


def letter_of(place: int) -> str:
    """Return the letter of a choice, counted from 0."""
    return chr(ord("A") + place) if place < _LETTERS else str(place - _LETTERS + 1)


def place_of(letter: str) -> int:
    """Return the place of a choice by its letter.

    Raises:
        ScoringError: It is not one.
    """
    if len(letter) == 1 and letter.isalpha():
        return ord(letter.upper()) - ord("A")
    if letter.isdecimal() and int(letter):
        return _LETTERS - 1 + int(letter)
    raise ScoringError(f"'{letter}' is not a choice", hint="choices are A to Z, then 1, 2 …")


def letters_in(completion: str, count: int, *, several: bool = False) -> frozenset[int]:
    """Return the places of the choices that a completion names; none where it does not name them as it was asked to.

    Args:
        completion: What was answered.
        count: How many choices there are.
        several: Whether more than one may be right.
    """
    found = _named(completion)
    if found is None:
        return frozenset()
    known = {letter_of(place): place for place in range(count)}
    text = found.strip().rstrip(".").upper()
    if not several:
        tokens = [each for each in text.split(",") if each]
        return frozenset({known[tokens[0]]}) if len(tokens) == 1 and tokens[0] in known else frozenset()
    text = text.replace(" AND ", ",").replace(" ", "")
    for letters in ({each for each in text.split(",") if each}, set(text)):
        if letters <= known.keys():
            return frozenset(known[each] for each in letters)
    return frozenset()


def _named(completion: str) -> str | None:
    """Return what stands behind the last ``ANSWER:``; in a line of its own rather than anywhere."""
    text = _IN_BRACKETS.sub(r"\1\2\3", _IN_STARS.sub(r"\1", _IN_DOLLARS.sub(r"\1", completion)))
    line = taken(_LINE.findall(text), "a line ANSWER: LETTER", -1)
    return taken(_ANYWHERE.findall(text), "ANSWER: within a line", -1, is_last_resort=True) if line is None else line


def lettered(chosen: frozenset[int], targets: Sequence[str], count: int, completion: str) -> Verdict:
    """Return whether the chosen places are those of the targets, and no others.

    Args:
        chosen: Places of the choices that the model chose.
        targets: Letters, one or more in each text, separated or not.
        count: How many choices there are.
        completion: What was answered; an empty one is missing rather than wrong.

    Raises:
        ScoringError: A target is not one of the choices.
    """
    letters = [each for target in targets for token in target.replace(",", " ").split() for each in _split(token)]
    right = [place_of(each) for each in letters]
    if outside := [letter for letter, place in zip(letters, right, strict=True) if place >= count]:
        raise ScoringError(f"the target {', '.join(outside)} is beyond the {count} choices of the row")
    said = ", ".join(map(letter_of, sorted(chosen)))
    if sorted(chosen) == sorted(right):
        return Verdict(RIGHT, said)
    return Verdict(WRONG if chosen or completion.strip() else MISSING, said)


def _split(token: str) -> Sequence[str]:
    return [token] if token.isnumeric() else token
