"""RULER (Hsieh et al. 2024): texts of a chosen length that are made around what has to be found in them.

Lengths are grown until one more step would be too long, then every sample is made with that length. All draws come from
generators with the config's seed, in upstream's order, so that the texts are upstream's.
"""
# ruff: noqa: E501 - prompts as upstream words them

from __future__ import annotations

import random
import re
import string
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.files import FileFormat
from proctor.dialects.aisbench.datasets.makers import Source
from proctor.dialects.aisbench.datasets.makers.tokens import any_tokenizer
from proctor.errors import DataError, MissingExtraError

_TRIES = 1000
"""How often a sample that is too long is made again before it is an error; upstream never stops."""
_SHORT = 4096
_NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."
_Made = tuple[str, list[str]]


@dataclass(slots=True)
class _Task:
    """What all five tasks share: the generators, the tokenizer, and the config's arguments with their defaults."""

    given: Mapping[str, Any]
    draw: random.Random
    encode: Callable[[str], Sequence[int]]

    @classmethod
    def of(cls, source: Source, **defaults: Any) -> _Task:
        common = {"max_seq_length": 4096, "tokenizer_model": "gpt-4", "num_samples": 500, "random_seed": 42}
        given = {**common, "remove_newline_tab": "", **defaults, **source.arguments}
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

    def samples(self, make: Callable[[int, int], _Made], size: int, step: int) -> list[Row]:
        """Return the rows: each sample as long as it can be."""
        return [self._sample(make, index, size, step) for index in range(self["num_samples"])]

    def _sample(self, make: Callable[[int, int], _Made], index: int, size: int, step: int) -> Row:
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


def _words(*kinds: str) -> list[list[str]]:
    try:
        from wonderwords import random_word  # type: ignore[import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingExtraError.of("wonderwords", "long", "RULER") from error
    return [random_word._get_words_from_text_file(f"{kind}list.txt") for kind in kinds]  # noqa: SLF001 - as upstream


# -- common words -------------------------------------------------------------------------------------------------

_CWE = (
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the ones that appear "
    "most often.\n{context}\nQuestion: What are the 10 most common words in the above list? Answer: The top 10 words that "
    "appear most often in the list are:"
)


def cwe(source: Source, split: str) -> list[Row]:
    """The words that a numbered list has most often, after a short example."""
    del split
    task = _Task.of(source, template=_CWE, tokens_to_generate=120, freq_cw=30, freq_ucw=3, num_cw=10)
    words = sorted({word for kind in _words("noun", "adjective", "verb") for word in kind})
    task.shuffle(words)

    def listed(size: int, common: int, uncommon: int) -> tuple[str, list[str]]:
        drawn = task.draw.sample(words, size)
        wanted, rest = drawn[: task["num_cw"]], drawn[task["num_cw"] :]
        many = wanted * int(common) + rest * int(uncommon)
        task.shuffle(many)
        return _numbered(many), wanted

    def make(_: int, size: int) -> _Made:
        short = task["max_seq_length"] < _SHORT
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

_FWE = (
    "Read the following coded text and track the frequency of each coded word. Find the three most frequently appeared "
    "coded words. {context}\nQuestion: Do not provide any explanation. Please ignore the dots '....'. What are the three "
    "most frequently appeared words in the above coded text? Answer: According to the coded text above, the three most "
    "frequently appeared words are:"
)


def fwe(source: Source, split: str) -> list[Row]:
    """The most frequent of made-up words whose frequencies follow Zipf's law."""
    del split
    task = _Task.of(source, template=_FWE, tokens_to_generate=50, alpha=2.0, coded_wordlen=6, vocab_size=-1)
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


def _coded(task: _Task, count: int) -> list[str]:
    def word() -> str:
        return "".join(task.draw.choices(string.ascii_lowercase, k=task["coded_wordlen"]))

    words = [word() for _ in range(count)]
    while len(set(words)) < count:
        words.append(word())
    words = sorted(set(words))
    task.shuffle(words)
    return ["...", *words[1:]]


def _zipf(task: _Task, vocabulary: Sequence[str], count: int) -> str:
    from scipy.special import zeta

    ranks = np.arange(1, len(vocabulary) + 1)
    times = (count * ranks ** (-task["alpha"]) / zeta(task["alpha"])).astype(int)
    words = [word for word, often in zip(vocabulary, times, strict=True) for _ in range(often)]
    task.shuffle(words)
    text: str = task["template"].format(context=" ".join(words), query="")
    return text


# -- needles in a haystack ----------------------------------------------------------------------------------------

