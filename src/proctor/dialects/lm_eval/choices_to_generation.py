"""Multiple choice for engines without log-probabilities: the model writes the label, and the label is found.

The exam says so in its specification (``metadata.asked_as: text``) and in its results (``variant``): such scores do not
compare with likelihood's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.fields import Find
from proctor.dialects.lm_eval.task_fields import checked_choices, compiled_fields, placed
from proctor.errors import ProctorError
from proctor.logs import get_logger
from proctor.scoring.text.how_read import each_of, taken
from proctor.templates.styles import ChoiceLabels, QuestionStyle

AS_TEXT = "choices as text (the label is written and extracted, no log-probabilities are compared)"
"""What results say of such an exam."""

LOOKED_AT = 5
"""Documents that say whether the choices of a task are labels that its prompt shows: all have to agree."""

STYLE = QuestionStyle("generate", suffix="\nAnswer with the label of the right choice only.\nAnswer:")
LABELS = ChoiceLabels()
MOST_TOKENS = 32
"""Room for a label and a few words around it."""


def asked_as_text(config: TaskConfig, documents: TaskDocuments | None = None) -> TaskConfig:
    """Return the task with its choices listed where the prompt does not, and the label as what is to be written."""
    documents = documents or TaskDocuments(config)
    fields = compiled_fields(config, documents.columns()).asked
    if fields.choices is None:
        return config
    are_labels = _are_labels(*_seen(config, documents, fields.choices, fields.text))
    asked = _AskedForLabel(str(config.task), fields.text, fields.target, fields.choices, are_labels)
    filters = [{"function": "custom", "filter_fn": asked.extract}, {"function": "take_first"}]
    metadata = config.metadata if isinstance(config.metadata, dict) else {}
    return replace(
        config,
        output_type="generate_until",
        doc_to_text=asked.text,
        doc_to_target=asked.target,
        doc_to_choice=None,
        template=None,
        template_choice=None,
        fewshot_config=replace(config.fewshot, doc_to_text=asked.text, doc_to_target=asked.target, doc_to_choice=None),
        generation_kwargs={"temperature": 0.0, "do_sample": False, "max_gen_toks": MOST_TOKENS, "until": ["\n\n"]},
        metric_list=[{"metric": acc, "aggregation": "mean", "higher_is_better": True}],
        filter_list=[{"name": "extract-label", "filter": filters}],
        process_results=None,
        metadata={**metadata, "asked_as": "text"},
    )


def finds_labels(step: Mapping[str, Any]) -> bool:
    """Return whether a step of a filter is the one that finds labels, which looks at each answer by itself."""
    return isinstance(getattr(step.get("filter_fn"), "__self__", None), _AskedForLabel)


@dataclass
class _AskedForLabel:
    """The fields of such a task, from those of the task that it was."""

    task: str
    find_text: Find
    find_target: Find
    find_choices: Find
    are_labels: bool
    has_warned: bool = False

    def text(self, doc: Mapping[str, Any]) -> str:
        """Return the prompt of a document: its question, and its choices where the question does not show them."""
        choices, question = [str(each) for each in self.find_choices(doc)], self.find_text(doc)
        if isinstance(question, int):
            return STYLE.prompt(f"Which is right?\n{self.find_target(doc)}", choices)
        return str(question) if self.are_labels else STYLE.prompt(_without_cue(str(question)), choices)

    def target(self, doc: Mapping[str, Any]) -> Any:
        """Return the label, or labels, of the right choice; an empty text where the gold answer is not a choice."""
        choices, question = self.find_choices(doc), self.find_text(doc)
        gold = question if isinstance(question, int) else self.find_target(doc)
        labels = self._labels_of(choices)
        places = [_place_of(each, choices) for each in (gold if isinstance(gold, list) else [gold])]
        found = [labels[place] for place in places if place is not None and 0 <= place < len(labels)]
        if not found:
            self._warn(gold, choices)
        return found if isinstance(gold, list) else found[0] if found else ""

    def extract(self, answers: Sequence[Sequence[Any]], docs: Sequence[Mapping[str, Any]]) -> list[list[str]]:
        """Return the labels that answers name; a filter."""
        finders = [self._finder(doc) for doc in docs]
        found = [[find(str(each)) for each in some] for some, find in zip(each_of(answers), finders, strict=True)]
        if unread := sum(each.count(NO_LABEL) for each in found):
            message = "%s: %d of %d answers name none of the choices, and count as wrong"
            get_logger().warning(message, self.task, unread, sum(map(len, found)))
        return found

    def _finder(self, doc: Mapping[str, Any]) -> Callable[[str], str]:
        choices = self.find_choices(doc)
        labels = self._labels_of(choices)
        if self.are_labels:
            return label_finder(labels, lambda: _listed_in(str(self.find_text(doc)), labels))
        return label_finder(labels, lambda: [str(each) for each in choices])

    def _labels_of(self, choices: Sequence[Any]) -> list[str]:
        return [str(each).strip() for each in choices] if self.are_labels else LABELS.take(len(choices))

    def _warn(self, gold: Any, choices: Sequence[Any]) -> None:
        if not self.has_warned:
            self.has_warned = True
            message = "%s: the gold answer %r is outside the choices %r; such documents count as wrong"
            get_logger().warning(message, self.task, gold, list(choices))


def _listed_in(question: str, labels: Sequence[str]) -> Sequence[str]:
    """Return what stands behind labels that a question lists, each in a line of its own; nothing where it does not."""
    found = [re.findall(rf"(?m)^\s*\(?{re.escape(label)}[).:]\s*(\S.*?)\s*$", question) for label in labels]
    return [each[0] for each in found] if all(len(each) == 1 for each in found) else ()


def _place_of(gold: Any, choices: Sequence[Any]) -> int | None:
    if isinstance(gold, int):
        return gold
    return list(choices).index(gold) if gold in choices else None


def _seen(
    config: TaskConfig, documents: TaskDocuments, find_choices: Find, find_text: Find
) -> tuple[list[Any], list[Any]]:
    """Return choices and questions of the first documents that have some."""
    choices, questions, errors = [], [], []
    for number, doc in enumerate(documents.asked()[:LOOKED_AT]):
        try:
            found = checked_choices(find_choices(doc))
            question = find_text(doc)
        except ProctorError as error:
            errors.append(placed(error, config, f"{config.task}[{number}] split '{documents.eval_split}'"))
            continue
        choices.append(found)
        questions.append(question)
    if errors and not choices:
        raise errors[0]
    return choices, questions


def acc(references: Sequence[str], predictions: Sequence[str]) -> float:
    """Return the share of labels that are the right one, in either case."""
    right = [one.lower() == other.lower() for one, other in zip(references, predictions, strict=True)]
    return sum(right) / len(right)


def _are_labels(choices: Sequence[Sequence[Any]], questions: Sequence[Any]) -> bool:
    """Return whether documents share their choices and name them: these are labels, or words to answer with."""
    longest = max(choices, key=len, default=[])
    is_alphabet = [str(each).strip() for each in longest] == list(LABELS.take(len(longest)))  # one document tells then
    shared = (len(choices) > 1 or is_alphabet) and all(list(each) == list(longest[: len(each)]) for each in choices)
    return shared and all(_names(str(question), each) for question, each in zip(questions, choices, strict=True))


def _names(question: str, choices: Sequence[Any]) -> bool:
    """Return whether a question shows all its choices as words, whatever their case."""
    texts = [str(each).strip() for each in choices]
    return all(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", question, re.IGNORECASE) for text in texts)


_CUE = re.compile(r"(?:(?<!\s)\s++)?\b(answer|a):\s*$", re.IGNORECASE)


def _without_cue(question: str) -> str:
    """Return a question without an ``Answer:`` at its end; the list of choices comes first."""
    return _CUE.sub("", question)


_UNCASED = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u0e00-\u0eff"
"""Letters of scripts that put no blanks between words: a label may stand between them."""

_BEGIN, _END = rf"(?<![^\W{_UNCASED}])", rf"(?![^\W{_UNCASED}])"
"""Where a label begins and ends: not within a word."""

_STATED = (
    r"(?:answer(?:\s+is)?|答案(?:是|为|应为|应该是)?|(?:应|故|因此)?选(?:择|项(?:是|为))?)\s*:?\s*[(\[*\"'「『【]*"
)
"""What stands before a label that is the answer, in English and Chinese."""

_ARTICLE = r"(?!(?<=A)\s+[a-z]+(?<!is)(?<!because)(?<!since)(?<!as)(?<!and)(?<!or)(?<!for)(?<!seems)(?<!with)(?![a-z]))"
"""No label is the ``A`` that an article is: ``A green apple``; but ``A is right``."""


def label_finder(labels: Sequence[str], texts: Callable[[], Sequence[str]] = tuple) -> Callable[[str], str]:
    """Return a function that finds a label in an answer: alone, behind "answer is", or first as a word.

    Args:
        labels: The labels.
        texts: Called where an answer is more than a label: what the labels stand for. An answer that is one of these
            names it, too.
    """
    names = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    exact = {label.lower(): label for label in labels}
    stated = re.compile(rf"{_STATED}({names}){_END}", re.IGNORECASE)
    word = re.compile(rf"{_BEGIN}({names}){_ARTICLE}{_END}")

    def find(answer: str) -> str:
        answer = answer if answer.isascii() else unicodedata.normalize("NFKC", answer)
        bare = answer.strip().strip(_AROUND).casefold()
        named = exact.get(bare) or _named(bare, labels, texts())
        if named is not None:
            return taken([named], "the whole answer") or NO_LABEL
        found = taken((each.group(1) for each in stated.finditer(answer)), "answer is")
        if found is None:
            is_unclear = not bare.startswith(tuple(f"{label}{mark}" for label in exact for mark in _MARKS))
            words = (each.group(1) for each in word.finditer(answer))
            found = taken(words, "a label as a word", is_last_resort=is_unclear)
        return NO_LABEL if found is None else exact.get(found.lower(), found)

    return find


_AROUND = "().[]*\"':。"
_MARKS = (".", ")", ":", "*", "\n", "、", "。")


def _named(answer: str, labels: Sequence[str], texts: Sequence[str]) -> str | None:
    """Return the label of the only text that an answer is, by itself or behind its label."""
    found = [
        label
        for label, text in zip(labels, texts, strict=False)
        if (bare := text.strip().strip(_AROUND).casefold()) and answer in (bare, f"{label.casefold()} {bare}")
    ]
    return found[0] if len(found) == 1 else None


NO_LABEL = "[invalid]"
"""What an answer is that names no choice; it counts as wrong."""
