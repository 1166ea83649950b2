"""RULER (Hsieh et al. 2024): texts of a chosen length that are made around what has to be found in them.

Lengths are grown until one more step would be too long, then every sample is made with that length. All draws come from
generators with the config's seed, in upstream's order, so that the texts are upstream's.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.generators.tokens import any_tokenizer
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.errors import DataError, needed

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
    with needed("wonderwords", "long", "RULER"):
        from wonderwords import random_word  # type: ignore[import-not-found,unused-ignore]
    return [random_word._get_words_from_text_file(f"{kind}list.txt") for kind in kinds]  # noqa: SLF001 - as upstream


# -- common words -------------------------------------------------------------------------------------------------


def cwe(source: Source) -> list[Row]:
    """The words that a numbered list has most often, after a short example."""
    task = Task.of(source, "cwe", tokens_to_generate=120, freq_cw=30, freq_ucw=3, num_cw=10)
    words = sorted({word for kind in word_lists("noun", "adjective", "verb") for word in kind})
    task.shuffle(words)

    def listed(size: int, common: int, uncommon: int) -> tuple[str, list[str]]:
        drawn = task.draw.sample(words, size)
        wanted, rest = drawn[: task["num_cw"]], drawn[task["num_cw"] :]
        many = wanted * int(common) + rest * int(uncommon)
        task.shuffle(many)
        return _numbered(many), wanted

    def make(_: int, size: int) -> Made:
        short = task["max_seq_length"] < SHORT
        example, shown = listed(20, 3, 1) if short else listed(40, 10, 3)
        context, answer = listed(size, 6, 1) if short else listed(size, task["freq_cw"], task["freq_ucw"])
        template = task["template"]
        solved = template.format(context=example, query="") + _numbered(shown)
        return f"{solved}\n{template.format(context=context, query='')}", answer

    def with_answer(size: int) -> str:
        text, answer = make(0, size)
        return f"{text} {_numbered(answer)}"

    size = task.grown(with_answer, 10, len(words))
    return task.samples(make, size, 10)


def _numbered(words: Sequence[str]) -> str:
    return " ".join(f"{i}. {word}" for i, word in enumerate(words, 1))


# -- frequent coded words -----------------------------------------------------------------------------------------


def fwe(source: Source) -> list[Row]:
    """The most frequent of made-up words whose frequencies follow Zipf's law."""
    task = Task.of(source, "fwe", tokens_to_generate=50, alpha=2.0, coded_wordlen=6, vocab_size=-1)
    longest = task["max_seq_length"]
    kinds = longest // 50 if task["vocab_size"] == -1 else task["vocab_size"]
    step = longest // 32
    count = longest // task["coded_wordlen"]
    vocabulary = _coded(task, kinds)
    while len(task.encode(_zipf(task, vocabulary, count))) < longest:
        count += step
    count -= step
    made = []
    for _ in range(task["num_samples"]):
        vocabulary, size = _coded(task, kinds), count
        while len(task.encode(text := _zipf(task, vocabulary, size))) > longest:
            size -= step
        made.append({"prompt": task.plain(text), "answer": vocabulary[1:4]})
    return made


def _coded(task: Task, count: int) -> list[str]:
    def word() -> str:
        return "".join(task.draw.choices(string.ascii_lowercase, k=task["coded_wordlen"]))

    words = [word() for _ in range(count)]
    while len(set(words)) < count:
        words.append(word())
    words = sorted(set(words))
    task.shuffle(words)
    return ["...", *words[1:]]


def _zipf(task: Task, vocabulary: Sequence[str], count: int) -> str:
    from scipy.special import zeta

    ranks = np.arange(1, len(vocabulary) + 1)
    times = (count * ranks ** (-task["alpha"]) / zeta(task["alpha"])).astype(int)
    words = [word for word, often in zip(vocabulary, times, strict=True) for _ in range(often)]
    task.shuffle(words)
    text: str = task["template"].format(context=" ".join(words), query="")
    return text


# -- chains of variables ------------------------------------------------------------------------------------------


def vt(source: Source) -> list[Row]:
    """The variables that a value passes through, hidden in noise."""
    task = Task.of(source, "vt", tokens_to_generate=30, num_chains=1, num_hops=4)
    numbers = np.random.RandomState(task["random_seed"])

    def with_answer(size: int) -> str:
        text, answer = _tracked(task, numbers, size)
        return f"{text} {answer}"

    size = task.grown(with_answer, 10)
    return task.samples(lambda *_: _tracked(task, numbers, size), size, 10)


def _tracked(task: Task, numbers: np.random.RandomState, size: int) -> Made:
    chains, names = _chains(task, numbers)
    sentences = [f"{NOISE}\n"] * size
    if len(sentences) <= len(chains[0]):
        parts = [part for noise in sentences for part in noise.split(".")]
        sentences = [f"{part}." if part.strip() else part for part in parts]
        if len(sentences) <= len(chains[0]):
            chains = [chain[: len(sentences) - 1] for chain in chains]
    for chain in chains:
        places = sorted(task.draw.sample(range(len(sentences)), len(chain)))
        for i, place in enumerate(places):
            sentences.insert(place + i, chain[i])
    context = " ".join(sentences).replace(". \n", ".\n")
    value = chains[0][0].split("=")[-1].strip()
    return task["template"].format(context=context, query=value, num_v=task["num_hops"] + 1), names


def _chains(task: Task, numbers: np.random.RandomState) -> tuple[list[list[str]], list[str]]:
    count, hops = task["num_chains"], task["num_hops"]

    def name() -> str:
        return "".join(task.draw.choices(string.ascii_uppercase, k=5))

    names = [name() for _ in range((hops + 1) * count)]
    while len(set(names)) < count * (hops + 1):
        names.append(name())
    chains = []
    for start in range(0, len(names), hops + 1):
        own = names[start : start + hops + 1]
        chain = [f"VAR {own[0]} = {numbers.randint(10000, 99999)}"]
        chains.append([*chain, *(f"VAR {own[i + 1]} = VAR {own[i]} " for i in range(hops))])
    return chains, names[: hops + 1]
