"""One instance as pages and reports show it: prompt, choices, judges, and the rest under names that people read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from proctor.ir import media_in
from proctor.scoring.assertions import ASSERTIONS
from proctor.scoring.judges.judgements import Judgement, judgements_of
from proctor.web.charts import choice_bar

_LONGEST_EXCERPT = 160  # characters: two lines of a table cell
_LONGEST_VALUE = 20_000  # characters: some ten screens; whoever needs more opens samples.jsonl
LONGEST_PROMPT = 200_000  # characters: more than demos ever fill, and a page that browsers still lay out at once


def excerpt(value: object) -> str:
    """Return the beginning of a value and its end on one line."""
    whole = str("" if value is None else value)
    return _ends(" ".join(_ends(whole, 8 * _LONGEST_EXCERPT, " … ").split()), _LONGEST_EXCERPT, " … ")


def _ends(text: str, most: int, between: str) -> str:
    """Return a text as it is, or three quarters of what may be shown from its beginning and one from its end.

    Answers are graded at their end.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    return f"{text[: most - tail].rstrip()}{between if most else ''}{text[len(text) - tail :].lstrip()}"


def references_text(record: Mapping[str, Any]) -> str:
    """Return the beginning of the references on one line."""
    references = record.get("references")
    return excerpt(", ".join(map(str, references)) if isinstance(references, list) else references)


def messages_of(prompt: object) -> list[dict[str, Any]]:
    """Return a stored prompt as messages: ``role`` (empty for a plain string), ``content``, ``media``, ``left_out``.

    Prompts of more than 200,000 characters are cut; ``left_out`` counts what is not shown.
    """
    room = Room(LONGEST_PROMPT)
    messages = []
    for message in _messages(prompt):
        before = room.left_out
        content = room.cut(message["content"])
        messages.append({**message, "content": content, "left_out": room.left_out - before})
    return messages


def _messages(prompt: Any) -> list[dict[str, Any]]:
    if prompt is None:
        return []
    if isinstance(prompt, str):
        return [{"role": "", "content": prompt, "media": []}]
    if isinstance(prompt, list) and all(isinstance(each, str) for each in prompt):
        return [{"role": f"choice {index + 1}", "content": each, "media": []} for index, each in enumerate(prompt)]
    if not isinstance(prompt, list):
        return []
    if prompt and all(isinstance(each, list) for each in prompt):  # a chat for each choice
        return [message for each in prompt for message in _messages(each)]
    return [_message(each) for each in prompt if isinstance(each, dict)]


def _message(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": "" if content is None else content}]
    texts = [str(part.get("text", _unseen(part))) for part in parts if isinstance(part, dict)]
    texts += [json.dumps(message["tool_calls"], ensure_ascii=False)] if message.get("tool_calls") else []
    media = [source for part in parts if isinstance(part, dict) if (source := _image(part))]
    return {"role": str(message.get("role", "")), "content": "".join(texts), "media": media}


def _unseen(part: dict[str, Any]) -> str:
    """Return what stands for a picture or a sound that may not be shown."""
    media = media_in(part)
    return f"[{media.kind}]" if media is not None and not _image(part) else ""


def _image(part: dict[str, Any]) -> str:
    """Return the address of a picture that may be shown: only data URLs, nothing is fetched from outside."""
    media = media_in(part)
    return media.source if media is not None and media.kind == "image" and is_picture(media.source) else ""


def is_picture(address: str) -> bool:
    """Whether an address is a picture that may be shown: data, of a kind that holds pixels, and not too large."""
    return len(address) <= _LARGEST_PICTURE and _PICTURE.match(address) is not None


_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp|avif);base64,")
_LARGEST_PICTURE = 20_000_000  # characters: what cameras make, and what browsers still show at once


