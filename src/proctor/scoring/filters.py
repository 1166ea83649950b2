"""Filters: from what a model wrote to what is scored.

A filter takes the answers to each request (one, or ``repeats``) and returns as many entries as it got. A pipeline
usually ends in ``take_first``, which leaves one answer per request.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from proctor.errors import ProctorError, ScoringError, did_you_mean
from proctor.regexes import BoundedPattern, bounded

Answers = Sequence[Any]
Filter = Callable[[Sequence[Answers], Sequence[Mapping[str, Any]]], Sequence[Any]]
TakesText = Callable[[str], Any]

TAKE_FIRST = "take_first"


def _each(function: Callable[[Any], Any]) -> Filter:
    """Return the filter that treats every answer on its own."""
    return lambda answers, docs: [[function(each) for each in some] for some in answers]


def regex(regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]") -> Filter:
    """Return the filter that finds a pattern; of several groups, the first that holds something."""
    find = _finder(bounded(regex_pattern), group_select)

    def extract(text: Any) -> str:
        found = find(text if isinstance(text, str) else "")
        return fallback if found is None else found.strip()

    return _each(extract)


def _finder(pattern: BoundedPattern | re.Pattern[str], group_select: int) -> Callable[[str], str | None]:
    def find(text: str) -> str | None:
        matches = pattern.findall(text)
        if not matches:
            return None
        match = matches[group_select]
        return next((group for group in match if group), None) if isinstance(match, tuple) else match

    return find


_TAGGED_TOKEN = re.compile(r"\('([^']*)', '([^']*)'\)")


def regex_pos(
    regex_pattern: str = r"\['(.*?)'\]", group_select: int = 0, fallback: Sequence[str] | None = None
) -> Filter:
    """Return the filter that lists the part-of-speech tags of ``[('word', 'TAG'), …]``."""
    del regex_pattern, group_select
    nothing = ["invalid"] if fallback is None else fallback

    def tags(answer: Any) -> Any:
        tokens = _TAGGED_TOKEN.findall(answer) if isinstance(answer, str) else answer
        return [tag for _, tag in tokens] or nothing

    return _each(tags)


def multi_choice_regex(
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
    group_select: int = 0,
    fallback: str = "[invalid]",
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] | None = None,
) -> Filter:
    """Return the filter that finds ``(A)``: by the pattern, else by the text of a choice, else by ``: A``.

    The choices come from the document's ``choices``.
    """
    find = _finder(bounded(regex_pattern), group_select)

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
        match = (_finder(by_text, group_select)(clean(text)) or "").strip()
        if match:
            return letters.get(match, match)
        names = [chr(65 + number) for number in range(len(doc["choices"]))]
        letter = _finder(re.compile(rf":[\s]*({'|'.join(names)})"), group_select)(text)
        return f"({letter.strip()})" if letter else fallback

    return lambda answers, docs: [
        [extract(each, doc) for each in some] for some, doc in zip(answers, docs, strict=True)
    ]


@lru_cache(maxsize=1)
def _punctuation() -> dict[int, None]:
    return dict.fromkeys(code for code in range(sys.maxunicode) if unicodedata.category(chr(code)).startswith("P"))


def mapped(mapping_dict: Mapping[Any, Any] | None = None, default_value: Any = None) -> Filter:
    """Return the filter that looks answers up."""
    table = dict(mapping_dict or {})
    return _each(lambda answer: table.get(answer, default_value))


_ENTITY_LABELS = {
    "person": "PER",
    "location": "LOC",
    "organization": "ORG",
    "counties": "LOC",
    "places": "LOC",
    "people": "PER",
    "persons": "PER",
    "company": "ORG",
    "country": "LOC",
    "continent": "LOC",
    "time": "DATE",
    "date": "DATE",
    "per": "PER",
    "loc": "LOC",
    "org": "ORG",
}
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


def _take_first(answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    del docs
    return [some[0] for some in answers]


def _majority(answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    del docs
    return [[Counter(some).most_common(1)[0][0]] for some in answers]


def take_first_k(k: int) -> Filter:
    """Return the filter that keeps the first ``k`` answers."""

    def take(answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
        del docs
        if any(len(some) < k for some in answers):
            raise ScoringError(
                f"take_first_k needs {k} answers to each request, and there are {min(map(len, answers))}",
                hint=f"set repeats: {k} or more",
            )
        return [some[:k] for some in answers]

    return take


def custom(filter_fn: Any) -> Filter:
    """Return the filter that a function is: from all answers and their rows to what is left of each."""
    if not callable(filter_fn):
        raise ScoringError(f"filter_fn is {filter_fn!r}, no function", hint="write filter_fn: !function utils.name")
    return lambda answers, docs: list(filter_fn([list(some) for some in answers], list(docs)))


def _pass(answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> Sequence[Any]:
    del docs
    return answers


FILTERS: dict[str, Callable[..., Filter]] = {
    "regex": regex,
    "regex_pos": regex_pos,
    "multi_choice_regex": multi_choice_regex,
    "remove_whitespace": lambda: _each(str.strip),
    "lowercase": lambda: _each(str.lower),
    "uppercase": lambda: _each(str.upper),
    "map": mapped,
    "format_span": lambda: _each(_format_span),
    TAKE_FIRST: lambda: _take_first,
    "take_first_k": take_first_k,
    "majority_vote": lambda: _majority,
    "custom": custom,
    "decontaminate": lambda path="": _pass,
}
"""Filters by name."""


def make_filter(step: Mapping[str, Any]) -> Filter:
    """Return the filter that an entry of a pipeline describes.

    Args:
        step: ``function``, the name of a filter or a class with ``apply(answers, docs)``, and its arguments.

    Raises:
        ScoringError: There is no such filter, or it takes no such argument.
    """
    arguments = {key: value for key, value in step.items() if key != "function"}
    name = step["function"]
    if not isinstance(name, str):
        return _of_class(name, arguments)
    if name not in FILTERS:
        raise ScoringError(
            f"there is no filter '{name}'", why=f"there are {', '.join(FILTERS)}", hint=did_you_mean(name, FILTERS)
        )
    try:
        return FILTERS[name](**arguments)
    except TypeError as error:
        raise ScoringError(f"the filter '{name}' does not take these arguments", why=str(error)) from None


def _of_class(kind: Callable[..., Any], arguments: Mapping[str, Any]) -> Filter:
    apply = kind(**arguments).apply
    return lambda answers, docs: list(apply([list(some) for some in answers], list(docs)))


MakeFilter = Callable[[Mapping[str, Any]], Filter]


class FilterPipeline:
    """A named sequence of filters; each name gives scores of its own."""

    def __init__(self, name: str, steps: Sequence[Mapping[str, Any]], make: MakeFilter = make_filter) -> None:
        self.name = name
        self.only_takes_first = [step.get("function") for step in steps] == [TAKE_FIRST]
        try:
            self._filters = [make(step) for step in steps]
        except ProctorError as error:
            raise error.located(path=f"filter_list '{name}'") from None

    def apply(self, answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return what is scored, one entry for each request."""
        found: Sequence[Any] = answers
        for each in self._filters:
            found = each(found, docs)
        return list(found)
