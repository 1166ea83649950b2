"""Prompts that are too long lose whole demonstrations, the first ones first, and nothing else.

Origins on the spans of a prompt say where its demonstrations are; see :mod:`proctor.ir.spans`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from proctor.ir import Choose, Generate, Likelihood, Pair, Prompt, Request, Span

_DEMO = re.compile(r"demo\[(\d+)\]")


def shortened(prompt: Prompt) -> Iterator[Prompt]:
    """Yield the prompt without its first demonstration, without its first two, and so on; nothing where it has none."""
    yield from _shorter_chats(prompt) if prompt.is_chat else _shorter_texts(prompt)


def shorter_requests(request: Request) -> Iterator[Request]:
    """Yield a request with shortened prompts, one demonstration less each time; nothing where there are none to drop.

    The choices of a question lose the same demonstrations, so that their scores can be compared.
    """
    if isinstance(request, Generate):
        for prompt in shortened(request.prompt):
            yield structs.replace(request, prompt=prompt)
    elif isinstance(request, Likelihood):
        for prompt in shortened(request.context):
            yield Likelihood(prompt, request.continuation)
    elif isinstance(request, Choose):
        for contexts in zip(*(shortened(pair.context) for pair in request.pairs), strict=False):
            pairs = zip(contexts, request.pairs, strict=True)
            yield Choose(tuple(Pair(context, pair.continuation) for context, pair in pairs))


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
