"""What engines in this process do with prompts that are too long: cut, drop demonstrations, or refuse."""

from __future__ import annotations

from typing import Any, Literal

from proctor.engines.hf_tokens import Encoder, Ids, RefusedError, Scorable
from proctor.engines.shorten import shortened
from proctor.ir import Pair, Prompt

Truncate = Literal["left", "demos", "none"]
"""``left`` drops the beginning (as lm-eval does), ``demos`` whole demonstrations, the first first, ``none`` nothing."""
_EFFECTS = {"left": "drops the beginning", "demos": "drops whole demonstrations"}


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


def fitted_pair(encoder: Encoder, pair: Pair, ids: tuple[Ids, Ids], truncate: Truncate) -> Scorable:
    """Return what to read and what to look up for a context and its continuation.

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
