"""Types of decoding values: numbers, whole numbers, switches and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class _Kind:
    described: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list | tuple) and all(isinstance(each, str) for each in value))


_NUMBER = _Kind("a number", _is_number)
_POSITIVE = _Kind("a number from 0 on", lambda value: _is_number(value) and value >= 0)
_SHARE = _Kind("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
_WHOLE = _Kind("a whole number", _is_whole)
_COUNT = _Kind("a whole number from 0 on", lambda value: _is_whole(value) and value >= 0)
_AT_LEAST_ONE = _Kind("a whole number from 1 on", lambda value: _is_whole(value) and value >= 1)
_SWITCH = _Kind("true or false", lambda value: isinstance(value, bool))
_TEXTS = _Kind("a text or a list of texts", _are_texts)

_KINDS: Final[Mapping[str, _Kind]] = {
    **dict.fromkeys(
        ("max_tokens", "max_new_tokens", "max_gen_toks", "max_completion_tokens", "num_beams"), _AT_LEAST_ONE
    ),
    **dict.fromkeys(("min_tokens", "min_new_tokens", "no_repeat_ngram_size"), _COUNT),
    **dict.fromkeys(("temperature", "repetition_penalty"), _POSITIVE),
    **dict.fromkeys(("top_p", "min_p", "typical_p", "top_a"), _SHARE),
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "length_penalty"), _NUMBER),
    **dict.fromkeys(("top_k", "seed"), _WHOLE),  # -1 switches top_k off in vLLM and SGLang
    **dict.fromkeys(("do_sample", "ignore_eos", "skip_special_tokens"), _SWITCH),
    **dict.fromkeys(("stop", "until"), _TEXTS),
}

KNOWN_DECODING: Final = frozenset(_KINDS) | {
    *("n", "count", "mirostat", "logprobs", "top_logprobs", "logit_bias", "max_length", "stop_token_ids", "use_cache"),
    *("response_format", "reasoning_effort", "thinking", "enable_thinking", "chat_template_kwargs", "guided_json"),
}
"""Parameters that Proctor or its engines know, checked here or not: what only looks like one may be mistyped."""


def unfit_decoding(parameters: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """Return the first parameter whose value cannot be meant: name, value, what it has to be; ``None`` where all fit.

    ``None`` as a value leaves a parameter open, and parameters that only some engine knows are not looked at.
    """
    for name, value in parameters.items():
        kind = _KINDS.get(name)
        if kind is not None and value is not None and not kind.fits(value):
            return name, value, kind.described
    return None
