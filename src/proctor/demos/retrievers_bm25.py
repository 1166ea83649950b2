"""Retrieval by the words that texts share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from proctor.demos.retrievers import Corpus, Positions, Ranker, RankingRetriever
from proctor.errors import needed

K1, B, EPSILON = 1.5, 0.75, 0.25
"""The customary constants of Okapi BM25, and the share of the mean weight that words in most texts get."""


class BM25Retriever(RankingRetriever):
    """Shows what shares most words with the test row: Okapi BM25, the best first, of equals the later row first.

    Words are those of NLTK's ``word_tokenize``; see :func:`word_tokenizer`.
    """

    def ranker(self, index: Corpus) -> Ranker:
        """Read an index."""
        self._check_size(self.ice_num, index)
        tokenize = word_tokenizer()
        return Okapi([tokenize(text) for text in index.texts], tokenize)


class Okapi:
    """An index of texts by their words.

    Scores are those of ``rank_bm25.BM25Okapi`` to the last bit: the same sums in the same order, over only the texts
    that have a word. (Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.)

    Args:
        texts: The words of each text.
        tokenize: What cuts queries into words.
    """

    def __init__(self, texts: Sequence[Sequence[str]], tokenize: Callable[[str], list[str]]) -> None:
        self._tokenize, self._size = tokenize, len(texts)
        self._weights = self._word_weights(texts)

    def _word_weights(self, texts: Sequence[Sequence[str]]) -> dict[str, tuple[Any, Any]]:
        """Return for each word the texts that have it, and what it adds to their scores."""
        import numpy as np

        places: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for place, words in enumerate(texts):
            for word, count in Counter(words).items():
                places.setdefault(word, []).append(place)
                counts.setdefault(word, []).append(count)
        lengths = np.array([len(words) for words in texts])
        mean_length = sum(len(words) for words in texts) / len(texts) if texts else 0.0
        importance = _importance({word: len(found) for word, found in places.items()}, len(texts))
        made: dict[str, tuple[Any, Any]] = {}
        for word, found in places.items():
            where, often = np.array(found), np.array(counts[word])
            saturation = often + K1 * (1 - B + B * lengths[where] / mean_length)
            made[word] = where, importance[word] * (often * (K1 + 1) / saturation)
        return made

    def scores(self, query: str) -> Any:
        """Return the score of every text, as an array."""
        import numpy as np

        scores = np.zeros(self._size)
        for word in self._tokenize(query):
            found = self._weights.get(word)
            if found is not None:
                scores[found[0]] += found[1]
        return scores

    def best(self, texts: Sequence[str], count: int) -> list[Positions]:
        """Return for every text the positions with the highest scores."""
        import numpy as np

        return [tuple(np.argsort(self.scores(text), kind="stable")[::-1][:count].tolist()) for text in texts]


def _importance(frequencies: dict[str, int], size: int) -> dict[str, float]:
    """Return how much each word says; words in more than half of the texts get a share of the mean."""
    found = {
        word: math.log(size - frequency + 0.5) - math.log(frequency + 0.5) for word, frequency in frequencies.items()
    }
    if not found:
        return {}
    total = 0.0
    for value in found.values():
        total += value
    floor = EPSILON * (total / len(found))
    return {word: floor if value < 0 else value for word, value in found.items()}


@lru_cache(maxsize=1)
def word_tokenizer() -> Callable[[str], list[str]]:
    """Return a tokenizer of words: NLTK's sentences, then the rules of the Penn Treebank.

    Where NLTK's trained data (``punkt_tab``) is not on this machine, its untrained sentence splitter is used, which
    knows no abbreviations: ``Dr. Who`` may give ``Dr`` and ``.`` instead of ``Dr.``. Nothing is downloaded.

    Raises:
        MissingExtraError: NLTK is not installed.
    """
    with needed("nltk", "text", "retrieval by BM25"):
        from nltk.tokenize import NLTKWordTokenizer, word_tokenize
        from nltk.tokenize.punkt import PunktSentenceTokenizer
    try:
        word_tokenize("Is it here?")
    except LookupError:
        sentences, words = PunktSentenceTokenizer().tokenize, NLTKWordTokenizer().tokenize
        return lambda text: [word for sentence in sentences(text) for word in words(sentence)]
    return lambda text: list(word_tokenize(text))
