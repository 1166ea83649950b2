"""Prompts that are too long lose whole demonstrations, the first ones first, and nothing else.

Origins on the spans of a prompt say where its demonstrations are; see :mod:`proctor.ir.spans`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proctor.ir import Prompt, Span

_DEMO = re.compile(r"demo\[(\d+)\]")


def shortened(prompt: Prompt) -> Iterator[Prompt]:
    """Yield the prompt without its first demonstration, without its first two, and so on; nothing where it has none."""
    yield from _shorter_chats(prompt) if prompt.is_chat else _shorter_texts(prompt)


def _number(origin: str) -> int | None:
    """Return which demonstration an origin belongs to."""
    found = _DEMO.match(origin)
    return int(found[1]) if found else None


def _shorter_texts(prompt: Prompt) -> Iterator[Prompt]:
    text, offset, starts, end = prompt.text, 0, dict[int, int](), -1
    for span in prompt.spans:
        if (number := _number(span.origin)) is not None:
            starts.setdefault(number, offset)
            end = -1
        elif span.origin != "layout" and end < 0:
            end = offset
        offset += len(span.text)
    if offset != len(text) or not starts or end < 0:
        return
    first = min(starts.values())
    for cut in [*sorted(starts.values())[1:], max(end, first)]:
        yield Prompt(text[:first] + text[cut:])


def _shorter_chats(prompt: Prompt) -> Iterator[Prompt]:
    messages = prompt.messages
    if len(prompt.turns) != len(messages):
        return
    spans = [[part for part in turn.parts if isinstance(part, Span)] for turn in prompt.turns]
    of_turn = [{_number(span.origin) for span in found if span.origin != "layout"} for found in spans]
    numbers = sorted({number for found in of_turn for number in found if number is not None})
    for last in numbers:
        dropped = set(numbers[: numbers.index(last) + 1])
        yield Prompt([m for m, found in zip(messages, of_turn, strict=True) if not found or not found <= dropped])
