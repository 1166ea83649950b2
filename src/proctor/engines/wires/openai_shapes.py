"""The OpenAI wire protocol as pure functions: from a request to a JSON body, from a reply to a response.

The shapes follow the public API reference (chat completions; completions with ``echo`` and ``logprobs``); servers
may leave out usage, finish reasons and log-probabilities, and may add fields of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.calls import CallError, ReplyError
from proctor.ir import Decoding, Message, Response, Scored, TokenLogProbability, Usage


class _Function(Struct):
    name: str
    arguments: Any = None


class _ToolCall(Struct):
    function: _Function


class _Message(Struct):
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[_ToolCall] | None = None


class _TopToken(Struct):
    token: str
    logprob: float


class _Token(Struct):
    token: str
    logprob: float
    top_logprobs: list[_TopToken] | None = None


class _ChatLogProbs(Struct):
    content: list[_Token] | None = None


class _ChatChoice(Struct):
    message: _Message
    index: int | None = None
    finish_reason: str | None = None
    logprobs: _ChatLogProbs | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _ChatReply(Struct):
    choices: list[_ChatChoice]
    usage: _Usage | None = None


class _TextLogProbs(Struct):
    tokens: list[str] = []
    token_logprobs: list[float | None] = []
    text_offset: list[int] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None
    content: list[_Token] | None = None  # llama.cpp's server uses the shape of chat here, too


class _TextChoice(Struct):
    text: str
    index: int | None = None
    finish_reason: str | None = None
    logprobs: _TextLogProbs | None = None


class _TextReply(Struct):
    choices: list[_TextChoice]
    usage: _Usage | None = None


_CHAT = msgspec.json.Decoder(_ChatReply)
_TEXT = msgspec.json.Decoder(_TextReply)


def decoding_body(decoding: Decoding, max_tokens_name: str = "max_tokens") -> dict[str, Any]:
    """Return the part of a body that says how to decode."""
    body: dict[str, Any] = {"temperature": decoding.temperature}
    if decoding.max_tokens is not None:
        body[max_tokens_name] = decoding.max_tokens
    if decoding.stop:
        body["stop"] = list(decoding.stop)
    for name in ("top_p", "top_k", "seed"):
        if (value := getattr(decoding, name)) is not None:
            body[name] = value
    if decoding.count > 1:
        body["n"] = decoding.count
    body.update(decoding.extra)
    return body


def chat_messages(messages: Sequence[Message]) -> list[Message]:
    """Return messages as the wire wants them: the arguments of tool calls as JSON text."""
    return [_with_text_arguments(message) if message.get("tool_calls") else message for message in messages]


def _with_text_arguments(message: Message) -> Message:
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        if not isinstance(function.get("arguments"), str):
            function = {**function, "arguments": msgspec.json.encode(function.get("arguments")).decode()}
        calls.append({**call, "function": function})
    return {**message, "tool_calls": calls}


def parse_chat(body: bytes, count: int = 1) -> Response:
    """Return the response in the reply to a chat request.

    Tool calls become text: ``{"name": …, "arguments": …}``, or a list of these where there are several.

    Raises:
        ReplyError, msgspec.DecodeError: The reply is not what the protocol says.
    """
    reply = _CHAT.decode(body)
    choices = _chosen(reply.choices, count)
    return Response(
        texts=tuple(_message_text(choice.message) for choice in choices),
        finish_reasons=tuple(choice.finish_reason or "" for choice in choices),
        tokens=_chat_tokens(choices),
        usage=_usage(reply.usage),
    )


def parse_completion(body: bytes, count: int = 1) -> Response:
    """Return the response in the reply to a completion request; errors as in :func:`parse_chat`."""
    reply = _TEXT.decode(body)
    choices = _chosen(reply.choices, count)
    return Response(
        texts=tuple(choice.text for choice in choices),
        finish_reasons=tuple(choice.finish_reason or "" for choice in choices),
        tokens=_text_tokens(choices),
        usage=_usage(reply.usage),
    )


def _chosen(choices: list[Any], count: int) -> list[Any]:
    """Return ``count`` choices in the order of their indexes, repeated indexes left out."""
    if len(choices) == count == 1:
        return choices
    first: dict[int, Any] = {}
    for position, choice in enumerate(choices):
        first.setdefault(position if choice.index is None else choice.index, choice)
    if len(first) < count:
        raise ReplyError(f"{count} answers were asked for, {len(first)} came")
    return [first[index] for index in sorted(first)][:count]


def _message_text(message: _Message) -> str:
    if message.tool_calls:
        return call_text([(call.function.name, call.function.arguments) for call in message.tool_calls])
    if isinstance(message.content, list):
        return "".join(str(part.get("text", "")) for part in message.content)
    return message.content or ""


def call_text(calls: Sequence[tuple[str, Any]]) -> str:
    """Return tool calls, pairs of name and arguments, as text: one object, or a list where there are several."""
    texts = [f'{{"name": "{name}", "arguments": {_arguments_text(arguments)}}}' for name, arguments in calls]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _arguments_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments or "{}"
    return msgspec.json.encode({} if arguments is None else arguments).decode()


def _usage(usage: _Usage | None) -> Usage:
    if usage is None:
        return Usage()
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0)


def _chat_tokens(choices: list[_ChatChoice]) -> tuple[tuple[TokenLogProbability, ...], ...]:
    if not any(choice.logprobs for choice in choices):
        return ()
    return tuple(tuple(map(_token, (choice.logprobs and choice.logprobs.content) or ())) for choice in choices)


def _token(token: _Token) -> TokenLogProbability:
    top = tuple((each.token, each.logprob) for each in token.top_logprobs or ())
    return TokenLogProbability(token.token, token.logprob, top)


def _text_tokens(choices: list[_TextChoice]) -> tuple[tuple[TokenLogProbability, ...], ...]:
    if not any(choice.logprobs for choice in choices):
        return ()
    return tuple(_text_choice_tokens(choice.logprobs) for choice in choices)


def _text_choice_tokens(found: _TextLogProbs | None) -> tuple[TokenLogProbability, ...]:
    if found is None:
        return ()
    if found.content is not None:
        return tuple(map(_token, found.content))
    top = found.top_logprobs or [None] * len(found.tokens)
    return tuple(
        TokenLogProbability(token, value, _best_first(each))
        for token, value, each in zip(found.tokens, found.token_logprobs, top, strict=True)
        if value is not None
    )


def _best_first(top: Mapping[str, float] | None) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((top or {}).items(), key=lambda item: -item[1]))


# -- likelihoods of text that the model did not write -------------------------------------------------------------

_NO_ECHO = (
    "the server does not return log-probabilities of the prompt, which scoring needs: use a server that supports echo "
    "with logprobs on completions (vLLM does), hf, or the generate form of the exam"
)
ECHO = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0}
"""Asks a completions server for the log-probabilities of the prompt. One token is generated, and left out again,
because several servers refuse to generate none."""


def parse_echo(body: bytes, text: str, start: int, *, skips_first: bool = False) -> Response:
    """Return the likelihood of ``text[start:]`` after ``text[:start]``, from the echo of ``text``.

    A token belongs to the continuation when any of its characters do: a token that reaches over the boundary is
    counted, because the continuation cannot be written without it. With ``skips_first`` the first token is left out
    even where the server has a likelihood for it.

    Raises:
        CallError: The server does not echo.
        ReplyError, msgspec.DecodeError: Some tokens have no log-probabilities.
    """
    reply = _TEXT.decode(body)
    if not reply.choices:
        raise ReplyError("the reply has no choices")
    if (found := reply.choices[0].logprobs) is None:
        raise CallError.of("engine", _NO_ECHO)
    if found.content is not None or (found.tokens and not reply.choices[0].text.startswith(text[:start])):
        raise CallError.of("engine", _NO_ECHO)
    offsets = found.text_offset or _offsets(found.tokens)
    ends = [*offsets[1:], len(text) + 1]
    inside = [
        index
        for index, (begin, end) in enumerate(zip(offsets, ends, strict=True))
        if begin < len(text) and end > start and end > begin
    ]
    if not inside and start < len(text):
        raise CallError.of("engine", _NO_ECHO)
    return Response(
        scores=(_sum(found, inside, is_start_unknown=start == 0, skips_first=skips_first),), usage=_usage(reply.usage)
    )


def _sum(found: _TextLogProbs, inside: list[int], *, is_start_unknown: bool, skips_first: bool) -> Scored:
    if inside and (skips_first or (is_start_unknown and found.token_logprobs[inside[0]] is None)):
        # Without a token before it, the first token of a text has no likelihood.
        inside = inside[1:]
        if not inside:
            raise CallError.of("engine", "the first token of a text has no log-probability, and there is no other")
    values = [found.token_logprobs[index] for index in inside]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        raise ReplyError("some tokens have no log-probability")
    return Scored(sum(known), _is_greedy(found, inside), len(known))


def _is_greedy(found: _TextLogProbs, inside: list[int]) -> bool:
    if found.top_logprobs is None:
        return False
    for index in inside:
        top, value = found.top_logprobs[index], found.token_logprobs[index]
        if not top or value is None or max(top.values()) > value:
            return False
    return True


def _offsets(tokens: Sequence[str]) -> list[int]:
    offsets, position = [], 0
    for token in tokens:
        offsets.append(position)
        position += len(token)
    return offsets
