"""Origins of the parts of a config's prompt, computed on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.ir import Span
from proctor.templates.prompt_list import fill, is_marker

_BOT = "BOT"


def item_origins(items: Sequence[Any], static: int = 0, choice: int | None = None) -> list[str]:
    """Return the origin of every item of a filled dialogue.

    Args:
        items: The dialogue, with its section markers.
        static: How many items of the round are examples that the template itself brings along.
        choice: The number of the label whose likelihood is asked for, where there is one.
    """
    origins: list[str] = []
    section, examples, said = "", -1, 0
    last = max(
        (place for place, item in enumerate(items) if not isinstance(item, str) and not is_marker(item)), default=0
    )
    for place, item in enumerate(items):
        if is_marker(item):
            if item["pos"] == "begin":
                section, said = item["section"], 0
                examples += section == "ice"
            elif section == "ice":
                section = "begin"
            origins.append("layout")
            continue
        answers = isinstance(item, dict) and item.get("role") == _BOT
        if section == "ice":
            origins.append(f"demo[{examples}].{'answer' if answers else 'question'}")
        elif section == "round":
            number, said = said, said + 1
            if number < static:
                first = not (isinstance(item, dict) and answers)
                examples += first
                origins.append(f"demo[{max(examples, 0)}].{'question' if first else 'answer'}")
            else:
                origins.append(_of_round(answers, place == last, choice))
        else:
            is_system = isinstance(item, dict) and item.get("role") == "SYSTEM"
            origins.append("system" if is_system else "instruction")
    return origins


def _of_round(answers: bool, is_last: bool, choice: int | None) -> str:
    if not answers:
        return "question"
    if is_last and choice is not None:
        return f"choice[{choice}]"
    return "answer_prefix" if is_last else "question"


def static_items(items: Sequence[Any], columns: Mapping[str, Any]) -> int:
    """Return how many items at the start of a round are examples: whole rounds in which no column is filled in."""
    static = [not any(f"{{{name}}}" in _words(item) for name in columns) for item in items]
    first = next((place for place, is_static in enumerate(static) if not is_static), 0)
    while first and isinstance(items[first - 1], dict) and items[first - 1].get("role") != _BOT:
        first -= 1
    return first


def _words(item: Any) -> str:
    return item if isinstance(item, str) else str(item.get("prompt", ""))


def text_spans(
    template: str, token: str | None, examples: Sequence[tuple[str, str]], row: Mapping[str, Any]
) -> Iterator[Span]:
    """Yield the spans of a prompt that is one text: what stands before the examples, they, and what follows.

    Args:
        template: The template's text.
        token: What the examples replace.
        examples: The examples with their separators, each with its origin.
        row: The row, masked.
    """
    before, found, after = template.partition(token) if token else ("", "", template)
    values = dict(row)
    if not found:
        yield Span(fill(template, values), "question")
        return
    yield Span(fill(before, values), "instruction")
    for text, origin in examples:
        yield Span(fill(text, values), origin)
    yield Span(fill(after, values), "question")


def example_spans(
    template: str, answer_column: str | None, row: Mapping[str, Any], number: int
) -> list[tuple[str, str]]:
    """Return an example in words, cut where its answer begins."""
    slot = f"{{{answer_column}}}"
    question, found, answer = template.partition(slot) if answer_column else (template, "", "")
    values = dict(row)
    made = [(fill(question, values), f"demo[{number}].question")]
    if found:
        made.append((fill(found + answer, values), f"demo[{number}].answer"))
    return made
