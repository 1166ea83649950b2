"""lm-eval's generation arguments: what they mean here, and how options of a run are spelled in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.errors import ValidationError
from proctor.ir import Decoding, several_answers, wrong_value

DEFAULT_MAX_TOKENS = 256
"""What lm-eval's models write at most where a task does not say."""

_NAMED = {"until", "max_gen_toks", "max_new_tokens", "max_tokens", "temperature", "do_sample", "top_p", "top_k", "seed"}
_LM_EVAL_NAMES = {"max_tokens": "max_gen_toks", "stop": "until"}


def decoding_of(arguments: Mapping[str, Any]) -> Decoding:
    """Return how to generate: without ``do_sample``, or with it off, greedily, as lm-eval's local models do.

    ``max_gen_toks: null`` leaves the length of answers to the engine.

    Raises:
        ValidationError: A value cannot be used, or asks for several answers to one request.
    """
    if (several := several_answers(arguments)) is not None:
        raise ValidationError(
            f"generation_kwargs: {several[0]} is {several[1]!r}: several answers to one request",
            why="one of them would be graded",
            path="$.generation_kwargs",
            hint=f"write repeats: {several[1]} into the task, or add --repeats {several[1]}",
        )
    if (wrong := wrong_value(arguments)) is not None:
        raise ValidationError(
            f"generation_kwargs: {wrong.name} is {wrong.value!r}",
            path="$.generation_kwargs",
            hint=f"it is {wrong.expected}",
        )
    until = arguments.get("until") or []
    tokens = next(
        (arguments[key] for key in ("max_gen_toks", "max_new_tokens", "max_tokens") if key in arguments),
        DEFAULT_MAX_TOKENS,
    )
    samples = arguments.get("do_sample")
    given = arguments.get("temperature")
    temperature = float(given) if given is not None else 1.0 if samples else 0.0
    return Decoding(
        max_tokens=_whole(tokens),
        temperature=0.0 if samples is False else temperature,
        top_p=None if (share := arguments.get("top_p")) is None else float(share),
        top_k=_whole(arguments.get("top_k")),
        stop=tuple(_texts(until)),
        seed=_whole(arguments.get("seed")),
        extra={key: value for key, value in arguments.items() if key not in _NAMED},
    )


def _texts(until: Any) -> list[str]:
    found = [until] if isinstance(until, str) else until
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise ValidationError(
            f"generation_kwargs: until is {until!r}, not texts",
            path="$.generation_kwargs",
            hint="write a text or a list of texts",
        )
    return list(found)


def _whole(value: Any) -> int | None:
    return value if value is None or isinstance(value, int) else int(float(value))


def generation_arguments(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of :class:`~proctor.ir.Decoding` under lm-eval's names."""
    found = {_LM_EVAL_NAMES.get(key, key): value for key, value in decoding.items()}
    if found.get("temperature"):
        found.setdefault("do_sample", True)
    return found
