"""English texts cut into sentences by rules, without a table of abbreviations, as the authors of IFBench cut them.

A full stop ends a sentence unless it stands in a title (``Dr.``), an address (``.org``), a number, an acronym or
behind a single letter. Only the rules are known; nothing is learned from data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_KEPT, _END = "<prd>", "<stop>"
_LETTER = "([A-Za-z])"
_FIRST_WORDS = (
    r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s|That\s|This\s|Wherever)"
)
_COMPANIES = "(Inc|Ltd|Jr|Sr|Co)"

_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
_RULES: Sequence[_Rule] = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("(Mr|St|Mrs|Ms|Dr)[.]", r"\1<prd>"),
        ("[.](com|net|org|io|gov|edu|me)", r"<prd>\1"),
        ("([0-9])[.]([0-9])", r"\1<prd>\2"),
        (r"\.{2,}", lambda dots: _KEPT * len(dots[0]) + _END),
        (r"Ph\.D\.", "Ph<prd>D<prd>"),
        (rf"\s{_LETTER}[.] ", r" \1<prd> "),
        (rf"([A-Z][.][A-Z][.](?:[A-Z][.])?) {_FIRST_WORDS}", r"\1<stop> \2"),
        (rf"{_LETTER}[.]{_LETTER}[.]{_LETTER}[.]", r"\1<prd>\2<prd>\3<prd>"),
        (rf"{_LETTER}[.]{_LETTER}[.]", r"\1<prd>\2<prd>"),
        (rf" {_COMPANIES}[.] {_FIRST_WORDS}", r" \1<stop> \2"),
        (rf" {_COMPANIES}[.]", r" \1<prd>"),
        (rf" {_LETTER}[.]", r" \1<prd>"),
    )
]
_CLOSING = (("\N{RIGHT DOUBLE QUOTATION MARK}", "."), ('"', "."), ('"', "!"), ('"', "?"))
"""Quotation marks behind the end of a sentence, which are put before it."""


def sentences_by_rule(text: str) -> list[str]:
    """Return the sentences of an English text, each without white space around it; what follows the last end is one."""
    found = f" {text}  ".replace("\n", " ")
    for pattern, replacement in _RULES:
        found = pattern.sub(replacement, found)
    for mark, stop in _CLOSING:
        found = found.replace(stop + mark, mark + stop)
    for stop in ".?!":
        found = found.replace(stop, stop + _END)
    sentences = [each.strip() for each in found.replace(_KEPT, ".").split(_END)]
    return sentences if sentences[-1] else sentences[:-1]
