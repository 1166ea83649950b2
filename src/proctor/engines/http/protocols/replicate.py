"""Replicate's protocol: ``POST /models/{owner}/{name}/predictions`` with ``Prefer: wait`` (public HTTP API).

Shapes are those of Replicate's Python package 1.0.7 (``prediction.py``) and of the input schema of its language models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.anthropic import split_system
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, named
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import FILTERED, Decoding, Failure, Prompt, Response, Usage, message_text

_REFUSED = re.compile(r"NSFW|flagged as sensitive|\(E005\)|content polic", re.IGNORECASE)
"""How models there say that a filter stopped them (E005: Replicate's number for it)."""


class _Metrics(Struct):
    input_token_count: int | None = None
    output_token_count: int | None = None


class _Reply(Struct):
    status: str
    output: list[str] | str | None = None
    error: str | None = None
    metrics: _Metrics | None = None


_REPLY = msgspec.json.Decoder(_Reply)


@dataclass
class ReplicateProtocol(ProviderProtocol):
    """Predictions that are waited for."""

    carries: ClassVar[tuple[str, ...] | None] = ()

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        system, messages = split_system(prompt.messages)
        given: dict[str, Any] = {
            "prompt": "\n\n".join(message_text(message) for message in messages),
            **({} if "temperature" in self.drops else {"temperature": decoding.temperature}),
            **{name: value for name, value in decoding.extra.items() if name not in ("logprobs", "top_logprobs")},
        }
        if system:
            given["system_prompt"] = system
        given |= named(decoding, {name: name for name in ("max_tokens", "top_p", "top_k", "seed")})
        if decoding.stop:
            given["stop_sequences"] = ",".join(decoding.stop)
        return Post(f"/models/{self.model}/predictions", {"input": given}, parse_prediction)


def parse_prediction(body: bytes) -> Response:
    """Return the response in a reply; raise an error where there is none.

    Raises:
        CallError: The prediction is not made yet, or was refused.
        ReplyError: It failed.
        msgspec.DecodeError: The reply is not what the protocol says.
    """
    reply = _REPLY.decode(body)
    if reply.status in ("starting", "processing"):  # asked again at once, it would be run and paid for once more
        said = f"Replicate waits for a minute, and the prediction is still {reply.status}: the model is being started"
        raise CallError(Failure("timeout", f"{said} (run again with --retry-failed in some minutes)"))
    if _REFUSED.search(reply.error or ""):
        raise CallError.of(FILTERED, f"the prediction is {reply.status}: {reply.error}")
    if reply.status != "succeeded" or reply.output is None:
        raise ReplyError(f"the prediction is {reply.status}: {reply.error or 'no output'}")
    metrics = reply.metrics or _Metrics()
    return Response(
        texts=("".join(reply.output),),
        finish_reasons=("stop",),
        usage=Usage(metrics.input_token_count or 0, metrics.output_token_count or 0),
    )
