"""Reads servers' error messages, and by how many tokens a prompt is too long.

No two servers word it alike. The wordings are those of the servers' sources and public bug reports (vLLM 0.9 to 0.33,
SGLang 0.5.23, text-generation-inference, llama.cpp's server up to build 11549, Ollama 0.32, LM Studio 0.3 and 0.4) and
of the public documentation of the providers; ``tests/engines/http/test_provider_errors.py`` quotes each of them.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from proctor.engines.http.transport import Reply
from proctor.secrets import redacted

_LONGEST = 1000  # characters: some servers send a whole page or the request back, which would fill log and terminal
_IS_CONTEXT = re.compile(
    r"context[_ ](?:length|size|window|limit)|maximum context|max_model_len|maximum (?:model|prompt) length"
    r"|(?:prompt|input|context|conversation) is too (?:long|large)|prompt too long|too many (?:input )?tokens"
    r"|longer than the (?:model|maximum|\w+ model)|total tokens limit"
    r"|exceeds? the (?:model's )?(?:maximum|max|limit).{0,40}token"
    r"|tokens`? \+ `?max_new_tokens|inputs`? must have less than|input tokens \(\d+\) plus prefix length"
    r"|context the overflows|reduce the length of the (?:messages|prompt|input)|token_quantity_exceeded",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model identifier is invalid|is not a valid model|model not exist"
    r"|model [`'\"]?[^ ]+ (?:does not exist|not found)"
    r"|invalid model: |model_not_found|on-demand throughput isn.t supported|no models? loaded",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"api[ _]key not valid|(?:invalid|incorrect) (?:api|x-api)[- _]key|invalid_api_key", re.IGNORECASE
)
_IS_FILTERED = re.compile(
    rb"content_filter|ResponsibleAIPolicyViolation|content_policy_violation|content management policy"
    rb"|data_inspection_failed|DataInspectionFailed|flagged as potentially violating|flagged by our content"
    rb"|NSFW content detected|flagged as sensitive|block_?reason|PROHIBITED_CONTENT|requires moderation on",
    re.IGNORECASE,
)
"""How services refuse a prompt with an error: Azure, OpenAI, DashScope, Replicate, Gemini, OpenRouter."""
_IS_BLOCKED = re.compile(rb'"(?:prompt)?_?block_?reason"\s*:\s*"[A-Z]', re.IGNORECASE)
"""How Gemini says in a reply without answers that it did not read the prompt."""
_FILTER_STATUSES = frozenset({400, 403, 422, 451, 500})  # 500: what stands for an error in the body of a 200
_PROFILE = "Bedrock reaches this model through an inference profile: put the region before its id (us., eu., apac.)"
_NUMBER = r"(\d[\d,_]*)"


class _Wording(NamedTuple):
    """How one server says it: a pattern, and which of its groups are added (length) and taken away (limit)."""

    pattern: re.Pattern[str]
    lengths: tuple[int, ...]
    limit: int | None


def _wording(pattern: str, lengths: tuple[int, ...], limit: int | None) -> _Wording:
    compiled = pattern.replace("#", _NUMBER).replace(" ", r"\s+")
    return _Wording(re.compile(compiled, re.IGNORECASE | re.DOTALL), lengths, limit)


_WORDINGS = (
    # vLLM, where prompt and answer together do not fit
    _wording(r"maximum context length is # .{0,200}? for a total of (?:at least )?# tokens", (2,), 1),
    # vLLM, where the answer has no room
    _wording(r"is too large: #\s*\..{0,60}? context length is # tokens and your request has # input", (1, 3), 2),
    _wording(r"maximum context length (?:is|of) # .{0,80}?(?:request has|prompt contains) (?:at least )?# in", (2,), 1),
    # OpenAI, DeepSeek, OpenRouter, older vLLM, SGLang; what is asked for stands before its parts
    _wording(r"context length (?:is|of) # tokens.{0,80}? (?:requested|resulted in)(?: about| a total of)? #", (2,), 1),
    # vLLM in this process; the length alone leaves no room for the one token that has to be written
    _wording(r"prompt \(length #\) plus .{0,60}? longer than the maximum model length of #", (1,), 2),
    _wording(r"prompt \(length #\) is longer than the maximum model length of #", (1,), 2),
    # SGLang, and llama.cpp's server
    _wording(r"\(# tokens\) (?:is|exceeds) .{0,60}?context (?:length|size) \(# tokens\)", (1,), 2),
    # text-generation-inference and services that run it
    _wording(r"must be <= #\s*\. Given: # `?inputs`? tokens and # `?max_new_tokens", (2, 3), 1),
    _wording(r"`inputs` must have less than # tokens\s*\. Given: #", (2,), 1),
    # LM Studio, both engines
    _wording(r"keep the first # tokens .{0,80}? context length of only #", (1,), 2),
    _wording(r"n_keep: #\s*>=\s*n_ctx: #", (1,), 2),
    # Anthropic
    _wording(r"too long: # tokens > # maximum", (1,), 2),
    _wording(r"exceed context limit: # \+ # > #", (1, 2), 3),
    # Gemini, Mistral, Amazon Titan and Nova, watsonx.ai, Grok, Ollama
    _wording(r"input token count \(#\) exceeds the maximum number of tokens allowed \(#\)", (1,), 2),
    _wording(r"contains # tokens .{0,60}?too large for model with # maximum context", (1,), 2),
    _wording(r"max input tokens: #, request input token count: #", (2,), 1),
    _wording(r"number of input tokens # cannot exceed the total tokens limit #", (1,), 2),
    _wording(r"input tokens \(#\) plus prefix length \(#\) must be (?:<=|<|less than) #", (1, 2), 3),
    _wording(r"maximum prompt length is # but the request contains #", (2,), 1),
    _wording(r"prompt has # tokens, but the configured context size is #", (1,), 2),
    _wording(r"context length by # tokens", (1,), None),
    # whoever says nothing but the two numbers, in the shape of OpenAI's
    _wording(r"context (?:length|size|window)\D{1,60}?#\D{1,80}?#", (2,), 1),
)


def error_message(reply: Reply) -> str:
    """Return a server's error message: from its JSON, or the start of its body."""
    try:
        said = _said(msgspec.json.decode(reply.body))
    except (msgspec.DecodeError, ValueError, RecursionError):  # a page, or bytes that are meant to do harm
        start = redacted(reply.body[:_LONGEST].decode("utf-8", "replace"))
        return start[:200].strip() or "no message"
    return redacted(said[: 2 * _LONGEST])[:_LONGEST]


