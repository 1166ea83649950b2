"""Stands for tiktoken where its tables cannot be downloaded: a token is a word with the space before it."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Sequence

_PARTS = re.compile(r"\s?[^\s]{1,4}|\s")


class Words:
    """Text to numbers of its words, and back."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.texts: list[str] = []

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's words."""
        found = []
        for part in _PARTS.findall(text):
            if part not in self.known:
                self.known[part] = len(self.texts)
                self.texts.append(part)
            found.append(self.known[part])
        return found

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of some words."""
        return "".join(self.texts[token] for token in tokens)


def install() -> None:
    """Put a module in tiktoken's place."""
    module = types.ModuleType("tiktoken")
    words = Words()
    module.encoding_for_model, module.Encoding = (lambda name: words), Words  # type: ignore[attr-defined]
    sys.modules["tiktoken"] = module
