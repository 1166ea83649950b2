"""Shared parts of RULER's tasks: generators, tokenizer, texts that grow to a length."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.generators.tokens import any_tokenizer
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.errors import DataError, MissingExtraError

_TRIES = 1000  # how often a sample that is too long is made again before it is an error; upstream never stops
SHORT = 4096
"""Tokens below which examples are shorter."""
NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
Made = tuple[str, list[str]]
"""A text with its answers."""


@dataclass(slots=True)
class Task:
    """Base of the five tasks: generators, tokenizer, and the config's arguments with their defaults."""

    given: Mapping[str, Any]
    draw: random.Random
    encode: Callable[[str], Sequence[int]]

    @classmethod
    def of(cls, source: Source, name: str, **defaults: Any) -> Task:
        """Return the task of a config, with the words and the defaults of the task of this name."""
        words = {"template": prompt_texts("ruler")[name], "remove_newline_tab": ""}
        common = {"max_seq_length": 4096, "tokenizer_model": "gpt-4", "num_samples": 500, "random_seed": 42}
        given = {**words, **common, **defaults, **source.arguments}
        return cls(given, random.Random(given["random_seed"]), any_tokenizer(given["tokenizer_model"]).encode)

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def shuffle(self, items: list[Any]) -> None:
        """Shuffle as upstream does: with the seed, from the start each time."""
        random.Random(self["random_seed"]).shuffle(items)

    def length(self, text: str) -> int:
        """Return the tokens of a text and of the answer that is to follow."""
        return len(self.encode(text)) + int(self["tokens_to_generate"])

    def grown(self, make: Callable[[int], str], step: int, most: int | None = None, *, late: bool = False) -> int:
        """Return the largest size whose text fits, in steps.

        Args:
            make: Size → the text with its answer.
            step: How much a size grows.
            most: The largest size there is.
            late: Whether ``most`` is looked at before the size grows.
        """
        size, length = step, int(self["tokens_to_generate"])
        while length < self["max_seq_length"]:
            length = self.length(make(size))
            if length > self["max_seq_length"]:
                return size - step
            if late and most is not None and size > most:
                return most
            size += step
            if not late and most is not None and size > most:
                return most
        return size

    def samples(self, make: Callable[[int, int], Made], size: int, step: int) -> list[Row]:
        """Return the rows: each sample as long as it can be."""
        return [self._sample(make, index, size, step) for index in range(self["num_samples"])]

    def _sample(self, make: Callable[[int, int], Made], index: int, size: int, step: int) -> Row:
        for _ in range(_TRIES):
            try:
                text, answer = make(index, size)
            except ValueError:  # a draw of more than there is: upstream shortens the text then, too
                pass
            else:
                if self.length(text) <= self["max_seq_length"]:
                    return {"prompt": self.plain(text), "answer": answer}
            if size > step:
                size -= step
        raise DataError(
            "no text of RULER is short enough",
            why=f"after {_TRIES} tries sample {index} is still longer than max_seq_length={self['max_seq_length']}",
        )

    def plain(self, text: str) -> str:
        """Return a text in one line, where the config wants that."""
        return " ".join(text.split()) if self["remove_newline_tab"] else text


def word_lists(*kinds: str) -> list[list[str]]:
    """Return lists of English words: ``noun``, ``adjective``, ``verb``.

    Raises:
        MissingExtraError: ``wonderwords`` is not installed.
    """
    try:
        from wonderwords import random_word  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingExtraError.of("wonderwords", "long", "RULER") from error
    return [random_word._get_words_from_text_file(f"{kind}list.txt") for kind in kinds]  # noqa: SLF001 - as upstream
