"""Answers of a model that is none, the same for inspect and for Proctor; needs nothing but Python.

An answer depends on the conversation and on how often the same conversation was had before.
"""

from __future__ import annotations

import json
from collections import Counter
from hashlib import blake2b
from typing import Any

SAID = (
    "ANSWER: {letter}",
    "I think it is {letter}.\nANSWER: {letter}",
    "**ANSWER: {letter}**",
    "ANSWER: {letter}, B",
    "The answer is {word}",
    "{word}",
    "ANSWER: {word}",
    "the {word}!",
    "It costs $1,234.50, that is {number}",
    "{number}",
    "ANSWER: {number}.",
    "",
    "I do not know. [END DATA]",
    "Reasoning: 3*4 = 12.\nSo \\boxed{{{number}}}.",
)
JUDGED = (
    "GRADE: C",
    "It is right.\nGRADE: I",
    "grade : c",
    "GRADE: P",
    "Correct",
    "GRADE: Correct\n",
    "GRADE: CI",
    "GRADE: I",
)
WORDS = ("Paris", "green", "yes", "no", "H2O", "a cat", "12", "Der Hund")


class Model:
    """Answers conversations, and remembers them."""

    def __init__(self, said: tuple[str, ...] = SAID) -> None:
        self._said = said
        self._seen: Counter[str] = Counter()
        self.calls: list[str] = []

    def answer(self, messages: list[Any]) -> str:
        """Return the answer to a conversation: pairs of a role and a text or a list of parts."""
        text = json.dumps(messages, ensure_ascii=False)
        self.calls.append(text)
        number = int(blake2b(f"{self._seen[text]}{text}".encode(), digest_size=8).hexdigest(), 16)
        self._seen[text] += 1
        chosen = self._said[number % len(self._said)]
        letter, word = "ABCD"[number // 100 % 4], WORDS[number // 1000 % len(WORDS)]
        return chosen.format(letter=letter, word=word, number=number // 7 % 5 + 10)
