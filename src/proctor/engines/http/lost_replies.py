"""Counts of tokens in replies that are not answers: providers bill them all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

_LOOKED_AT = 1 << 16
"""Bytes at the end of a reply in which its count is looked for: streams and bodies have it behind their words."""
_READ = ("prompt_tokens", "input_tokens", "inputTokens", "promptTokenCount")
_WRITTEN = ("completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount")
_BESIDE = ("cache_read_input_tokens", "cache_creation_input_tokens", "cacheReadInputTokens", "cacheWriteInputTokens")
"""Tokens read that Anthropic and Bedrock count beside the others."""
_MOST = 10**9


def tokens_said(body: bytes) -> tuple[int, int]:
    """Return how many tokens a reply says were read and written; 0 where it does not say so."""
    text = body[-_LOOKED_AT:].decode("utf-8", "replace")
    start = max(text.rfind('"usage"'), text.rfind('"usageMetadata"'))
    start = text.find("{", start) if start >= 0 else -1
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start) if start >= 0 else ({}, 0)
    except (ValueError, RecursionError):
        return 0, 0
    read, written = (next(_counts(found, names), 0) for names in (_READ, _WRITTEN))
    return read + sum(_counts(found, _BESIDE)), written


def _counts(found: Mapping[str, object], names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        if isinstance(count := found.get(name), int) and 0 <= count <= _MOST:
            yield count
