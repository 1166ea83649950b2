"""``lm_eval.decontamination.janitor``: training texts without passages of exams. lm-eval 0.4.13, its Python part."""

from __future__ import annotations

import re
import string
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

JANITOR_CPP: Final = False
"""Whether a compiled module does the work: never here."""

Place = tuple[int, int]


def form_ngrams(sequence: Iterable[Any], n: int) -> Iterator[tuple[Any, ...]]:
    """Yield each ``n`` things in a row."""
    window: deque[Any] = deque(maxlen=n)
    for each in sequence:
        window.append(each)
        if len(window) == n:
            yield tuple(window)


def word_ngrams(s: str, n: int) -> Iterator[str]:
    """Yield each ``n`` words in a row, with one blank between them."""
    return (" ".join(each) for each in form_ngrams(s.split(), n))


def split_indices(s: str) -> Iterator[tuple[str, Place]]:
    """Yield words with the places of their first and last letters."""
    return ((found.group(), (found.start(), found.end() - 1)) for found in re.finditer(r"\S+", s))


def word_ngrams_indices(s: str, n: int) -> Iterator[tuple[str, Place]]:
    """Yield each ``n`` words in a row, with the places of the first and the last letter."""
    for row in form_ngrams(split_indices(s), n):
        yield " ".join(word for word, _ in row), (row[0][1][0], row[-1][1][1])


class Janitor:
    """Cuts contaminated passages out of texts.

    Args:
        ngram_n: How many words in a row make a text contaminated.
        window_to_remove: Letters around a passage that go with it.
        too_dirty_cutoff: With more passages than this, nothing of a text is kept.
        minimum_slice_length: Shorter pieces are not kept.
        delete_chars: Letters that do not count when texts are compared.
    """

    def __init__(
        self,
        ngram_n: int = 13,
        window_to_remove: int = 200,
        too_dirty_cutoff: int = 10,
        minimum_slice_length: int = 200,
        delete_chars: str = string.punctuation,
    ) -> None:
        self.ngram_n = ngram_n
        self.window_to_remove = window_to_remove
        self.too_dirty_cutoff = too_dirty_cutoff
        self.minimum_slice_length = minimum_slice_length
        self.delete_chars = delete_chars
        self.dirt_ngrams: set[str] = set()
        self.translation_table = str.maketrans(string.ascii_uppercase, string.ascii_lowercase, delete_chars)

    def normalize_string(self, s: str) -> str:
        """Return a text as it is compared: in small letters, without those that do not count."""
        return s.translate(self.translation_table)

    def register_contaminant(self, dirt_string: str) -> None:
        """Remember a text of an exam."""
        self.dirt_ngrams.update(word_ngrams(self.normalize_string(dirt_string), self.ngram_n))

    def clean(self, dirty_string: str) -> list[str]:
        """Return the clean pieces of a text; none where too much of it is contaminated."""
        found = [
            ("", *place)
            for words, place in word_ngrams_indices(dirty_string, self.ngram_n)
            if self.normalize_string(words) in self.dirt_ngrams
        ]
        return self._split_chunks(dirty_string, found)

    register_contaminant_python = register_contaminant
    clean_python = clean

    def _split_chunks(self, dirty_string: str, dirty_parts: Sequence[tuple[Any, int, int]]) -> list[str]:
        if len(dirty_parts) > self.too_dirty_cutoff:
            return []
        pieces, begin, end = [], 0, -1
        for _, first, last in dirty_parts:
            start = max(0, first - self.window_to_remove)
            end = min(len(dirty_string), last + self.window_to_remove)
            if start - begin > self.minimum_slice_length:
                pieces.append(dirty_string[begin:start])
            begin = end
        if end < len(dirty_string) - self.minimum_slice_length:
            pieces.append(dirty_string[end + 1 :])
        return pieces
