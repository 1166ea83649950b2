"""Names that are nearly other names: misspelt ones, and not the next of a row (``part_1``, ``part_2``)."""

from __future__ import annotations

from collections.abc import Iterable


def slips(name: str, known: Iterable[str]) -> list[str]:
    """Return those of the known names that this one is misspelt for."""
    return [each for each in known if each != name and is_slip(name, each)]


def is_slip(name: str, other: str) -> bool:
    """Whether one name is the other in other letters' case, with one letter more, less or another, or two swapped.

    A digit that differs makes another name, and so does a letter more at the end.
    """
    if name.lower() == other.lower():
        return name != other
    if len(name) == len(other):
        wrong = [place for place, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
        if any(name[place].isdigit() or other[place].isdigit() for place in wrong):
            return False
        swapped = len(wrong) == 2 and sorted(name) == sorted(other)  # noqa: PLR2004 - two letters
        return len(wrong) == 1 or swapped
    short, long = sorted((name, other), key=len)
    if len(long) - len(short) != 1 or long.startswith(short):
        return False
    gaps = [place for place in range(len(long)) if long[:place] + long[place + 1 :] == short]
    return any(not long[place].isdigit() for place in gaps)
