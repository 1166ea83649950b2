"""The option that a judge chose: what it names, and never what merely looks like it.

A judge is asked to reply with the name of one option and nothing else. Many say more, and some say something else:
``I cannot tell`` is not ``No``, ``not good`` is not ``Good``, and ``Answer 3`` is neither ``Answer 1`` nor
``Answer 2``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from proctor.ir import Failure

UNREAD: Final = frozenset({"unreadable", "judge"})
"""Kinds of failures of instances whose judges answered, and gave no verdict."""

_CLOSE: Final = 0.8  # of difflib's ratio: a slip of the pen in a word of five letters
_APART: Final = 0.05  # by so much the closest option is closer than the next, or it is anybody's guess
_SHORT: Final = 3  # letters of an option that occurs in sentences which mean something else (No, Yes, A, 1)
_SHOWN: Final = 200  # characters of what a judge said, in the reason of a failure

_UNCASED: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff"  # scripts without blanks
_BEGIN, _END = rf"(?<![^\W{_UNCASED}])", rf"(?![^\W{_UNCASED}])"
_NEGATED: Final = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|hardly|cannot|without)\s+(?:\w+\s+)?|n['\u2019]t\s+(?:\w+\s+)?|[不非没])$"
)
"""What stands before an option that is denied: ``not good``, ``isn't a good``."""
_OPENS: Final = re.compile(r"(?:^|[\n.:;,!?\"'(\[*\u201c\u300c])\s*(?:is\s+)?$")
_CLOSES: Final = re.compile(r"^\s*(?:$|[\n.:;,!?\"')\]*\u201d\u300d])")


def chosen_option(answer: Any, options: Sequence[str]) -> Any:
    """Return the option that an answer names; a failure where it names none or several.

    The answer as a whole may be an option, name exactly one as words of its own that are not denied, or be one but for
    a slip of the pen. A short option counts only where a sentence or a quotation begins or ends with it.
    """
    if isinstance(answer, Failure):
        return answer
    text = str(answer).strip().strip("\"'.* \u201c\u201d\u3002").casefold()
    folded = {option.casefold().strip(): option for option in options}
    if text in folded:
        return folded[text]
    named = _named(text, folded)
    if len(named) == 1:
        return folded[named[0]]
    if not named and (close := _closest(text, folded)) is not None:
        return folded[close]
    return Failure(
        "unreadable", f"the judge chose none of {', '.join(options)}: {str(answer)[:_SHOWN]!r}", retryable=False
    )


def _named(text: str, options: Mapping[str, str]) -> list[str]:
    """Return the options that a text names; the longest where one is part of another."""
    if not (known := sorted(map(re.escape, options), key=len, reverse=True)):
        return []
    found: dict[str, None] = {}
    for match in re.finditer(rf"{_BEGIN}(?:{'|'.join(known)}){_END}", text):
        before, after = text[: match.start()], text[match.end() :]
        if _NEGATED.search(before):
            continue
        if len(match[0]) > _SHORT or _OPENS.search(before) or _CLOSES.search(after):
            found[match[0]] = None
    return list(found)


def _closest(text: str, options: Mapping[str, str]) -> str | None:
    """Return the option that a text is but for a slip of the pen: the same numbers and count of words."""
    close = sorted(
        ((SequenceMatcher(None, text, option).ratio(), option) for option in options if _is_like(text, option)),
        reverse=True,
    )
    if not close or close[0][0] < _CLOSE or (len(close) > 1 and close[0][0] - close[1][0] < _APART):
        return None
    return close[0][1]


def _is_like(text: str, option: str) -> bool:
    return re.findall(r"\d+", text) == re.findall(r"\d+", option) and len(text.split()) == len(option.split())