_NIAH = (
    "Some special magic {type_needle_v} are hidden within the following text. Make sure to memorize it. I will quiz you "
    "about the {type_needle_v} afterwards.\n{context}\nWhat are all the special magic {type_needle_v} for {query} mentioned "
    "in the provided text? The special magic {type_needle_v} for {query} mentioned in the provided text are"
)
_NEEDLE = "One of the special magic {type_needle_v} for {key} is: {value}."
_SINGULAR = (("Some", "A"), ("are all", "is"), ("are", "is"), ("answers", "answer"))
_DEPTHS = [int(depth) for depth in np.round(np.linspace(0, 100, num=40)).astype(int)]


def niah(source: Source, split: str) -> list[Row]:
    """Magic numbers, words or UUIDs for some keys, hidden in essays, in one sentence many times, or among their like."""
    del split
    task = _Task.of(
        source, template=_NIAH, tokens_to_generate=128, num_needle_k=1, num_needle_v=1, num_needle_q=1,
        type_haystack="essay", type_needle_k="words", type_needle_v="numbers",
    )  # fmt: skip
    kind = task["type_haystack"]
    if kind not in ("essay", "repeat", "needle"):
        raise DataError(f"there is no type_haystack '{kind}'", hint="choose essay, repeat or needle")
    needles = _Needles(task, *_words("noun", "adjective"))
    essay: list[str] = []
    if kind == "essay":
        rows = source.rows(f"{task['base_path']}/{task['file_path']}", FileFormat(lines=True))
        essay = re.sub(r"\s+", " ", "".join(f"{row.get('text', '').strip()} " for row in rows)).split(" ")
    step = 500 if kind == "essay" else 5 if task["max_seq_length"] < _SHORT else 25

    def with_answer(size: int) -> str:
        text, answer = needles.make(size, essay)
        return text + " ".join(answer)

    size = task.grown(with_answer, step, len(essay) if kind == "essay" else None, late=True)
    return task.samples(lambda _, size: needles.make(size, essay), size, step)


class _Needles:
    def __init__(self, task: _Task, nouns: list[str], adjectives: list[str]) -> None:
        self.task = task
        self.words = sorted({f"{adjective}-{noun}" for adjective in adjectives for noun in nouns})
        self.keys = max(task["num_needle_k"], task["num_needle_q"])

    def drawn(self, kind: str) -> str:
        """Return a new key or value."""
        if kind == "numbers":
            return str(self.task.draw.randint(10**6, 10**7 - 1))
        if kind == "words":
            return self.task.draw.choice(self.words)
        if kind == "uuids":
            return str(uuid.UUID(int=self.task.draw.getrandbits(128), version=4))
        raise DataError(f"there is no kind of needle '{kind}'", hint="choose numbers, words or uuids")

    def make(self, size: int, essay: Sequence[str]) -> _Made:
        """Return a text of a size with its answers."""
        task, kind = self.task, self.task["type_needle_v"]
        keys: list[str] = []
        values: list[list[str]] = []
        needles: list[str] = []
        for _ in range(self.keys):
            keys.append(self.drawn(task["type_needle_k"]))
            values.append([])
            for _ in range(task["num_needle_v"]):
                values[-1].append(self.drawn(kind))
                needles.append(_NEEDLE.format(type_needle_v=kind, key=keys[-1], value=values[-1][-1]))
        task.shuffle(needles)
        context = self._essay(essay[:size], needles) if task["type_haystack"] == "essay" else self._lines(size, needles)
        asked = task.draw.sample(range(self.keys), task["num_needle_q"])
        template = task["template"]
        if task["num_needle_q"] * task["num_needle_v"] == 1:
            for old, new in _SINGULAR:
                template = template.replace(old, new)
            kind = kind[:-1]
        names = [keys[i] for i in asked]
        query = f"{', '.join(names[:-1])}, and {names[-1]}" if len(names) > 1 else names[0]
        text = template.format(type_needle_v=kind, context=context, query=query)
        return text, [value for i in asked for value in values[i]]

    def _essay(self, words: Sequence[str], needles: list[str]) -> str:
        sentences = [each.strip() for each in " ".join(words).split(". ") if each]
        depths = self.task.draw.sample(_DEPTHS, len(needles))
        places = [0, *sorted(int(len(sentences) * (depth / 100)) for depth in depths), len(sentences)]
        parts = []
        for i, (start, end) in enumerate(pairwise(places)):
            parts += [" ".join(sentences[start:end]), *needles[i : i + 1]]
        return " ".join(parts)

    def _lines(self, size: int, needles: list[str]) -> str:
        task = self.task
        if task["type_haystack"] == "repeat":
            lines = [_NOISE] * size
        else:
            value, key = task["type_needle_v"], task["type_needle_k"]
            lines = [
                _NEEDLE.format(type_needle_v=value, key=self.drawn(key), value=self.drawn(value)) for _ in range(size)
            ]
        places = sorted(task.draw.sample(range(size), len(needles)), reverse=True)
        for place, needle in zip(places, needles, strict=True):
            lines.insert(place, needle)
        return "\n".join(lines)


