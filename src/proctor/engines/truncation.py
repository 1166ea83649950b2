"""Shortens prompts that are too long: cut, whole demos dropped (the first ones first), or refused.

Origins on the spans of a prompt say where its demos are; see :mod:`proctor.ir.spans`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import structs

from proctor.engines.encoder import Encoder, Ids, RefusedError, Scorable
from proctor.ir import Choose, Generate, Likelihood, Pair, Prompt, Request, Rolling, Score, Span

Truncate = Literal["left", "demos", "none"]
"""``left`` drops the beginning (as lm-eval does), ``demos`` whole demonstrations, the first first, ``none`` nothing."""
_EFFECTS = {"left": "drops the beginning", "demos": "drops whole demonstrations"}
_DEMO = re.compile(r"demo\[(\d+)\]")


def fitted_prompt(
    encoder: Encoder, prompt: Prompt, ids: Ids, most_new: int, truncate: Truncate, tools: Any = None
) -> Ids:
    """Return the ids of a prompt that leaves room for its answer.

    Args:
        encoder: Turns text into ids.
        prompt: What is asked.
        ids: Its ids.
        most_new: Tokens that the answer may have.
        truncate: What to do where it is too long.
        tools: Descriptions of functions, for chat templates that show them.

    Raises:
        RefusedError: It does not fit; says by how many tokens.
    """
    room = encoder.max_length - (most_new if encoder.joined else 0)
    if room <= 0:
        raise RefusedError(
            "context_too_long",
            f"{most_new} tokens to write leave no room in a context of {encoder.max_length}; use a smaller max_tokens",
        )
    if not ids:
        return [encoder.prefix]
    if (excess := len(ids) - room) <= 0:
        return ids
    if truncate == "left":
        return ids[-room:]
    for shorter in shortened(prompt) if truncate == "demos" else ():
        (found,) = encoder.encode_prompts([encoder.text_of(shorter, tools)])
        if len(found) <= room:
            return found
    raise RefusedError(
        "context_too_long",
        f"the prompt is {excess} tokens longer than the {room} there is room for{_policies(truncate)}",
    )


def fitted_scorables(
    encoder: Encoder, window: Sequence[Score], truncate: Truncate
) -> Iterator[list[Scorable] | RefusedError]:
    """Yield the token sequences that make up each request, or why there are none; all texts are encoded at once."""
    rendered = [_rendered(encoder, request) for request in window]
    flat = [text for texts in rendered if not isinstance(texts, RefusedError) for text in texts]
    encoded = iter(encoder.encode_pairs(flat))
    for request, texts in zip(window, rendered, strict=True):
        if isinstance(texts, RefusedError):
            yield texts
            continue
        own = [next(encoded) for _ in texts]
        try:
            if isinstance(request, Rolling):
                yield encoder.rolling(request.text) if request.from_start else encoder.continued(request.text)
            else:
                yield [fitted_pair(encoder, *each, truncate) for each in zip(request.pairs, own, strict=True)]
        except RefusedError as error:
            yield error


def _rendered(encoder: Encoder, request: Score) -> list[tuple[str, str]] | RefusedError:
    pairs = () if isinstance(request, Rolling) else request.pairs
    try:
        return [(encoder.text_of(pair.context), pair.continuation) for pair in pairs]
    except RefusedError as error:
        return error


def fitted_pair(encoder: Encoder, pair: Pair, ids: tuple[Ids, Ids], truncate: Truncate) -> Scorable:
    """Return a context and its continuation as tokens that fit.

    Raises:
        RefusedError: It does not fit; says by how many tokens.
    """
    excess = _excess(encoder, ids)
    if excess <= 0 or truncate == "left":
        return encoder.scorable(*ids)
    for shorter in shortened(pair.context) if truncate == "demos" else ():
        (found,) = encoder.encode_pairs([(encoder.text_of(shorter), pair.continuation)])
        if _excess(encoder, found) <= 0:
            return encoder.scorable(*found)
    raise RefusedError(
        "context_too_long", f"the request is {excess} tokens longer than the context{_policies(truncate)}"
    )


def _excess(encoder: Encoder, ids: tuple[Ids, Ids]) -> int:
    """Return how many tokens too many there are; the last token of a joined text is never read."""
    context, continuation = ids
    return len(context) + (len(continuation) - 1 if encoder.joined else 0) - encoder.max_length


def _policies(truncate: Truncate) -> str:
    """Say what else could be done."""
    found = [f"--truncate {name} {effect}" for name, effect in _EFFECTS.items() if name != truncate]
    return f" ({'; '.join(found)})"


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
