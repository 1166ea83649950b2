"""Words and sentences of an answer, as IFEval counts them (``ais_bench``'s ``ifeval.instructions_util``)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

from proctor.compat.aisbench_names.constants import packaged
from proctor.errors import DatasetNotFoundError
from proctor.scoring.english_words import sentence_tokenizer

LANGUAGE_CODES = {
    "en": "English", "es": "Spanish", "pt": "Portuguese", "ar": "Arabic", "hi": "Hindi", "fr": "French",
    "ru": "Russian", "de": "German", "ja": "Japanese", "it": "Italian", "bn": "Bengali", "uk": "Ukrainian",
    "th": "Thai", "ur": "Urdu", "ta": "Tamil", "te": "Telugu", "bg": "Bulgarian", "ko": "Korean", "pl": "Polish",
    "he": "Hebrew", "fa": "Persian", "vi": "Vietnamese", "ne": "Nepali", "sw": "Swahili", "kn": "Kannada",
    "mr": "Marathi", "gu": "Gujarati", "pa": "Punjabi", "ml": "Malayalam", "fi": "Finnish",
}  # fmt: skip
"""Languages by their ISO 639-1 codes."""
_PERIOD, _STOP = "\ue000", "\ue001"
"""Private characters that stand for a period that ends no sentence, and for an end."""
_LETTER = "[A-Za-z]"
_ACRONYM = r"([A-Z]\.[A-Z]\.(?:[A-Z]\.)?)"
_BEGINNING = (
    r"(Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He\s|She\s|It\s|They\s|Their\s|Our\s|We\s|But\s|However\s|That\s|This\s|Wherever)"
)
"""Words that begin a sentence after an acronym."""
_SUFFIX = "(Inc|Ltd|Jr|Sr|Co)"
_ENDS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"(Mr|St|Mrs|Ms|Dr)\.", rf"\1{_PERIOD}"),
    (r"\.(com|net|org|io|gov|edu|me)", rf"{_PERIOD}\1"),
    (r"([0-9])\.([0-9])", rf"\1{_PERIOD}\2"),
    (r"\.{2,}", lambda dots: _PERIOD * len(dots[0]) + _STOP),
    (r"Ph\.D\.", f"Ph{_PERIOD}D{_PERIOD}"),
    (rf"\s({_LETTER})\. ", rf" \1{_PERIOD} "),
    (rf"{_ACRONYM} {_BEGINNING}", rf"\1{_STOP} \2"),
    (rf"({_LETTER})\.({_LETTER})\.({_LETTER})\.", rf"\1{_PERIOD}\2{_PERIOD}\3{_PERIOD}"),
    (rf"({_LETTER})\.({_LETTER})\.", rf"\1{_PERIOD}\2{_PERIOD}"),
    (rf" {_SUFFIX}\. {_BEGINNING}", rf" \1{_STOP} \2"),
    (rf" {_SUFFIX}\.", rf" \1{_PERIOD}"),
    (rf" ({_LETTER})\.", rf" \1{_PERIOD}"),
)
"""Which periods end no sentence, and where one ends all the same: rules one after another."""


def __getattr__(name: str) -> Any:
    if name == "WORD_LIST":
        return _word_list()
    if name != "nltk":
        raise AttributeError(name)
    return import_module(name)


def _word_list() -> list[str]:
    try:
        words: list[str] = packaged("ais_bench.benchmark.datasets.ifeval.instructions_util", "WORD_LIST")
    except LookupError as error:
        raise DatasetNotFoundError("IFEval's list of words is not there", why=str(error)) from error
    return words


def split_into_sentences(text: str) -> list[str]:
    """Return the sentences of a text, by rules for abbreviations, addresses, numbers, initials and quotes."""
    found = f" {text}  ".replace("\n", " ")
    for pattern, ending in _ENDS:
        found = re.sub(pattern, ending, found)
    for mark, quote in ((".", "\u201d"), (".", '"'), ("!", '"'), ("?", '"')):
        found = found.replace(mark + quote, quote + mark)
    found = re.sub(r"([.?!])", rf"\1{_STOP}", found).replace(_PERIOD, ".")
    sentences = [each.strip() for each in found.split(_STOP)]
    return sentences if sentences[-1] else sentences[:-1]


def _get_sentence_tokenizer() -> Any:
    return sentence_tokenizer()


def generate_keywords(num_keywords: int) -> list[str]:
    """Return some words of upstream's list, which is read from its package.

    Raises:
        DatasetNotFoundError: The package is not there.
    """
    return random.sample(_word_list(), k=num_keywords)


def count_sentences(text: str) -> int:
    """Return how many sentences a text has.

    Raises:
        ScoringError: NLTK's table of abbreviations is not there.
    """
    return len(_get_sentence_tokenizer().tokenize(text))


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(re.findall(r"\w+", text))
