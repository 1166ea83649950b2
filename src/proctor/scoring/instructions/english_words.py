"""Words of English texts as NLTK tells them apart: tokens, stop words, verbs. Each names the data that is missing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from proctor.errors import ScoringError, needed

_EXTRA = "instructions"


def words_of_sentences(text: str) -> list[str]:
    """Return the tokens of a text, sentence by sentence (NLTK's ``word_tokenize``).

    Raises:
        ScoringError: NLTK's table of abbreviations is not there.
        MissingExtraError: NLTK is not installed.
    """
    tokenizer = word_tokenizer()
    return [token for sentence in sentence_tokenizer().tokenize(text) for token in tokenizer.tokenize(sentence)]


@cache
def word_tokenizer() -> Any:
    """Return NLTK's tokenizer of single sentences, which needs no data.

    Raises:
        MissingExtraError: NLTK is not installed.
    """
    with needed("nltk", _EXTRA, "the words of a text"):
        from nltk.tokenize.destructive import NLTKWordTokenizer
    return NLTKWordTokenizer()


@cache
def sentence_tokenizer() -> Any:
    """Return NLTK's tokenizer of English texts into sentences.

    Raises:
        ScoringError: NLTK's table of abbreviations is not there.
        MissingExtraError: NLTK is not installed.
    """
    with needed("nltk", _EXTRA, "the sentences of a text"):
        from nltk.tokenize.punkt import PunktTokenizer
    try:
        return PunktTokenizer("english")
    except LookupError as error:
        raise _missing("the sentences of a text need NLTK's table of abbreviations", "punkt_tab") from error


@cache
def stop_words() -> frozenset[str]:
    """Return NLTK's English stop words.

    Raises:
        ScoringError: The list is not there.
        MissingExtraError: NLTK is not installed.
    """
    with needed("nltk", _EXTRA, "stop words"):
        from nltk.corpus import stopwords
    try:
        return frozenset(stopwords.words("english"))
    except LookupError as error:
        raise _missing("stop words need NLTK's list of them", "stopwords") from error


def parts_of_speech(words: Sequence[str]) -> list[str]:
    """Return the Penn tag of each word of a text.

    Raises:
        ScoringError: The tagger is not there.
        MissingExtraError: NLTK is not installed.
    """
    with needed("nltk", _EXTRA, "verbs"):
        from nltk import pos_tag
    try:
        return [tag for _, tag in pos_tag(list(words))]
    except LookupError as error:
        raise _missing("verbs need NLTK's tagger", "averaged_perceptron_tagger_eng") from error


def _missing(what: str, data: str) -> ScoringError:
    return ScoringError(what, why=f"the data '{data}' is not there", hint=f"python -m nltk.downloader {data}")
