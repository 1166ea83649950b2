"""Ollama's own protocol (``POST /api/chat``).

Shapes are those of Ollama's Python package 0.6.3 (``_types.py``: ``Options``, ``ChatRequest``, ``ChatResponse``,
``Logprob``) and of ``api/types.go`` (``truncate``, ``shift``: since October 2025; older servers ignore them). By itself
Ollama shortens prompts that do not fit into ``num_ctx`` and says nothing, which would be silently wrong: it is told not
to, and refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from proctor.engines.http.inline_media import split_data_url
from proctor.engines.http.protocols.openai_shapes import answer_text, ended_with_calls
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, named
from proctor.engines.http.protocols.reasoning import model_of
from proctor.engines.http.protocols.tool_calls import calls_of
from proctor.ir import Decoding, Message, Prompt, Response, TokenLogProbability, Usage, message_text

_NAMES = {"max_tokens": "num_predict", "top_p": "top_p", "top_k": "top_k", "seed": "seed", "stop": "stop"}
_TOP = ("tools", "logprobs", "top_logprobs", "format", "keep_alive", "think", "truncate", "shift")


class _Function(Struct):
    name: str
    arguments: Any = None


class _Call(Struct):
    function: _Function


class _Message(Struct):
    content: str | None = ""
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Top(Struct):
    token: str
    logprob: float


class _Token(Struct):
    token: str
    logprob: float
    top_logprobs: list[_Top] | None = None


class _Reply(Struct):
    message: _Message
    logprobs: list[_Token] | None = None
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    model: Any = None


_REPLY = msgspec.json.Decoder(_Reply)


@dataclass
class OllamaProtocol(ProviderProtocol):
    """Chat, without streaming."""

    carries: ClassVar[tuple[str, ...] | None] = ("image_url",)

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        given: dict[str, Any] = {} if "temperature" in self.drops else {"temperature": decoding.temperature}
        given |= named(decoding, _NAMES)
        given.update({name: value for name, value in decoding.extra.items() if name not in _TOP})
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [_message(message) for message in prompt.messages],
            "stream": False,
            "truncate": False,
            "shift": False,
            "options": given,
            **{name: decoding.extra[name] for name in _TOP if name in decoding.extra},
        }
        return Post("/api/chat", body, partial(parse_chat, offers_tools="tools" in body))


def parse_chat(body: bytes, *, offers_tools: bool = True) -> Response:
    """Return the response in a reply; its text is that of :func:`~.openai_shapes.answer_text`.

    Raises:
        msgspec.DecodeError: It is not what the protocol says.
    """
    reply = _REPLY.decode(body)
    calls = [(call.function.name, call.function.arguments) for call in reply.message.tool_calls or ()]
    return Response(
        texts=(answer_text(reply.message.content or "", calls, offers_tools=offers_tools),),
        finish_reasons=(ended_with_calls(reply.done_reason) if calls else reply.done_reason or "",),
        thoughts=(reply.message.thinking,) if reply.message.thinking else (),
        tokens=(tuple(map(_token, reply.logprobs)),) if reply.logprobs else (),
        usage=Usage(reply.prompt_eval_count or 0, reply.eval_count or 0),
        model=model_of(reply.model),
    )


def _token(token: _Token) -> TokenLogProbability:
    top = tuple((each.token, each.logprob) for each in token.top_logprobs or ())
    return TokenLogProbability(token.token, token.logprob, top)


def _message(message: Message) -> Message:
    content = message.get("content")
    if calls := calls_of(message):
        message = {**message, "tool_calls": [{"function": {"name": c.name, "arguments": c.arguments}} for c in calls]}
    if not isinstance(content, list):
        return message
    urls = [part["image_url"] for part in content if part.get("type") == "image_url"]
    links = [url["url"] if isinstance(url, dict) else url for url in urls]
    return {**message, "content": message_text(message), "images": [split_data_url(link)[1] for link in links]}
