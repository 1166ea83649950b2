"""Calls of tools in messages, which are in OpenAI's shape, for protocols that have shapes of their own."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from proctor.ir import Message


class ToolCall(NamedTuple):
    """A call that the assistant made; ``arguments`` are an object."""

    id: str
    name: str
    arguments: Any


def calls_of(message: Message) -> list[ToolCall]:
    """Return the calls in a message of the assistant; a call without an id is known by its position."""
    return [_call(call, position) for position, call in enumerate(message.get("tool_calls") or ())]


def result_id(message: Message) -> str:
    """Return the id of the call that a tool's message answers."""
    return str(message.get("tool_call_id") or "call_0")


def _call(call: Any, position: int) -> ToolCall:
    function = call.get("function", call)
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except msgspec.DecodeError:
            arguments = {"arguments": arguments}
    return ToolCall(str(call.get("id") or f"call_{position}"), function["name"], {} if arguments is None else arguments)
