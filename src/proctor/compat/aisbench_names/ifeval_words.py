"""Words and sentences of an answer, as IFEval counts them (``ais_bench``'s ``ifeval.instructions_util``)."""

from __future__ import annotations

import re
from typing import Any

from proctor.scoring.english_words import sentence_tokenizer


def _get_sentence_tokenizer() -> Any:
    return sentence_tokenizer()


def count_sentences(text: str) -> int:
    """Return how many sentences a text has.

    Raises:
        ScoringError: NLTK's table of abbreviations is not there.
    """
    return len(_get_sentence_tokenizer().tokenize(text))


def count_words(text: str) -> int:
    """Return how many words a text has."""
    return len(re.findall(r"\w+", text))
