"""lm-eval's generation arguments: what they mean here, and how options of a run are spelled in them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from proctor.errors import ValidationError
from proctor.ir import Decoding, several_answers, unfit_decoding

DEFAULT_MAX_TOKENS = 256
"""What lm-eval's models write at most where a task does not say."""

_NAMED = {"until", "max_gen_toks", "max_new_tokens", "max_tokens", "temperature", "do_sample", "top_p", "top_k", "seed"}
_WHOLE = {"max_gen_toks", "max_new_tokens", "max_tokens", "top_k", "seed"}
_NUMBERS = {*_WHOLE, "temperature", "top_p"}
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
    given = usable(arguments)
    until = given.get("until") or ()
    tokens = next(
        (given[key] for key in ("max_gen_toks", "max_new_tokens", "max_tokens") if key in given), DEFAULT_MAX_TOKENS
    )
    samples = given.get("do_sample")
    return Decoding(
        max_tokens=tokens,
        temperature=0.0 if samples is False else given.get("temperature", 1.0 if samples else 0.0),
        top_p=given.get("top_p"),
        top_k=given.get("top_k"),
        stop=(until,) if isinstance(until, str) else tuple(until),
        seed=given.get("seed"),
        extra={key: value for key, value in given.items() if key not in _NAMED},
    )


def usable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with texts as the numbers that they are (``1e-5`` is a text in YAML 1.1), and whole ones whole.

    Raises:
        ValidationError: A value is not what its name wants.
    """
    given = {
        name: _number(value, whole=name in _WHOLE) if name in _NUMBERS else value for name, value in arguments.items()
    }
    if (unfit := unfit_decoding(given)) is not None:
        name, _, wanted = unfit
        raise ValidationError(
            f"generation_kwargs: {name} is {arguments[name]!r}",
            path=f"$.generation_kwargs.{name}",
            why=f"it is {wanted}",
        )
    return given


def _number(value: Any, *, whole: bool) -> Any:
    """Return the number that a text spells, as a whole one where it is and is wanted so; anything else as it is."""
    if isinstance(value, str | float):
        with suppress(ValueError, OverflowError):
            number = float(value)
            return int(number) if whole and number.is_integer() else number
    return value


def generation_arguments(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of :class:`~proctor.ir.Decoding` under lm-eval's names."""
    found = {_LM_EVAL_NAMES.get(key, key): value for key, value in decoding.items()}
    if found.get("temperature"):
        found.setdefault("do_sample", True)
    return found
