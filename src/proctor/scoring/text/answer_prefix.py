"""Answers that repeat how the prompt asked them to start."""

from __future__ import annotations

import re
from functools import lru_cache


def strip_prefix(text: str, prefix: str) -> str:
    """Return an answer without the prefix that the prompt asked it to start with, should it repeat it.

    >>> strip_prefix(" The answer is: 12", "The answer is: ")
    '12'
    """
    return _prefix_pattern(prefix).sub("", text) if prefix else text


@lru_cache(maxsize=1024)  # most prefixes are the same for all instances of an exam
def _prefix_pattern(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"^\s*{re.escape(prefix)}\s*")
