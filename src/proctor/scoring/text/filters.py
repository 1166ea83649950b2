"""lm-eval's filters as text functions: from what a model wrote to what is scored. ``names.json`` lists them.

Each is made of its arguments. What it is then called with depends on its scope: an answer; an answer and its row; all
answers to a request; or all answers to all requests, with their rows.
"""
# ruff: noqa: ARG001 - filters are called with all there is

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from proctor.errors import ScoringError
from proctor.regexes import BoundedPattern, bounded
from proctor.scoring.repeats import most_frequent
from proctor.scoring.text.how_read import taken

OfValue = Callable[[Any], Any]
OfRow = Callable[[Any, Mapping[str, Any]], Any]
OfRepeats = Callable[[Sequence[Any]], Any]
OfColumn = Callable[[Sequence[Sequence[Any]], Sequence[Mapping[str, Any]]], Sequence[Any]]


def regex(regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]") -> OfValue:
    """Return the filter that finds a pattern; of several groups, the first that holds something."""
    find = _finder(bounded(regex_pattern), group_select, f"the pattern {regex_pattern}")

    def extract(text: Any) -> str:
        found = find(text if isinstance(text, str) else "")
        return fallback if found is None else found.strip()

    return extract


def _finder(
    pattern: BoundedPattern | re.Pattern[str], group_select: int, by: str, *, is_last_resort: bool = False
) -> Callable[[str], str | None]:
    def find(text: str) -> str | None:
        return taken(map(_group_of, pattern.findall(text)), by, group_select, is_last_resort=is_last_resort)

    return find


def _group_of(match: Any) -> str | None:
    return next((group for group in match if group), None) if isinstance(match, tuple) else match


_TAGGED_TOKEN = re.compile(r"\('([^']*)', '([^']*)'\)")


def regex_pos(
    regex_pattern: str = r"\['(.*?)'\]", group_select: int = 0, fallback: Sequence[str] | None = None
) -> OfValue:
    """Return the filter that lists the part-of-speech tags of ``[('word', 'TAG'), …]``."""
    nothing = ["invalid"] if fallback is None else fallback

    def tags(answer: Any) -> Any:
        tokens = _TAGGED_TOKEN.findall(answer) if isinstance(answer, str) else answer
        return [tag for _, tag in tokens] or nothing

    return tags


def multi_choice_regex(
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
    group_select: int = 0,
    fallback: str = "[invalid]",
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] | None = None,
) -> OfRow:
    """Return the filter that finds ``(A)``: by the pattern, else by the text of a choice, else by ``: A``.

    The choices come from the instance's ``choices``.
    """
    find = _finder(bounded(regex_pattern), group_select, f"the pattern {regex_pattern}")
    resort = partial(_finder, group_select=group_select, is_last_resort=True)

    def clean(text: str) -> str:
        for pattern in regexes_to_ignore or ():
            text = bounded(pattern).sub("", text)
        text = text.lower() if ignore_case else text
        return text.translate(_punctuation()) if ignore_punctuation else text

    def extract(answer: Any, doc: Mapping[str, Any]) -> str:
        text = answer if isinstance(answer, str) else ""
        if found := (find(text) or "").strip():
            return found
        letters = {clean(choice.strip()): f"({chr(65 + number)})" for number, choice in enumerate(doc["choices"])}
        by_text = re.compile("|".join(sorted(map(re.escape, letters), key=len, reverse=True)))
        match = (resort(by_text, by="the text of a choice")(clean(text)) or "").strip()
        if match:
            return letters.get(match, match)
        names = [re.escape(chr(65 + number)) for number in range(len(doc["choices"]))]
        letter = resort(re.compile(rf":[\s]*({'|'.join(names)})"), by="a letter behind a colon")(text)
        return f"({letter.strip()})" if letter else fallback

    return extract


@lru_cache(maxsize=1)
def _punctuation() -> dict[int, None]:
    return dict.fromkeys(code for code in range(sys.maxunicode) if unicodedata.category(chr(code)).startswith("P"))


def mapped(mapping_dict: Mapping[Any, Any] | None = None, default_value: object = None) -> OfValue:
    """Return the filter that looks answers up."""
    table = dict(mapping_dict or {})
    return lambda answer: table.get(answer, default_value)


_ENTITY_LABELS = {
    "person": "PER", "location": "LOC", "organization": "ORG", "counties": "LOC", "places": "LOC", "people": "PER",
    "persons": "PER", "company": "ORG", "country": "LOC", "continent": "LOC", "time": "DATE", "date": "DATE",
    "per": "PER", "loc": "LOC", "org": "ORG",
}  # fmt: skip
_ENTITY = re.compile(r"\b(PER|LOC|ORG|DATE):\s*([^$]+)")


def _format_span(answer: str) -> str:
    """Return named entities as ``label: value $ label: value``."""
    text = answer.lower()
    for name, label in _ENTITY_LABELS.items():
        text = re.sub(rf"\b{re.escape(name)}\s*:", f"{label}:", text)
    text = "$".join(text.split("$$")).rstrip("$").replace("\n", "$").strip()
    entities = [
        f"{label.lower()}: {value.strip()}"
        for label, values in _ENTITY.findall(text)
        for value in values.split(",")
        if value.strip().lower() != "none"
    ]
    return " $ ".join(entities)


def remove_whitespace() -> OfValue:
    """Return the filter that takes space away around an answer."""
    return str.strip


def lowercase() -> OfValue:
    """Return the filter that writes an answer in lower case."""
    return str.lower


def uppercase() -> OfValue:
    """Return the filter that writes an answer in upper case."""
    return str.upper


def format_span() -> OfValue:
    """Return the filter that writes named entities as ``label: value $ label: value``."""
    return _format_span


def take_first() -> OfRepeats:
    """Return the filter that keeps the first answer."""
    return lambda answers: answers[0]


def majority_vote() -> OfRepeats:
    """Return the filter that keeps the most frequent answer, of equals the first."""
    return lambda answers: [most_frequent(answers)]


def take_first_k(k: int) -> OfColumn:
    """Return the filter that keeps the first ``k`` answers to each request."""

    def take(answers: Sequence[Sequence[Any]], rows: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        if any(len(some) < k for some in answers):
            raise ScoringError(
                f"take_first_k needs {k} answers to each request, and there are {min(map(len, answers))}",
                hint=f"set repeats: {k} or more",
            )
        return [some[:k] for some in answers]

    return take


def custom(filter_fn: object) -> OfColumn:
    """Return the filter that a function is: from all answers and their rows to what is left of each."""
    if not callable(filter_fn):
        raise ScoringError(f"filter_fn is {filter_fn!r}, not a function", hint="write filter_fn: !function utils.name")
    return lambda answers, rows: list(filter_fn(_answers(answers), list(rows)))


def of_class(kind: Callable[..., Any], arguments: Mapping[str, Any]) -> OfColumn:
    """Return the filter of a class with lm-eval's interface: ``apply(answers, docs)``."""
    apply = kind(**arguments).apply
    return lambda answers, rows: list(apply(_answers(answers), list(rows)))


def _answers(answers: Sequence[Any]) -> list[Any]:
    """Return the answers to each request as lists that a filter may change; one that was taken stays as it is."""
    return [list(some) if isinstance(some, list | tuple) else some for some in answers]


def decontaminate(path: str = "") -> OfColumn:
    """Return the filter that changes nothing, as lm-eval's own."""
    return lambda answers, rows: answers
