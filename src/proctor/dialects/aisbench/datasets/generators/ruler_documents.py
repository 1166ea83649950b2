"""RULER's tasks with documents: needles in a haystack, and questions about documents among others."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.dialects.aisbench.datasets.generators.ruler import NOISE, SHORT, Made, Task, word_lists
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.errors import DataError

# -- needles in a haystack ----------------------------------------------------------------------------------------

_SINGULAR = (("Some", "A"), ("are all", "is"), ("are", "is"), ("answers", "answer"))
_DEPTHS = [int(depth) for depth in np.round(np.linspace(0, 100, num=40)).astype(int)]


def niah(source: Source) -> list[Row]:
    """Magic numbers, words or UUIDs for some keys, hidden in essays, in one sentence often, or among their like."""
    task = Task.of(
        source, "niah", tokens_to_generate=128, num_needle_k=1, num_needle_v=1, num_needle_q=1,
        type_needle_k="words", type_needle_v="numbers",
    )  # fmt: skip
    kind = task["type_haystack"]
    needles = _Needles(task, *word_lists("noun", "adjective"))
    essay: list[str] = []
    if kind == "essay":
        rows = source.rows(f"{task['base_path']}/{task['file_path']}", LINES)
        essay = re.sub(r"\s+", " ", "".join(f"{row.get('text', '').strip()} " for row in rows)).split(" ")
    step = 500 if kind == "essay" else 5 if task["max_seq_length"] < SHORT else 25

    def with_answer(size: int) -> str:
        text, answer = needles.make(size, essay)
        return text + " ".join(answer)

    size = task.grown(with_answer, step, len(essay) if kind == "essay" else None, late=True)
    return task.samples(lambda _, size: needles.make(size, essay), size, step)


def _needle(kind: str, key: str, value: str) -> str:
    return str(prompt_texts("ruler")["needle"].format(type_needle_v=kind, key=key, value=value))


class _Needles:
    def __init__(self, task: Task, nouns: list[str], adjectives: list[str]) -> None:
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

    def make(self, size: int, essay: Sequence[str]) -> Made:
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
                needles.append(_needle(kind, keys[-1], values[-1][-1]))
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
            lines = [NOISE] * size
        else:
            value, key = task["type_needle_v"], task["type_needle_k"]
            lines = [_needle(value, self.drawn(key), self.drawn(value)) for _ in range(size)]
        places = sorted(task.draw.sample(range(size), len(needles)), reverse=True)
        for place, needle in zip(places, needles, strict=True):
            lines.insert(place, needle)
        return "\n".join(lines)


# -- questions about documents ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Question:
    text: str
    answers: list[str]
    documents: list[int]
    related: list[int]


def qa(source: Source) -> list[Row]:
    """Questions of SQuAD or HotpotQA about documents among other documents."""
    task = Task.of(source, "qa", tokens_to_generate=32, pre_samples=0)
    questions, documents = _READERS[task["dataset"]](source.document(task["path"]))

    def make(index: int, size: int) -> Made:
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


def _chosen(task: Task, question: _Question, size: int, count: int) -> list[int]:
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