def hidden_error(body: bytes) -> Reply | None:
    """Return the error in the body of a reply that claims success, as a reply that does not; ``None`` without one.

    LM Studio and OpenRouter answer 200 and write the error into the body, the latter with its status as ``code``.
    """
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not (error := found.get("error")):
        return None
    code = error.get("code") if isinstance(error, dict) else None
    if not (isinstance(code, int) and 400 <= code < 600):  # noqa: PLR2004 - HTTP statuses of errors
        code = 400 if is_too_long(_said(found)[:_LONGEST]) else 500
    return Reply(code, {}, body)


def is_filtered(reply: Reply) -> bool:
    """Return whether an error says that a filter did not let the prompt or the answer pass."""
    return reply.status in _FILTER_STATUSES and _IS_FILTERED.search(reply.body, 0, 64 * _LONGEST) is not None


def is_blocked(body: bytes) -> bool:
    """Return whether a reply that claims success says that the prompt was blocked."""
    return _IS_BLOCKED.search(body, 0, 64 * _LONGEST) is not None


def is_unknown_model(message: str) -> bool:
    """Return whether a message says that there is no such model (many providers say so with 400)."""
    return _NO_MODEL.search(message) is not None


def is_bad_key(message: str) -> bool:
    """Return whether a message says that the key is not good (Google says so with 400)."""
    return _BAD_KEY.search(message) is not None


def model_hint(message: str) -> str:
    """Return a hint where a server does not know the model."""
    return _PROFILE if "throughput" in message else "check base_url and the name of the model"


def is_too_long(message: str) -> bool:
    """Return whether a message says that a prompt does not fit into the context."""
    return _IS_CONTEXT.search(message) is not None


def excess_text(message: str, reply: Reply | None = None) -> str:
    """Say by how many tokens a prompt is too long (``" (too long by 52 tokens)"``); ``""`` where nobody knows.

    Args:
        message: What the server says.
        reply: Its reply; llama.cpp's server names both numbers beside the message.
    """
    excess = _numbers_of(reply) if reply else None
    excess = _excess(message) if excess is None else excess
    if excess is None or excess <= 0:
        return ""
    at_least = "at least " if "at least" in message else ""
    return f" (too long by {at_least}{excess} token{'s' if excess > 1 else ''})"


def _excess(message: str) -> int | None:
    if "characters" in message:  # vLLM, before it counts tokens
        return None
    for wording in _WORDINGS:
        if found := wording.pattern.search(message):
            length = sum(_number(found[group]) for group in wording.lengths)
            return length - (_number(found[wording.limit]) if wording.limit else 0)
    return None


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text))


def _numbers_of(reply: Reply) -> int | None:
    try:
        error = _unwrapped(msgspec.json.decode(reply.body))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not isinstance(error, dict):
        return None
    length, limit = error.get("n_prompt_tokens"), error.get("n_ctx")
    return length - limit if isinstance(length, int) and isinstance(limit, int) else None


def _unwrapped(body: Any) -> Any:
    """Return the innermost error: some servers wrap it in a list (Google), in text (Ollama), or both in ``error``."""
    while True:
        if isinstance(body, list) and len(body) == 1:
            body = body[0]
        elif isinstance(body, dict) and isinstance(body.get("error"), dict | list | str):
            body = body["error"]
        elif isinstance(body, str) and body.lstrip().startswith("{"):
            try:
                body = msgspec.json.decode(body)
            except (msgspec.DecodeError, ValueError, RecursionError):
                return body
        else:
            return body


def _said(body: Any) -> str:
    found = _unwrapped(body)
    if isinstance(found, dict):
        errors = found.get("errors")
        if isinstance(errors, list) and errors and isinstance(errors[0], dict) and errors[0].get("message"):
            return "; ".join(str(each.get("message")) for each in errors if isinstance(each, dict))
        names = ("message", "Message", "detail", "errorMessage", "error_message", "msg")
        inner = next((found[name] for name in names if found.get(name)), found)
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            return _said(inner)
        found = inner
    return found if isinstance(found, str) else msgspec.json.encode(found).decode()
