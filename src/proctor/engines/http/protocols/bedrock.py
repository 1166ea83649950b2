"""The Amazon Bedrock Converse protocol (``POST /model/{id}/converse``; service model 2023-09-30).

Shapes are those of the service model in botocore 1.44.5 (``data/bedrock-runtime/2023-09-30/service-2.json.gz``):
``ConverseRequest``, ``InferenceConfiguration``, ``ContentBlock``, ``ToolSpecification``, ``ConverseResponse``,
``TokenUsage``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from proctor.engines.http.inline_media import split_data_url
from proctor.engines.http.prompt_caches import CACHE_POINT, marks_of_system
from proctor.engines.http.protocols.anthropic import REASONS, split_system
from proctor.engines.http.protocols.openai_shapes import answer_text
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol
from proctor.engines.http.protocols.reasoning import count_in
from proctor.engines.http.protocols.tool_calls import calls_of, result_id
from proctor.engines.http.retrying_client import CallError
from proctor.ir import Decoding, Message, Prompt, Response, Usage, message_text

# Converse returns no log-probabilities; tools are sent in its own form.
_NOT_SENT = frozenset({"logprobs", "top_logprobs", "tools"})


class _ToolUse(Struct):
    name: str
    input: Any = None


class _ReasoningText(Struct):
    text: str = ""


class _Reasoning(Struct, rename="camel"):
    reasoning_text: _ReasoningText | None = None


class _Block(Struct):
    text: str = ""
    tool_use: _ToolUse | None = field(default=None, name="toolUse")
    reasoning: _Reasoning | None = field(default=None, name="reasoningContent")


class _Message(Struct):
    content: list[_Block]


class _Output(Struct):
    message: _Message


class _Usage(Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    cache_details: list[Any] | None = None


class _Reply(Struct, rename="camel"):
    output: _Output
    stop_reason: str
    usage: _Usage | None = None


_REPLY = msgspec.json.Decoder(_Reply)


@dataclass
class BedrockProtocol(ProviderProtocol):
    """Converse."""

    takes_blank_stops: ClassVar[bool] = False
    carries: ClassVar[tuple[str, ...] | None] = ("image_url",)
    shows_thoughts: ClassVar[bool] = True

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        system, messages = split_system(prompt.messages)
        limits: dict[str, Any] = {}
        if "temperature" not in self.drops:
            limits["temperature"] = min(1.0, decoding.temperature)
        if decoding.max_tokens is not None:
            limits["maxTokens"] = max(1, decoding.max_tokens)
        if decoding.top_p is not None:
            limits["topP"] = decoding.top_p
        if decoding.stop:
            limits["stopSequences"] = list(decoding.stop)
        body: dict[str, Any] = {"messages": _alternating(messages), "inferenceConfig": limits}
        if system:
            body["system"] = [{"text": system}, *marks_of_system(prompt.messages)]
        if tools := decoding.extra.get("tools"):
            body["toolConfig"] = {"tools": [_tool(tool) for tool in tools]}
        # What Converse has no name for goes to the model as it is; the model says so where it knows it neither.
        further = {name: value for name, value in decoding.extra.items() if name not in _NOT_SENT}
        if decoding.top_k is not None:
            further["top_k"] = decoding.top_k
        if further:
            body["additionalModelRequestFields"] = further
        parse = partial(parse_converse, offers_tools="toolConfig" in body)
        return Post(f"/model/{quote(self.model, safe='')}/converse", body, parse)


def _alternating(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages as Converse wants them: neighbours of one role are one message."""
    found: list[dict[str, Any]] = []
    for message in messages:
        role = "user" if message["role"] == "tool" else message["role"]
        if found and found[-1]["role"] == role:
            found[-1]["content"] += _content(message)
        else:
            found.append({"role": role, "content": _content(message)})
    return found


def parse_converse(body: bytes, *, offers_tools: bool = True) -> Response:
    """Return the response in a reply; its text is that of :func:`~.openai_shapes.answer_text`.

    Raises:
        msgspec.DecodeError: It is not what the protocol says.
    """
    reply = _REPLY.decode(body)
    blocks = reply.output.message.content
    calls = [(block.tool_use.name, block.tool_use.input) for block in blocks if block.tool_use]
    said = [block.reasoning.reasoning_text for block in blocks if block.reasoning]
    thoughts = "".join(each.text for each in said if each)
    usage = reply.usage or _Usage()
    found, hour = usage.cache_read_input_tokens or 0, _kept_for_an_hour(usage)
    written = max(usage.cache_write_input_tokens or 0, hour)
    return Response(
        texts=(answer_text("".join(block.text for block in blocks), calls, offers_tools=offers_tools),),
        finish_reasons=(REASONS.get(reply.stop_reason, reply.stop_reason),),
        thoughts=(thoughts,) if thoughts else (),
        usage=Usage(usage.input_tokens + found + written, usage.output_tokens, 0, found, written - hour, hour),
    )


def _kept_for_an_hour(usage: _Usage) -> int:
    """Return how many tokens went into the cache for an hour (``CacheDetail`` of the service model)."""
    details = usage.cache_details or ()
    return sum(count_in(each, "inputTokens") for each in details if isinstance(each, dict) and each.get("ttl") == "1h")


def _content(message: Message) -> list[dict[str, Any]]:
    content = message.get("content")
    if message["role"] == "tool":
        return [{"toolResult": {"toolUseId": result_id(message), "content": [{"text": message_text(message)}]}}]
    calls = calls_of(message)
    blocks = [_block(part) for part in content] if isinstance(content, list) else [{"text": content or ""}]
    if calls and not content:  # a block of text must not be blank
        blocks = []
    return blocks + [{"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}} for call in calls]


def _block(part: dict[str, Any]) -> dict[str, Any]:
    if part is CACHE_POINT:
        return part
    if part.get("type") == "text":
        return {"text": part["text"]}
    url = part.get("image_url")
    url = url["url"] if isinstance(url, dict) else url
    if not isinstance(url, str) or not url.startswith("data:"):
        raise CallError.of("engine", "Bedrock takes images as data URLs only")
    media_type, data = split_data_url(url)
    kind = media_type.rpartition("/")[2]
    return {"image": {"format": "jpeg" if kind == "jpg" else kind, "source": {"bytes": data}}}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool.get("function", tool)
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {
        "toolSpec": {
            "name": function["name"],
            "description": function.get("description") or function["name"],
            "inputSchema": {"json": schema},
        }
    }