def choices_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the continuations with their log-likelihoods as bars; empty where nothing was scored."""
    continuations, output = record.get("continuations"), record.get("output")
    if not isinstance(output, list) or not all(isinstance(each, dict) for each in output):
        return []
    values = [_likelihood(each.get("log_likelihood")) for each in output]
    best = max(range(len(values)), key=values.__getitem__, default=None)
    return [
        {
            "text": continuations[index] if isinstance(continuations, list) and index < len(continuations) else "",
            "log_likelihood": value,
            "chart": choice_bar(value, values),
            "gold": record.get("gold") == index,
            "best": best == index,
        }
        for index, value in enumerate(values)
    ]


def _likelihood(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else -math.inf


_FAILURES = {"failure": "Failure", "scoring_failure": "Why it could not be scored"}
_ANSWER = {
    "output": "Output",
    "prediction": "Prediction",
    "processed_prediction": "Prediction after processors",
    "references": "References",
    "processed_references": "References after processors",
}
_CIRCUMSTANCES = {
    "model": "Who answered",
    "finish_reasons": "Why the answer ended",
    "usage": "Tokens",
    "timing": "Timing",
}


def values_of(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the remaining parts of an instance under the names that people read, in reading order.

    Each has ``name``, ``key``, ``value``, ``left_out`` (characters that are too many for a page), and ``part``: where
    it belongs, ``answer``, ``thinking``, ``scores`` or ``more``. What is the same before and after processors is there
    once.
    """
    scores = record.get("scores")
    found = [_value(record, key, title, "answer") for key, title in _FAILURES.items()]
    found += _answer_values(record)
    found.append(_value(record, "thinking", "Thinking", "thinking"))
    if isinstance(scores, dict):
        found.append(_entry("scores", "Scores", _main_first(_without_judgements(scores)), "scores"))
    found.append(_value(record, "input", "Input", "more"))
    found += [_value(record, key, title, "more") for key, title in _CIRCUMSTANCES.items()]
    return [entry for entry in found if entry["value"] not in (None, [], {}, "")]


def _answer_values(record: dict[str, Any]) -> list[dict[str, Any]]:
    names = dict(_ANSWER)
    if choices_of(record):
        names.pop("output")
    elif record.get("prediction") == record.get("output"):
        names.pop("prediction")
    last = "prediction" if "prediction" in names else "output"
    if record.get("processed_prediction") == record.get("prediction"):
        names.pop("processed_prediction")
        names[last] = "Output and prediction" if last == "output" else "Prediction"
    if record.get("processed_references") == record.get("references"):
        names.pop("processed_references")
    found = [_value(record, key, title, "answer") for key, title in names.items()]
    return [
        {**entry, "value": _lines(entry["value"]) if "references" in entry["key"] else entry["value"]}
        for entry in found
    ]


def _lines(references: Any) -> Any:
    """Return references one a line, where each is a text of one line."""
    if isinstance(references, list) and all(isinstance(each, str) and "\n" not in each for each in references):
        return "\n".join(references)
    return references


def _value(record: Mapping[str, Any], key: str, title: str, part: str) -> dict[str, Any]:
    return _entry(key, title, record.get(key), part)


def _entry(key: str, title: str, value: Any, part: str) -> dict[str, Any]:
    room = Room(_LONGEST_VALUE)
    return {"name": title, "key": key, "part": part, "value": room.cut(value), "left_out": room.left_out}


