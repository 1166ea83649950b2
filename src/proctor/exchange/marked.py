"""Two texts with what differs marked: ``[-old-]`` and ``[+new+]``, blanks made visible."""

from __future__ import annotations

from typing import Final

CONTEXT: Final = 60
"""Characters around a difference: a line of a terminal holds both sides' marks and some words."""
_LONGEST: Final = 160
"""Characters of a difference that are shown."""

_BLANKS: Final = str.maketrans({" ": "␣", "\t": "⇥", "\r": "␍", "\n": "⏎"})


def marked(before: str, after: str) -> tuple[str, str]:
    """Return two texts, cut to what is around their difference, with the difference marked."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    rest, other = before[start:], after[start:]
    shared = next((i for i, (a, b) in enumerate(zip(rest[::-1], other[::-1], strict=False)) if a != b), None)
    same = min(len(rest), len(other)) if shared is None else shared
    return _shown(before, start, len(before) - same, "-"), _shown(after, start, len(after) - same, "+")


def _shown(text: str, start: int, end: int, mark: str) -> str:
    head, middle, tail = text[max(0, start - CONTEXT) : start], text[start:end], text[end : end + CONTEXT]
    if len(middle) > _LONGEST:
        middle = f"{middle[:_LONGEST]}…"
    cut = "…" if start > CONTEXT else ""
    more = "…" if end + CONTEXT < len(text) else ""
    changed = f"[{mark}{middle.translate(_BLANKS)}{mark}]" if middle else f"[{mark}{mark}]"
    return f"{cut}{_one_line(head)}{changed}{_one_line(tail)}{more}"


def _one_line(text: str) -> str:
    return text.replace("\n", "⏎")
