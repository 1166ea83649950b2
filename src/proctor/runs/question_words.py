"""A question in a line of samples: the words that tell it from others, the gold, the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from proctor.runs.sample_lines import words_of

_LONGEST: Final = 200  # characters of an answer: what tells answers apart, and fits a line or two
_A_WORD: Final = 12  # characters: shorter texts are letters of choices, numbers, topics


def asked_of(record: Mapping[str, Any]) -> str:
    """Return the question as a text that is the same for the same question, whatever its gold.

    Its words are the row's texts that were sent, without those that are right answers by themselves; choices count,
    their order does not. Without any, the prompt is the question.
    """
    sent = [record.get("prompt"), record.get("continuations")]
    shown, golds = words_of(sent), {_plain(each) for each in _leaves(record.get("references"))}
    texts, choices = [], []
    for text, is_listed in _fields(record.get("input")):
        if text.strip() not in shown:
            continue
        if is_listed:
            choices.append(_plain(text))
        elif _plain(text) not in golds and (len(text) >= _A_WORD or " " in text.strip()):
            texts.append(_plain(text))
    return "\n".join([*sorted(texts), "", *sorted(choices)]) if texts else _plain(shown)


def sent_of(record: Mapping[str, Any]) -> str:
    """Return all words that were sent."""
    return _plain(words_of([record.get("prompt"), record.get("continuations")]))


def question_of(record: Mapping[str, Any]) -> str:
    """Return the words that tell an instance from the others: its longest text that is asked and is not the answer.

    Where no text stands in the prompt as it is, the longest one that is not the answer; without any, the prompt's end.
    """
    shown, golds = words_of(record.get("prompt")), {_plain(each) for each in _leaves(record.get("references"))}
    every = [text for text, is_listed in _fields(record.get("input")) if not is_listed]
    texts = [text for text in every if _plain(text) not in golds] or every
    return max(texts, key=lambda text: (text.strip() in shown, len(text)), default=shown[-_LONGEST:])


def posed_of(record: Mapping[str, Any]) -> str:
    """Return the question with what was sent behind it: choices, or a last instruction."""
    question, sent = question_of(record), words_of(record.get("prompt"))
    place = sent.rfind(question.strip())
    return (sent[place:] if place >= 0 else question).strip() or question


def gold_of(record: Mapping[str, Any]) -> str:
    """Return the right answers as one text."""
    return _short(", ".join(_leaves(record.get("references"))))


def answer_of(record: Mapping[str, Any]) -> str | None:
    """Return what was read out of a model's answer; ``None`` where the line does not say it as a text."""
    for name in ("processed_prediction", "prediction", "output"):
        found = record.get(name)
        if isinstance(found, str) or (isinstance(found, int | float) and not isinstance(found, bool)):
            return _short(str(found))
    return None


def _fields(value: object, *, is_listed: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the texts of a row, and whether each stands in a list."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if name != "metadata":
                yield from _fields(each, is_listed=is_listed)
    elif isinstance(value, list):
        for each in value:
            yield from _fields(each, is_listed=True)
    elif isinstance(value, str) and value.strip():
        yield value, is_listed


def _leaves(value: object) -> list[str]:
    if isinstance(value, list):
        return [text for each in value for text in _leaves(each)]
    return [] if value is None else [str(value)]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _short(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
