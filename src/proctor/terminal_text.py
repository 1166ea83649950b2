r"""Texts of strangers on a terminal: seen, and not obeyed.

Names, rows, answers and error messages may hold escape sequences, which colour, move, retitle and overwrite, and marks
that turn the direction of writing or cannot be seen at all. Whatever is printed passes :func:`printable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_KEPT = "\n\t"
_FORMATTING: Iterable[tuple[int, int]] = (
    (0x00AD, 0x00AD),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE007F),
)
"""Characters that format and have no shape of their own, line separators, and half characters."""

_SAFE: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in _KEPT},
    0x7F: "␡",
    **{code: f"\\x{code:02x}" for code in range(0x80, 0xA0)},
    **{
        code: chr(code).encode("unicode-escape").decode()
        for first, last in _FORMATTING
        for code in range(first, last + 1)
    },
}

_JOINERS = re.compile("(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])")
"""Joiners of letters where there is nothing to join; Persian, Indian scripts and emoji need the others."""


def printable(text: str) -> str:
    r"""Return a text that a terminal shows and does not obey.

    Control characters become their pictures (``␛``), marks that turn the writing direction or are not seen become
    ``\u202e``. Line ends and tabulators stay.
    """
    if text.isprintable():
        return text
    safe = text.translate(_SAFE)
    return _JOINERS.sub(lambda match: f"\\u{ord(match[0]):04x}", safe) if "\u200c" in safe or "\u200d" in safe else safe


def printable_json(text: str) -> str:
    """Return JSON that means the same, with what a terminal would obey as escapes of JSON."""
    if text.isprintable():
        return text
    return _IN_JSON.sub(_json_escape, text)


_IN_JSON = re.compile(
    "[\x7f-\x9f\u200c\u200d" + "".join(f"{chr(first)}-{chr(last)}" for first, last in _FORMATTING) + "]"
)


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place] << 8 | units[place + 1]:04x}" for place in range(0, len(units), 2))
