"""Places of a mathematical answer in a text: in boxes, behind markers, in dollars, on a line of its own."""

# ruff: noqa: RUF001 - signs of other scripts are what formulas are written in

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from proctor.scoring.text.how_read import taken

LONGEST: Final = 4_096
"""Characters of a formula; the parser's time grows with their square."""
DEEPEST: Final = 64
"""Brackets within brackets of a formula."""
_LONGEST_TEXT: Final = 1_000_000  # characters of a completion: a longer one was not written to be read

_BOX: Final = re.compile(
    r"(?:\\(?:beginboxed|boxed|fbox)|(?<![A-Za-z\\])(?:boxed|fbox|oxed))\s*\{"  # "oxed" is what "\b" leaves of it
)
_MARKER: Final = re.compile(r"(?:final\s+answer|answer|result)\s*(?:is\b|[:=])\s*", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?")
_FORMULA: Final = re.compile(r"\$\$.*?\$\$|\$.*?\$|\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)
WORD: Final = re.compile(r"[A-Za-z]{2,}")
_SIGNS: Final = str.maketrans(
    {"√": r"\sqrt", "×": r"\cdot", "÷": "/", "−": "-", "–": "-", "π": r"\pi", "°": r"^\circ"}
    | {"∞": r"\infty", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "∪": r"\cup", "∩": r"\cap", "\u202f": " "}
)
_BRACKETS: Final = (("$$", "$$"), (r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))


def places_in_target(text: str) -> Iterator[str]:
    """Yield what may be the answer in a target, best first."""
    text = text.translate(_SIGNS)
    yield from _boxed(text)[-1:]
    yield text


def places_in_answer(completion: str) -> Iterator[str]:
    """Yield what may be the answer in a completion, best first."""
    text = completion.translate(_SIGNS)
    if len(text) > _LONGEST_TEXT:
        return
    if (box := taken(_boxed(text), "the box", -1)) is not None:
        yield box
    if (start := taken([each.end() for each in _MARKER.finditer(text)], "answer is", -1)) is not None:
        yield from text[start:].splitlines()[:1]
    is_short = is_words_with_formulas(text)
    if is_short:
        yield text
    yield from _bracketed(text)
    if len(text) <= LONGEST and not is_short:
        yield text
    yield from [line.strip() for line in text.splitlines() if line.strip()][-1:]
    if number := taken([found.group() for found in _NUMBER.finditer(text)], "the last number", -1, is_last_resort=True):
        yield number


def _boxed(text: str) -> list[str]:
    """Return what boxes hold."""
    found: list[str] = []
    place = 0
    while (box := _BOX.search(text, place)) is not None:
        end = _closing(text, box.end() - 1)
        if end is not None:
            found.append(text[box.end() : end])
        place = box.end() if end is None else end + 1
    return found


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth > DEEPEST:
            return None
        if not depth:
            return place
    return None


def _bracketed(text: str) -> list[str]:
    """Return the last formula in dollars or brackets."""
    found: list[tuple[int, str]] = []
    for opening, closing in _BRACKETS[:-1]:
        end = text.rfind(closing)
        start = text.rfind(opening, 0, end) if end >= 0 else -1
        if start >= 0:
            found.append((end, text[start + len(opening) : end]))
    dollars = [each.start() for each in re.finditer(r"(?<![\\$])\$(?!\$)", text)]
    if len(dollars) > 1:
        first = len(dollars) // 2 * 2 - 2
        found.append((text.rfind("$"), text[dollars[first] + 1 : dollars[first + 1]]))
    return [max(found, key=lambda each: each[0])[1]] if found else []


def is_words_with_formulas(text: str) -> bool:
    """Whether a short text has words beside its formulas."""
    if len(text) > 512 or text.count("\n") > 2 or not any(each in text for each in ("$", r"\(", r"\[")):  # noqa: PLR2004
        return False
    return ("\n" in text and text.count("$") >= 4) or bool(WORD.search(_FORMULA.sub(" ", text)))  # noqa: PLR2004


def bare(text: str) -> str:
    """Return a formula without what stands around it."""
    text = text.strip()
    while len(text) >= 4 and text.startswith("**") and text.endswith("**"):  # noqa: PLR2004 - two pairs of stars
        text = text[2:-2].strip()
    for opening, closing in _BRACKETS:
        is_pair = len(text) > len(opening) and text.startswith(opening) and text.endswith(closing)
        if is_pair and (opening != "$" or text.count("$") == 2):  # noqa: PLR2004 - one pair
            text = text[len(opening) : -len(closing)].strip()
    text = re.sub(r"^(?:(?:\\[,;:!]|\\quad|\\qquad)\s*)+|(?:(?:\\[,;:!]|\\quad|\\qquad)\s*)+$", "", text)
    return text.rstrip(" \t\r\n.,;:")