class Room:
    """The characters that may still be shown of a value; texts within lists and dictionaries share them."""

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self.left_out = 0

    def cut(self, value: object) -> Any:
        """Return a value without the characters that are too many, which are those in the middle of a text."""
        if isinstance(value, str):
            room, self._characters = self._characters, max(0, self._characters - len(value))
            self.left_out += max(0, len(value) - room)
            return _ends(value, room, "\n[…]\n")
        if isinstance(value, dict):
            return {key: self.cut(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.cut(each) for each in value]
        return value


def _without_judgements(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores without assertions and the words of judges, which have places of their own."""
    scores = {name: value for name, value in scores.items() if name != ASSERTIONS}
    names = tuple(f"{each.name}_" for each in judgements_of(scores))
    if not names:
        return scores
    return {
        name: value
        for name, value in scores.items()
        if isinstance(value, int | float) or not (name.startswith(names) or name.endswith("criteria"))
    }


def _main_first(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores with the main one first and once, under its own name, where ``score_name`` says which it is."""
    name = scores.get("score_name")
    if not isinstance(name, str) or name not in scores or scores[name] != scores.get("score"):
        return dict(scores)
    rest = {key: value for key, value in scores.items() if key not in ("score", "score_name", name)}
    return {name: scores[name], **rest}


def assertions_in(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what became of each assertion of a row, as :data:`~proctor.scoring.assertions.ASSERTIONS` lists it."""
    scores = record.get("scores")
    found = scores.get(ASSERTIONS) if isinstance(scores, Mapping) else None
    told = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return [{"assertion": "", "passed": None, "reason": "", **each} for each in told]


def reasons_of(record: Mapping[str, Any]) -> list[str]:
    """Return why an answer is not right, as far as its line says: failures, assertions, words of judges."""
    failures = [record.get(name) for name in ("failure", "scoring_failure")]
    found = [str(each.get("message", "")) for each in failures if isinstance(each, dict)]
    missed = [each for each in assertions_in(record) if not each["passed"]]
    found += [f"not {each['assertion']}" + (f": {each['reason']}" if each["reason"] else "") for each in missed]
    found += [text for each in judgements_in(record) for title, text in each["words"] if title == "Reasoning"]
    return [excerpt(each) for each in dict.fromkeys(found)]


def judgements_in(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each judge's judgement of an answer: verdict, reasoning, prompt."""
    scores = record.get("scores")
    return [_judgement(each) for each in judgements_of(scores)] if isinstance(scores, Mapping) else []


def _judgement(found: Judgement) -> dict[str, Any]:
    other = found.other_order if isinstance(found.other_order, Mapping) else {}
    words = {
        "Reasoning": found.reasoning,
        "Summary": found.summary,
        "What it replied": found.reply,
        "Verdict with the order reversed": other.get("verdict"),
        "Reasoning with the order reversed": other.get("reasoning"),
    }
    return {
        "name": found.name,
        "score": found.score,
        "verdict": _in_words(found.verdict, found.opponents),
        "criteria": _criteria_text(found.criteria),
        "is_biased": any(found.bias) if isinstance(found.bias, list) else bool(found.bias),
        "words": [(title, _in_words(text, found.opponents)) for title, text in words.items() if text not in (None, [])],
        "prompts": [
            (stage.replace("_", " "), messages_of(prompt)) for stage, prompt in _stages(found.prompts) if prompt
        ],
    }


def _in_words(value: Any, opponents: list[str] | None) -> str:
    """Return a judge's words as one text; several comparisons are told apart by the other system."""
    if not isinstance(value, list):
        return "" if value is None else str(Room(_LONGEST_VALUE).cut(value))
    is_named = isinstance(opponents, list) and len(opponents) == len(value)
    names = opponents if is_named and opponents else [str(place + 1) for place in range(len(value))]
    shown = Room(_LONGEST_VALUE).cut(value)
    return "\n\n".join(f"Against {name}: {text}" for name, text in zip(names, shown, strict=True))


def _stages(prompts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return each prompt with its stage; where a stage asked several times, each time."""
    found: list[tuple[str, Any]] = []
    for stage, prompt in prompts.items() if isinstance(prompts, Mapping) else ():
        if isinstance(prompt, list) and prompt and all(isinstance(each, list) for each in prompt):
            found.extend((f"{stage} {place + 1}", each) for place, each in enumerate(prompt))
        else:
            found.append((stage, prompt))
    return found


def _criteria_text(criteria: Mapping[str, Any] | None) -> str:
    if not criteria:
        return ""
    return ": ".join(str(criteria[name]) for name in ("name", "description") if criteria.get(name))
