"""An exam as a file of results shows it, whoever wrote it, instance by instance."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean
from typing import Any, Final, Literal

PERCENT: Final = 0.01
"""From a score of 100 to a share."""

DECODING_KEYS: Final = ("max_tokens", "temperature", "top_p", "top_k", "stop", "seed", "repeats")
"""What is compared of how a model wrote; systems call the rest too differently."""


@dataclass(frozen=True, slots=True)
class Observed:
    """One instance.

    Attributes:
        number: Its place in the file.
        digest: Of its content; empty where the file does not hold the content.
        prompt: What was sent: words, or words by role; ``None`` where the file does not say it.
        answer: What came back: texts, or numbers for likelihoods.
        extracted: What was made of the answer; ``None`` where the file does not say it.
        references: Acceptable answers.
        decoding: How the model was to write; ``None`` where the file does not say it.
        scores: Scores of the instance, as shares where their unit is known.
        failure: Why there is no score.
        model: Who answered, where the file says it.
    """

    number: int
    digest: str = ""
    prompt: str | None = None
    answer: tuple[str | float, ...] = ()
    extracted: str | None = None
    references: tuple[str, ...] = ()
    decoding: Mapping[str, Any] | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class ObservedExam:
    """One exam of a file.

    Attributes:
        name: As the file calls it.
        system: Who wrote the file.
        instances: In the file's order.
        metric: Name of the main score.
        score: The score that the file reports; ``None`` where it reports none.
        engine: Who was asked and with which arguments, where the file says it; one ``identity`` means the same engine,
            whatever arguments change how soon it answers.
        definitions: Digests of how answers were read (``extraction``) and scored (``metric``), where the file has them.
        judged: What its judges were asked with, where one of our runs has some.
    """

    name: str
    system: str
    instances: Sequence[Observed]
    metric: str = ""
    score: float | None = None
    engine: Mapping[str, Any] | None = None
    definitions: Mapping[Literal["extraction", "metric"], str] = field(default_factory=dict)
    judged: object = None

    def mean(self, metric: str) -> float | None:
        """Return the mean of a score over the instances that have it."""
        values = [each.scores[metric] for each in self.instances if metric in each.scores]
        return fmean(values) if values else None


def text_of(value: object) -> str | None:
    """Return a value as a text that equal values share; ``None`` for nothing."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def prompt_text(payload: object, continuations: Sequence[str] = ()) -> str | None:
    """Return a prompt as one text: messages with their roles, one message of the user as its words.

    Args:
        payload: A text, chat messages, or a list of either.
        continuations: Texts whose likelihood was asked for.
    """
    if payload is None:
        return None
    found = _payload_text(payload)
    return found + "".join(f"\n⟨choice⟩{each}" for each in continuations)


def messages_in(text: object) -> Any:
    """Return chat messages where a text is their JSON, as many files hold them; everything else as it is."""
    if not isinstance(text, str) or not text.startswith('[{"'):
        return text
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    is_chat = isinstance(found, list) and all(isinstance(each, Mapping) and "role" in each for each in found if each)
    return found if is_chat else text


def _payload_text(payload: Any) -> str:
    if isinstance(payload, str):
        return payload
    if isinstance(payload, Mapping):
        content = payload.get("content")
        words = "".join(_part(each) for each in content) if isinstance(content, list) else str(content)
        return f"⟨{payload.get('role')}⟩{words}"
    if not isinstance(payload, list | tuple):
        return str(payload)
    turns = list(payload)
    if len(turns) == 1 and isinstance(turns[0], Mapping) and turns[0].get("role") == "user":
        return _payload_text(turns[0]).removeprefix("⟨user⟩")
    return "\n".join("⟨assistant⟩…" if each is None else _payload_text(each) for each in turns)


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    return str(part["text"]) if "text" in part else f"⟨{part.get('type')} {text_of(dict(part))}⟩"


def share(value: object, scale: float = 1.0) -> float | None:
    """Return an instance's score as a number; ``None`` where it is none. Right and wrong count 1 and 0."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return _finite(value, scale)
    return None


def _finite(value: float, scale: float) -> float | None:
    """Return a number as a float; ``None`` for NaN, and for what is beyond floats: they are not scores."""
    try:
        return float(value) * scale if isfinite(value) else None
    except OverflowError:
        return None


def scores_of(values: Mapping[str, Any], scale: float = 1.0) -> dict[str, float]:
    """Return the numbers among an instance's scores."""
    return {name: found for name, value in values.items() if (found := share(value, scale)) is not None}


Pair = tuple[Observed, Observed]


def paired(
    first: Sequence[Observed], second: Sequence[Observed]
) -> tuple[list[Pair], tuple[list[Observed], list[Observed]], str]:
    """Return pairs, what only one side has, and what says that two are the same.

    By content where both files hold it, by what was asked and is right where they do not and most pairs agree in it,
    by number else.
    """
    for by in ("content", "words"):
        keys, others = [_key(each, by) for each in first], [_key(each, by) for each in second]
        if not any(keys) or not any(others):
            continue
        pairs, alone = _matched(first, second, keys, others)
        if pairs:  # what was sent and is right tells the rest; else where it stood, with the same answer
            again = [_key(each, "words") for each in alone[0]], [_key(each, "words") for each in alone[1]]
            if by == "words":
                again = _places(alone[0]), _places(alone[1])
            more, alone = _matched(*alone, *again)
            pairs = sorted([*pairs, *more], key=lambda pair: pair[0].number)
        if pairs:
            return pairs, alone, by
    numbers = [str(each.number) for each in first]
    return (*_matched(first, second, numbers, [str(each.number) for each in second]), "number")


def _places(side: Sequence[Observed]) -> list[str]:
    return [f"{each.number}\0{each.references}" for each in side]


def _key(each: Observed, by: str) -> str:
    if by == "content":
        return each.digest
    return f"{each.prompt}\0{each.references}" if each.prompt is not None else ""


def _matched(
    first: Sequence[Observed], second: Sequence[Observed], keys: Sequence[str], others: Sequence[str]
) -> tuple[list[Pair], tuple[list[Observed], list[Observed]]]:
    waiting: dict[str, list[Observed]] = defaultdict(list)
    for each, key in zip(second, others, strict=True):
        if key:
            waiting[key].append(each)
    pairs: list[Pair] = []
    alone: list[Observed] = []
    for each, key in zip(first, keys, strict=True):
        if key and waiting[key]:
            pairs.append((each, waiting[key].pop(0)))
        else:
            alone.append(each)
    taken = {id(b) for _, b in pairs}
    return pairs, (alone, [each for each in second if id(each) not in taken])
