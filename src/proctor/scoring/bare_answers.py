"""Answers without what does not count in them: marks around them, case, commas between thousands."""

from __future__ import annotations

import re
from typing import Final

_OPENING: Final = r"\s\"'`“”„‘’‚«»‹›「」『』《》(\[¿¡"  # noqa: RUF001 - marks of many languages
_CLOSING: Final = r"\s\"'`“”‘’«»‹›「」『』《》)\].,;:!?…。，；：！？"  # noqa: RUF001 - marks of many languages
AROUND: Final = (
    rf"^(?:[{_OPENING}]|\*\*)+(?=[^{_OPENING}{_CLOSING}])",
    rf"(?<=[^{_CLOSING}])(?:[{_CLOSING}]|\*\*)+$",
    r"(?<=\d),(?=\d{3}(?!\d))",
)
"""What does not count in an answer: quotes, brackets and marks of sentences around it, emphasis, and commas between the
thousands of a number. All else does: ``-5`` is not 5, ``C++`` is not C, ``1.5`` is not 15, and ``?`` is something."""


def bare(text: str) -> str:
    """Return an answer without what does not count in it, in small letters.

    >>> bare("**Paris**."), bare("C++"), bare("1,234")
    ('paris', 'c++', '1234')
    """
    found = text.strip()
    for each in AROUND:
        found = re.sub(each, "", found)
    return found.lower()
