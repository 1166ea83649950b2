"""Thinking effort in each provider's words: the column ``thinking`` of the provider table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from proctor.engines.http.providers import Provider, ThinkingWords, provider_named, providers
from proctor.errors import UsageError

_TOKENS = "{tokens}"
_OWN_SERVER = "vllm-server"
"""Whose words a server gets that is nobody's of the table: vLLM's, which SGLang and most others share."""


class ThinkingOrder(NamedTuple):
    """The fields to send for a thinking effort.

    Attributes:
        body: Fields of every body.
        allowance: Tokens on top of what a request allows for the answer.
        drop: Parts of a decoding that the model does not take then.
    """

    body: Mapping[str, Any] = {}
    allowance: int = 0
    drop: frozenset[str] = frozenset()


def thinking_order(provider: str, model: str, level: str | None, tokens: int | None) -> ThinkingOrder:
    """Return the fields to send for a thinking effort.

    Args:
        provider: Its name in the table.
        model: The provider's name of the model.
        level: How hard to think; ``None`` sends nothing.
        tokens: The allowance that the user gives.

    Raises:
        UsageError: The provider has no word for the level, for this model.
    """
    if level is None:
        return ThinkingOrder(allowance=tokens or 0)
    name, entry = provider_named(provider)
    words = next((each for each in entry.thinking if re.search(each.models, model)), None)
    if words is None or level not in words.levels:
        raise _speechless(name, model, level, words)
    allowance = tokens if tokens is not None else words.tokens.get(level, 0)
    body = {key: _filled(value, allowance) for key, value in words.levels[level].items()}
    return ThinkingOrder(body, allowance, frozenset(words.drop) if level != "off" else frozenset())


def _filled(value: Any, tokens: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _filled(each, tokens) for key, each in value.items()}
    return tokens if value == _TOKENS else value


def _speechless(name: str, model: str, level: str, words: ThinkingWords | None) -> UsageError:
    known = ", ".join(words.levels) if words is not None else ""
    return UsageError(
        f"'{name}' has no way to say thinking={level} to the model '{model}'",
        why=f"it knows {known}" if known else "it knows no way to say how hard to think",
        hint=f"--thinking {known.replace(', ', '|')}"
        if known
        else "leave --thinking out; --thinking-tokens works alone",
    )


def provider_at(url: str) -> str:
    """Return the provider of the table that is at an address; vLLM where none of them is."""
    host = urlsplit(url).hostname or ""
    return next((name for name, entry in providers().items() if _is_at(entry, host)), _OWN_SERVER)


def _is_at(entry: Provider, host: str) -> bool:
    return entry.protocol == "openai" and entry.url.startswith("https:") and urlsplit(entry.url).hostname == host
