"""The OpenAI protocol as pure functions: from a request to a JSON body, from a reply to a response.

The shapes follow the public API reference (chat completions; completions with ``echo`` and ``logprobs``); servers
may leave out usage, finish reasons and log-probabilities, and may add fields of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.reasoning import (
    Thinks,
    content_parts,
    count_in,
    first_of,
    model_of,
    thoughts_beside,
)
from proctor.engines.http.retrying_client import CallError, ReplyError, SaidError
from proctor.ir import Decoding, Failure, Message, Response, TokenLogProbability, Usage, is_cut_off, is_filtered_end


class _Function(Struct):
    name: str
    arguments: Any = None


class _ToolCall(Struct):
    function: _Function


class _Message(Thinks):
    content: str | list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _TopToken(Struct):
    token: str
    logprob: float


class _Token(Struct):
    token: str
    logprob: float
    top_logprobs: list[_TopToken] | None = None


class TextLogProbs(Struct):
    """Log-probabilities as the completions endpoint writes them: parallel lists, one entry for each token.

    Together AI writes them so for chat, too, and llama.cpp's server writes ``content``, as in chat, for completions.
    """

    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    text_offset: list[int] | None = None
    top_logprobs: list[dict[str, float] | None] | dict[str, float] | None = None
    content: list[_Token] | None = None

    @property
    def top(self) -> list[dict[str, float] | None]:
        """The likeliest tokens at each place; none where the server does not list them for each."""
        return self.top_logprobs if isinstance(self.top_logprobs, list) else []


class _ChatChoice(Struct):
    message: _Message | None = None
    index: int | None = None
    finish_reason: str | None = None
    logprobs: TextLogProbs | None = None


class UsageReply(Struct):
    """Tokens read and written. Cached and reasoning tokens are parts of these, not more of them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None
    completion_tokens_details: Any = None
    prompt_tokens_details: Any = None


class _ChatReply(Struct):
    choices: list[_ChatChoice]
    usage: UsageReply | None = None
    model: Any = None
    error: Any = None


class TextChoice(Struct):
    """One answer of a completion."""

    text: str
    index: int | None = None
    finish_reason: str | None = None
    logprobs: TextLogProbs | None = None


class TextReply(Struct):
    """The reply to a completion request; Together AI echoes the prompt beside the choices."""

    choices: list[TextChoice]
    prompt: Any = None
    usage: UsageReply | None = None
    model: Any = None
    error: Any = None


_CHAT = msgspec.json.Decoder(_ChatReply)
TEXT_REPLY = msgspec.json.Decoder(TextReply)


TOOL_CALLS = "tool_calls"
REFUSAL = "refusal"
"""Why an answer ended whose message says so in a field of its own (OpenAI)."""
BROKEN = frozenset({"error", "abort"})
"""Reasons to finish with which a server says that it could not (OpenRouter, vLLM, SGLang): there is no answer."""


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
    if body["temperature"] is None:  # left to the server
        del body["temperature"]
    return body


def chat_messages(messages: Sequence[Message]) -> list[Message]:
    """Return messages as the protocol wants them: the arguments of tool calls as JSON text."""
    return [_with_text_arguments(message) if message.get("tool_calls") else message for message in messages]


def _with_text_arguments(message: Message) -> Message:
    calls = []
    for call in message["tool_calls"]:
        function = call["function"]
        if not isinstance(function.get("arguments"), str):
            function = {**function, "arguments": msgspec.json.encode(function.get("arguments")).decode()}
        calls.append({**call, "function": function})
    return {**message, "tool_calls": calls}


def parse_chat(body: bytes, count: int = 1, *, thoughts_in_total: bool = False, offers_tools: bool = True) -> Response:
    """Return the response in the reply to a chat request.

    Args:
        body: The reply.
        count: How many answers were asked for.
        thoughts_in_total: As in :func:`usage_of`.
        offers_tools: As in :func:`answer_text`.

    Raises:
        ReplyError, msgspec.DecodeError: The reply is not what the protocol says.
    """
    reply = _CHAT.decode(body)
    check_said(reply.error, body)
    choices = _chosen(reply.choices, count)
    if any(map(_is_without_words, choices)):
        raise ReplyError("the reply has no content: neither text nor a call of a tool nor a refusal")
    thoughts = tuple(map(_thoughts, choices))
    return Response(
        texts=tuple([_message_text(choice, offers_tools=offers_tools) for choice in choices]),
        finish_reasons=tuple(map(_reason, choices)),
        thoughts=thoughts if any(thoughts) else (),
        tokens=_tokens(choices),
        usage=usage_of(reply.usage, thoughts_in_total=thoughts_in_total),
        model=model_of(reply.model),
    )


def parse_completion(body: bytes, count: int = 1) -> Response:
    """Return the response in the reply to a completion request; errors as in :func:`parse_chat`."""
    reply = TEXT_REPLY.decode(body)
    check_said(reply.error, body)
    choices = _chosen(reply.choices, count)
    return Response(
        texts=tuple(choice.text for choice in choices),
        finish_reasons=tuple(choice.finish_reason or "" for choice in choices),
        tokens=_tokens(choices),
        usage=usage_of(reply.usage),
        model=model_of(reply.model),
    )


def check_said(error: object, body: bytes) -> None:
    """Look at what a reply with answers says of an error beside them: the answers are those of before it.

    Raises:
        SaidError: It says something.
    """
    if error:
        raise SaidError(f"the server says beside its answer: {error}", body)


def _is_without_words(choice: _ChatChoice) -> bool:
    """Whether the content is null and nothing says why; an empty text is an empty answer."""
    message = choice.message
    if message is None or message.content is not None or message.refusal or message.tool_calls:
        return False
    reason = choice.finish_reason or ""
    return not (thoughts_beside(message) or is_cut_off(reason) or is_filtered_end(reason))


