"""The Anthropic Messages protocol (``POST /messages``; public API reference, version 2023-06-01).

Shapes are those of the reference and of Anthropic's Python package 2.12.0 (``types/message.py``, ``types/usage.py``,
``types/stop_reason.py``), read in November 2026. Version 2026-10-21 takes no ``temperature``, which exams decide; the
table of providers therefore asks for 2023-06-01, and names the models that take none in any version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from proctor.engines.http.inline_media import split_data_url
from proctor.engines.http.prompt_caches import marks_of_system
from proctor.engines.http.protocols.openai_shapes import answer_text
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, named
from proctor.engines.http.protocols.reasoning import count_in, model_of
from proctor.engines.http.protocols.tool_calls import calls_of, result_id
from proctor.engines.http.retrying_client import ReplyError
from proctor.ir import Decoding, Message, Prompt, Response, Usage, message_text

_DEFAULT_MAX_TOKENS = 4096
"""The protocol wants a limit; used where neither exam nor engine has one. All models of the service write so many."""
REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
"""Why an answer ended, in the words of OpenAI: for Anthropic and Bedrock, which share most of theirs."""
# The protocol has none of these and refuses requests with unknown keys; tools are sent in its own form.
_NOT_SENT = frozenset({"logprobs", "top_logprobs", "frequency_penalty", "presence_penalty", "logit_bias", "tools"})


class _Block(Struct):
    type: str
    text: str = ""
    name: str = ""
    input: Any = None
    thinking: str | None = None


class _Usage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: Any = None
    output_tokens_details: Any = None


class _Reply(Struct):
    content: list[_Block]
    stop_reason: str | None
    usage: _Usage | None = None
    model: Any = None


_REPLY = msgspec.json.Decoder(_Reply)


@dataclass
class AnthropicProtocol(ProviderProtocol):
    """Messages."""

    takes_blank_stops: ClassVar[bool] = False
    shows_thoughts: ClassVar[bool] = True

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        system, messages = split_system(prompt.messages)
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": decoding.max_tokens or _DEFAULT_MAX_TOKENS + self.thinking.allowance,
            "messages": [_message(message) for message in _trimmed(messages)],
        }
        if "temperature" not in self.drops:
            body["temperature"] = min(1.0, decoding.temperature)
        if system:
            marks = marks_of_system(prompt.messages)
            body["system"] = [{"type": "text", "text": system, **marks[0]}] if marks else system
        body |= named(decoding, {"stop": "stop_sequences", "top_p": "top_p", "top_k": "top_k"})
        if tools := decoding.extra.get("tools"):
            body["tools"] = [_tool(tool) for tool in tools]
        body.update({name: value for name, value in decoding.extra.items() if name not in _NOT_SENT})
        return Post("/messages", body, partial(parse_messages, offers_tools="tools" in body))


def _trimmed(messages: list[Message]) -> list[Message]:
    """Return messages whose last one, where the assistant began it, ends with no white space: that is refused."""
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant" or not isinstance(last.get("content"), str):
        return messages
    return [*messages[:-1], {**last, "content": last["content"].rstrip()}]


def split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Return the system messages as one text, and the rest, with equal neighbouring roles left as they are."""
    system = "\n\n".join(message_text(message) for message in messages if message["role"] == "system")
    return system, [message for message in messages if message["role"] != "system"]


def parse_messages(body: bytes, *, offers_tools: bool = True) -> Response:
    """Return the response in a reply; its text is that of :func:`~.openai_shapes.answer_text`.

    Raises:
        ReplyError, msgspec.DecodeError: The reply is not what the protocol says.
    """
    reply = _REPLY.decode(body)
    calls = [block for block in reply.content if block.type == "tool_use"]
    text = "".join(block.text for block in reply.content if block.type == "text")
    if not reply.content and reply.stop_reason not in REASONS:
        raise ReplyError("the reply has no content")
    thoughts = "".join(block.thinking or "" for block in reply.content if block.type == "thinking")
    usage = reply.usage or _Usage()
    found, hour = usage.cache_read_input_tokens or 0, count_in(usage.cache_creation, "ephemeral_1h_input_tokens")
    written = max(usage.cache_creation_input_tokens or 0, hour)
    return Response(
        texts=(answer_text(text, [(call.name, call.input) for call in calls], offers_tools=offers_tools),),
        finish_reasons=(REASONS.get(reply.stop_reason or "", reply.stop_reason or ""),),
        thoughts=(thoughts,) if thoughts else (),
        usage=Usage(
            usage.input_tokens + found + written,
            usage.output_tokens,
            count_in(usage.output_tokens_details, "thinking_tokens", "reasoning_tokens"),
            found,
            written - hour,
            hour,
        ),
        model=model_of(reply.model),
    )


def _message(message: Message) -> dict[str, Any]:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": result_id(message), "content": message_text(message)}
        return {"role": "user", "content": [result]}
    content = _content(message)
    if calls := calls_of(message):
        text = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
        used = [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls]
        content = [*text, *used]
    return {"role": message["role"], "content": content}


def _content(message: Message) -> Any:
    content = message.get("content")
    if isinstance(content, str) or content is None:
        return content or ""
    return [_block(part) for part in content]


def _block(part: Any) -> Any:
    if part.get("type") != "image_url":
        return part
    url = part["image_url"]["url"] if isinstance(part["image_url"], dict) else part["image_url"]
    if not url.startswith("data:"):
        return {"type": "image", "source": {"type": "url", "url": url}}
    media_type, data = split_data_url(url)
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _tool(tool: Any) -> Any:
    function = tool.get("function", tool)
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "input_schema": function.get("parameters") or {"type": "object", "properties": {}},
    }
