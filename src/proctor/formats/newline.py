r"""The ``\N`` notation: a line break only where there is none yet, and none at the very start.

The rules are Unitxt's, in two steps on the whole text:

1. At the start, line breaks and ``\N`` up to the last of the leading ``\N`` disappear.
2. Anywhere else, a run of the characters ``\n ( ) \ N`` that contains ``\N`` becomes one line break up to its last
   ``\N``. The run reaches further left than one would like (``"a (b)\Nc"`` gives ``"a (b\nc"``): prompts depend on it.

Most of a prompt holds no backslash, so this looks only around the places where ``\N`` is. :func:`edits` says the same
as a list of replacements, for those who need to know where every character came from.
"""

from __future__ import annotations

from collections.abc import Iterator

MARK = "\\N"
_RUN_CHARACTERS = "\n()\\N"
_RUN = frozenset(_RUN_CHARACTERS)

Edit = tuple[int, int, str]
"""Start and end of a piece of the text, and what replaces it."""


def apply_newline_notation(text: str) -> str:
    r"""Return the text with every ``\N`` applied."""
    if MARK not in text:
        return text
    pieces = text.split(MARK)
    first, last = 0, len(pieces) - 1
    while first < last and not pieces[first].strip("\n"):
        first += 1
    if first == last:
        return pieces[last]
    kept = [pieces[first].rstrip(_RUN_CHARACTERS)]
    kept += [words for piece in pieces[first + 1 : last] if (words := piece.rstrip(_RUN_CHARACTERS))]
    kept.append(pieces[last])
    return "\n".join(kept)


def begins_a_run(text: str) -> bool:
    """Return whether a text begins with a character that a run may consist of."""
    return text[:1] in _RUN


def stands_alone(text: str) -> bool:
    r"""Return whether no run reaches into a text, wherever it stands, and none is in it."""
    return bool(text) and text[0] not in _RUN and text[-1] not in _RUN and MARK not in text


def inside(text: str) -> str:
    r"""Return a text between others with its line breaks applied, where what comes next begins no run.

    Nothing is returned where that depends on what comes before: where the text itself begins one.
    """
    if not text or text[0] in _RUN:
        return ""
    return apply_newline_notation(f"{text}{_NO_RUN}")[:-1]


_NO_RUN = "x"  # any character that runs end before


def edits(text: str) -> Iterator[Edit]:
    """Yield the replacements that the notation makes, from left to right."""
    start = _leading(text)
    if start:
        yield 0, start, ""
    position = start
    while (mark := text.find(MARK, position)) >= 0:
        left = mark
        while left > position and text[left - 1] in _RUN:
            left -= 1
        right = mark
        while right < len(text) and text[right] in _RUN:
            right += 1
        last = text.rfind(MARK, mark, right)
        yield left, last + len(MARK), "\n"
        position = last + len(MARK)


def _leading(text: str) -> int:
    position = end = 0
    while True:
        if text.startswith(MARK, position):
            position = end = position + len(MARK)
        elif text.startswith("\n", position):
            position += 1
        else:
            return end