# -- questions about documents ------------------------------------------------------------------------------------

_QA = (
    "Answer the question based on the given documents. Only give me the answer and do not output any other words.\n\nThe "
    "following are given documents.\n\n{context}\n\nAnswer the question based on the given documents. Only give me the "
    "answer and do not output any other words.\n\nQuestion: {query} Answer:"
)


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    answers: list[str]
    documents: list[int]
    related: list[int]


def qa(source: Source, split: str) -> list[Row]:
    """Questions of SQuAD or HotpotQA about documents among other documents."""
    del split
    task = _Task.of(source, template=_QA, dataset="squad", tokens_to_generate=32, pre_samples=0)
    if task["dataset"] not in _READERS:
        raise DataError(f"there is no dataset '{task['dataset']}'", hint="choose squad or hotpotqa")
    questions, documents = _READERS[task["dataset"]](source.document(task["path"]))

    def make(index: int, size: int) -> _Made:
        question = questions[index]
        chosen = documents
        if size < len(documents):
            chosen = [documents[i] for i in _chosen(task, question, size, len(documents))]
        task.shuffle(chosen)  # of all documents the list itself, so that each sample shuffles it further, as upstream
        context = "\n\n".join(f"Document {i}:\n{document}" for i, document in enumerate(chosen, 1))
        return task["template"].format(context=context, query=question.text), question.answers

    def with_answer(size: int) -> str:
        text, answers = make(0, size)
        return f"{text} {answers}"

    size = task.grown(with_answer, 10, len(documents))
    return task.samples(lambda index, size: make(index + task["pre_samples"], size), size, 10)


def _chosen(task: _Task, question: _Question, size: int, count: int) -> list[int]:
    wanted = size - len(question.documents)
    if wanted <= len(question.related):
        return question.documents + task.draw.sample(question.related, wanted)
    known = {*question.documents, *question.related}
    others = [i for i in range(count) if i not in known]
    more = task.draw.sample(others, max(0, wanted - len(question.related)))
    return question.documents + question.related + more


def _squad(document: Any) -> tuple[list[_Question], list[str]]:
    articles = [article["paragraphs"] for article in document["data"]]
    texts = sorted({paragraph["context"] for article in articles for paragraph in article})
    places = {text: i for i, text in enumerate(texts)}
    questions = []
    for article in articles:
        related = [places[paragraph["context"]] for paragraph in article]
        for paragraph in article:
            own = places[paragraph["context"]]
            more = [place for place in related if place != own]
            for each in (each for each in paragraph["qas"] if not each["is_impossible"]):
                answers = [answer["text"] for answer in each["answers"]]
                questions.append(_Question(each["question"], answers, [own], more))
    return questions, texts


def _hotpotqa(document: Any) -> tuple[list[_Question], list[str]]:
    shown = [[f"{title}\n{''.join(parts)}" for title, parts in each["context"]] for each in document]
    texts = sorted({text for each in shown for text in each})
    places = {text: i for i, text in enumerate(texts)}
    questions = [
        _Question(each["question"], [each["answer"]], [places[text] for text in own], [])
        for each, own in zip(document, shown, strict=True)
    ]
    return questions, texts


_READERS: Mapping[str, Callable[[Any], tuple[list[_Question], list[str]]]] = {"squad": _squad, "hotpotqa": _hotpotqa}


# -- chains of variables ------------------------------------------------------------------------------------------

_VT = (
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n\n{context}\nQuestion: Find all "
    "variables that are assigned the value {query} in the text above. Answer: According to the chain(s) of variable "
    "assignment in the text above, {num_v} variables are assigned the value {query}, they are: "
)


def vt(source: Source, split: str) -> list[Row]:
    """The variables that a value passes through, hidden in noise."""
    del split
    task = _Task.of(source, template=_VT, tokens_to_generate=30, num_chains=1, num_hops=4)
    numbers = np.random.RandomState(task["random_seed"])

    def with_answer(size: int) -> str:
        text, answer = _tracked(task, numbers, size)
        return f"{text} {answer}"

    size = task.grown(with_answer, 10)
    return task.samples(lambda *_: _tracked(task, numbers, size), size, 10)


def _tracked(task: _Task, numbers: np.random.RandomState, size: int) -> _Made:
    chains, names = _chains(task, numbers)
    sentences = [f"{_NOISE}\n"] * size
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


def _chains(task: _Task, numbers: np.random.RandomState) -> tuple[list[list[str]], list[str]]:
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
