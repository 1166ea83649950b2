"""Endings of an exam's answers: cut off, empty, lost in thoughts; and whether all of them are the same.

A number over answers that a model never finished, or that are one and the same, says nothing about the model. So
answers are counted as they pass, one at a time, and what was counted stands beside the scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from proctor.ir import THINKING, Choose, Converse, Generate, Response, Rolling, is_cut_off
from proctor.ir.question import Answered, Question
from proctor.scoring.choice import first_largest

FEWEST_EQUAL: Final = 5
"""Equal answers that are worth a word: fewer from a fair coin happen once in eight times."""

FEWEST_ALIKE: Final = 2
"""Empty or cut-off answers that are 'all answers': one alone is counted, and that says it."""

_WRITTEN: Final = (Generate, Converse)  # requests to which a model writes

_STOPPED: Final = ("stop",)  # why nearly all answers end

_TAG: Final = re.compile(r"\s*(<\|?[^<>\s/|]{2,40}\|?>|\[[A-Za-z][\w:]{1,30}\])")  # what may begin thoughts: a tag

_MOST_TAGS: Final = 32  # tags that are counted: one that half of the answers begin with is among the first

_SHOWN: Final = 80  # characters of an answer that all answers are: a line

COUNTED: Final = ("answers", "truncated", "empty", "thinking")
"""What results count of exams in which a model writes, by name."""

LAST_RESORT: Final = "last_resort"
"""Where results count the scores that hang on the last resort of how answers are read."""

ALIKE: Final = "all_answers"
"""Where results say in what all answers of an exam are alike."""


class Endings:
    """Counts how answers ended, without keeping them.

    Attributes:
        answers: Texts that came; of exams that compare choices, the questions that have a choice.
        truncated: Texts that ended because there was no room for more.
        empty: Texts without a character that can be seen.
        thinking: Answers that never began, because all tokens went into thoughts.
    """

    def __init__(self) -> None:
        self.answers = self.truncated = self.empty = self.thinking = 0
        self._texts = _Same()
        self._tags: Counter[str] = Counter()
        self._options = _Same()
        self._writes = False

    def count(self, answered: Answered) -> None:
        """Count the answers to a question."""
        question = answered.question
        for request, response in zip(question.requests, answered.responses, strict=False):
            if isinstance(request, _WRITTEN):
                self.count_texts(response, question.exchange.references)
        if not self._writes and answered.failure is None:
            option = chosen_option(question, answered.responses)
            if option is not None:
                self.answers += 1
                self._options.add(option, is_right=option == _gold_of(question))

    def count_texts(self, response: Response, references: Sequence[Any]) -> None:
        """Count what was written, or why nothing was.

        Args:
            response: The texts.
            references: What would have been right.
        """
        self._writes = True
        if response.failure is not None:
            self.thinking += response.failure.kind == THINKING
            return
        texts = response.texts or ("",)
        self.answers += len(texts)
        if response.finish_reasons != _STOPPED:
            self.truncated += sum(map(is_cut_off, response.finish_reasons[: len(texts)]))
        same = self._texts
        for text in texts:
            words = text.strip()
            self.empty += not words
            tag = _opening_tag(words)
            if tag and (tag in self._tags or len(self._tags) < _MOST_TAGS):
                self._tags[tag] += 1
            if same.is_same:  # else it is known that they are not
                same.add(words, is_right=same.may_be_right and _agrees(words, references))

    def as_data(self) -> dict[str, Any]:
        """Return the counts as entries of results; nothing of exams that compare choices, unless all are alike."""
        alike = self._alike()
        counts = {name: getattr(self, name) for name in COUNTED} if self._writes or alike else {}
        return {**counts, ALIKE: alike} if alike else counts

    def _alike(self) -> dict[str, Any]:
        """Return in what all answers are alike; nothing where they are not."""
        found: dict[str, Any] = {}
        if self._writes and self.answers >= FEWEST_ALIKE:
            if self.truncated == self.answers:
                found["truncated"] = True
            if self.empty == self.answers:
                return {**found, "empty": True}
        for tag, count in self._tags.most_common(1):
            if count >= max(FEWEST_EQUAL, self.answers / 2):
                found["begin_with"] = {"tag": tag, "end": closing_of(tag), "count": count}
        if self._texts.is_news:
            found["equal"] = str(self._texts.value)[:_SHOWN]
        if self._options.is_news:
            found["option"] = self._options.value
        return found


def closing_of(tag: str) -> str:
    """Return what ends what a tag begins: ``</x>`` of ``<x>``, ``<|end_of_x|>`` of ``<|begin_of_x|>``."""
    for begins, ends in (("begin", "end"), ("start", "end"), ("START", "END"), ("BEGIN", "END")):
        if begins in tag:
            return tag.replace(begins, ends)
    return f"{tag[:1]}/{tag[1:]}"


def _opening_tag(text: str) -> str:
    """Return the tag with which a text begins, where it ends further on and something stands behind that end."""
    found = _TAG.match(text)
    if found is None:
        return ""
    _, end, behind = text.partition(closing_of(found[1]))
    return found[1] if end and behind.strip() else ""


class _Same:
    """Whether values are all the same, and not all of them right: then they may well be."""

    def __init__(self) -> None:
        self.is_same = True
        self.value: object = None
        self._count = 0
        self._are_right = True

    def add(self, value: object, *, is_right: bool) -> None:
        if not self._count:
            self.value = value
        self._count += 1
        self.is_same = self.is_same and value == self.value
        self._are_right = self._are_right and is_right

    @property
    def may_be_right(self) -> bool:
        """Whether it still counts if a value is right: they are all the same so far, and all of them were."""
        return self.is_same and self._are_right

    @property
    def is_news(self) -> bool:
        return self._count >= FEWEST_EQUAL and self.is_same and not self._are_right


def _agrees(words: str, references: Sequence[Any]) -> bool:
    """Return whether an answer has a reference in it, as a word of its own."""
    return any(_has(words, str(each).strip()) for each in references)


@lru_cache(maxsize=256)
def _has(words: str, text: str) -> bool:
    """Return whether one text is in another as a word; of answers that are all the same, it is asked often."""
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", words, re.IGNORECASE) is not None


def chosen_option(question: Question, responses: Sequence[Response]) -> int | None:
    """Return the position of the likeliest of the options that a question compares; ``None`` where it compares none."""
    values = _values(question, responses)
    return first_largest(values) if len(values) > 1 else None


def _values(question: Question, responses: Sequence[Response]) -> list[float]:
    """Return how likely each option is: of one request, or of one or two requests for each label."""
    if len(responses) == 1 and isinstance(question.requests[0], Choose):
        scores = responses[0].scores
        return [each.log_likelihood for each in scores[: len(question.exchange.choices) or len(scores)]]
    labels = len(question.labels)
    if labels < 2 or not all(response.scores for response in responses):  # noqa: PLR2004 - one is not a choice
        return []
    if len(responses) == 2 * labels:  # with and without the context
        means = [_mean(response) for response in responses]
        return [answer - alone for answer, alone in zip(means[::2], means[1::2], strict=True)]
    if len(responses) != labels:
        return []
    if isinstance(question.requests[0], Rolling):
        return [_mean(response, first_token=1) for response in responses]
    return [response.scores[0].log_likelihood for response in responses]


def _mean(response: Response, first_token: int = 0) -> float:
    scored = response.scores[0]
    return scored.log_likelihood / max(1, scored.token_count + first_token)


def _gold_of(question: Question) -> int | None:
    if question.exchange.gold is not None:
        return question.exchange.gold
    names = [str(each) for each in question.labels or question.exchange.choices]
    right = {str(each) for each in question.exchange.references}
    return next((place for place, name in enumerate(names) if name in right), None)