def _chosen(choices: list[Any], count: int) -> list[Any]:
    """Return ``count`` choices in the order of their indexes, repeated indexes left out."""
    if len(choices) == count == 1 and choices[0].finish_reason not in BROKEN:
        return choices
    first: dict[int, Any] = {}
    for position, choice in enumerate(choices):
        first.setdefault(position if choice.index is None else choice.index, choice)
    if not first:
        raise ReplyError("the reply has no choices")
    if broken := next((each for each in first.values() if each.finish_reason in BROKEN), None):
        raise ReplyError(f"the server ended the answer with '{broken.finish_reason}'")
    if len(first) < count:
        raise FewerAnswersError(count, len(first))
    return [first[index] for index in sorted(first)][:count]


class FewerAnswersError(CallError):
    """A server that does not know ``n`` (Ollama, LM Studio): it gives one answer whatever it was asked for."""

    def __init__(self, wanted: int, found: int) -> None:
        message = f"{wanted} answers were asked for, {found} came: ask for one at a time"
        super().__init__(Failure("protocol", message, retryable=False))


def _reason(choice: _ChatChoice) -> str:
    if choice.message is not None and choice.message.refusal:
        return REFUSAL
    if choice.message is not None and choice.message.tool_calls:
        return ended_with_calls(choice.finish_reason)
    return choice.finish_reason or ""


def ended_with_calls(reason: str | None) -> str:
    """Return the finish reason of an answer with calls of tools; some servers say that it stopped."""
    return TOOL_CALLS if not reason or reason == "stop" else reason


def _message_text(choice: _ChatChoice, *, offers_tools: bool) -> str:
    if (message := choice.message) is None:  # of an answer that was filtered nothing may be left
        if not is_filtered_end(choice.finish_reason or ""):
            raise ReplyError("a choice has no message")
        return ""
    calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    return answer_text(content_parts(message.content)[0], calls, offers_tools=offers_tools)


def _thoughts(choice: _ChatChoice) -> str:
    if (message := choice.message) is None:
        return ""
    return first_of(thoughts_beside(message)) or content_parts(message.content)[1]


def answer_text(text: str, calls: Sequence[tuple[str, Any]], *, offers_tools: bool) -> str:
    """Return what is graded of an answer: what it says, or its calls of tools.

    Calls become text: ``{"name": …, "arguments": …}``, or a list of these where there are several.

    Args:
        text: What it says.
        calls: Name and arguments of each call.
        offers_tools: Whether the exam offered tools; else calls are the answer only where nothing is said beside them.
    """
    if not calls or (text.strip() and not offers_tools):
        return text
    texts = [f'{{"name": "{name}", "arguments": {_arguments_text(arguments)}}}' for name, arguments in calls]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _arguments_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments or "{}"
    return msgspec.json.encode({} if arguments is None else arguments).decode()


def usage_of(usage: UsageReply | None, *, thoughts_in_total: bool = False) -> Usage:
    """Return how many tokens a server says it read and wrote; none where it does not say.

    Most services count thoughts among the tokens written; xAI counts them beside these.

    Args:
        usage: What the server says.
        thoughts_in_total: Whether thoughts are counted in the total alone, as Google does for Gemini.
    """
    if usage is None:
        return Usage()
    read, written = usage.prompt_tokens or 0, usage.completion_tokens or 0
    thought = count_in(usage.completion_tokens_details, "reasoning_tokens") or usage.reasoning_tokens or 0
    if thoughts_in_total and not thought:
        thought = max(0, (usage.total_tokens or 0) - read - written)
    if thought > written or (thought and usage.total_tokens == read + written + thought):
        written += thought
    details = usage.prompt_tokens_details
    return Usage(
        read,
        written,
        thought,
        cached_tokens=count_in(details, "cached_tokens") or usage.prompt_cache_hit_tokens or 0,
        cache_write_tokens=count_in(details, "cache_write_tokens"),
        audio_prompt_tokens=count_in(details, "audio_tokens"),
        audio_completion_tokens=count_in(usage.completion_tokens_details, "audio_tokens"),
    )


_ROUNDING = 1e-3
"""How far above 0 the log-probability of a token may come to lie where a server computes it in half precision."""


def total_of(values: Sequence[float]) -> float:
    """Return the sum of the log-probabilities of tokens.

    Raises:
        ReplyError: One of them is above 0: it is a probability, a logit or a loss, and would let another choice win.
    """
    if (most := max(values, default=0.0)) > _ROUNDING:
        raise ReplyError(f"the server's log-probabilities are not any: one is {most:g}, and none is above 0")
    return sum(values)


def _token(token: _Token) -> TokenLogProbability:
    top = tuple((each.token, each.logprob) for each in token.top_logprobs or ())
    return TokenLogProbability(token.token, token.logprob, top)


def _tokens(choices: list[Any]) -> tuple[tuple[TokenLogProbability, ...], ...]:
    found = [choice.logprobs for choice in choices]
    return tuple(map(tokens_of, found)) if any(found) else ()


def tokens_of(found: TextLogProbs | None) -> tuple[TokenLogProbability, ...]:
    """Return generated tokens with their log-probabilities, whichever way the server writes them."""
    if found is None:
        return ()
    if found.content is not None:
        return tuple(map(_token, found.content))
    tokens = found.tokens or []
    top = found.top or [None] * len(tokens)
    return tuple(
        TokenLogProbability(token, value, _best_first(each))
        for token, value, each in zip(tokens, found.token_logprobs or [], top, strict=True)
        if value is not None
    )


def _best_first(top: Mapping[str, float] | None) -> tuple[tuple[str, float], ...]:
    return tuple(sorted((top or {}).items(), key=lambda item: -item[1]))
