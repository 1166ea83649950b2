"""Servers with a route of their own for one prompt: text-generation-inference, Triton, MindIE, VITA.

One string goes in beside parameters, and the text comes back in a field of its own. Options, which the table of
providers gives: ``route`` and ``stream_route`` (``{model}`` is filled in); ``prompt`` (the field of the prompt);
``parameters`` (the field of the decoding; empty where its parts stand beside the prompt); ``max_tokens_name``;
``model_name`` (field of the model; empty: it stands nowhere, or in the route); ``reply`` (the field of the text);
``pieces`` (whether the parts of a streamed answer are joined; else its last part has the whole text); ``id`` (field
of a request's number); ``fields`` (further fields of the body); ``parts`` (whether the prompt is a list of parts: text
and addresses of media); ``always_streams``; ``says_stream`` (whether the body says so);
``greedy_without_temperature`` (whether the server takes a missing temperature for greedy, and refuses 0).

Sources: text-generation-inference's router (``/generate``, ``/generate_stream``), Triton's generate extension, MindIE's
``/infer`` and VITA's ``/generate`` as AISBench 3.1 asks them (``models/api_models``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, named
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import Decoding, Prompt, Response, content_key

_MEDIA = ("image_url", "video_url", "audio_url")
_DONE = b"[DONE]"


@dataclass
class NativeGenerateProtocol(ProviderProtocol):
    """One prompt in, one text out."""

    inlines_films: ClassVar[bool] = False

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        options = self.options
        is_stream = bool(options.get("stream") or options.get("always_streams"))
        body: dict[str, Any] = {options.get("prompt", "inputs"): self._prompt(prompt), **options.get("fields", {})}
        parameters = _parameters(decoding, options)
        if name := options.get("parameters"):
            body[name] = parameters
        else:
            body |= parameters
        if name := options.get("model_name"):
            body[name] = self.model
        if name := options.get("id"):
            body[name] = content_key("native", self.model, body)
        if options.get("says_stream"):
            body["stream"] = is_stream
        route = options.get("stream_route" if is_stream else "route") or options.get("route", "/generate")
        name = options.get("reply", "generated_text")
        joined = partial(_joined, name=name, pieces=bool(options.get("pieces")))
        parse = joined if is_stream else partial(_whole, name=name)
        return Post(route.replace("{model}", self.model), body, parse, is_stream)

    def _prompt(self, prompt: Prompt) -> Any:
        if self.options.get("parts"):
            return list(_parts(prompt))
        if prompt.is_chat:
            raise CallError.of(
                "engine", "this server takes one string, not chat messages; leave --apply-chat-template out"
            )
        return prompt.text


def _parameters(decoding: Decoding, options: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if decoding.temperature or not options.get("greedy_without_temperature"):
        found["temperature"] = decoding.temperature
    longest = options.get("max_tokens_name", "max_new_tokens")
    found |= named(
        decoding, {"max_tokens": longest, "stop": "stop", "top_p": "top_p", "top_k": "top_k", "seed": "seed"}
    )
    found |= decoding.extra
    return {name: value for name, value in found.items() if value is not None and name not in options.get("drop", ())}


def _parts(prompt: Prompt) -> Iterator[dict[str, Any]]:
    """Yield the parts of a prompt in their order: text, and the addresses of pictures, films and sounds."""
    if not prompt.is_chat:
        yield {"type": "text", "text": prompt.text}
        return
    for message in prompt.messages:
        content = message.get("content")
        parts: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        for part in parts:
            kind = part.get("type")
            if kind == "text":
                yield {"type": "text", "text": part.get("text", "")}
            elif kind in _MEDIA:
                address = part[kind].get("url") if isinstance(part[kind], Mapping) else part[kind]
                yield {"type": kind, kind: str(address).removeprefix("file://")}
            else:
                raise CallError.of("engine", f"this server does not take a part of the type '{kind}'")


def _whole(body: bytes, name: str) -> Response:
    """Return the response in one reply."""
    return Response(texts=(_text(_object(body), name),))


def _joined(body: bytes, name: str, pieces: bool) -> Response:
    """Return the response in a streamed reply: its pieces joined, or its last text."""
    texts = []
    for line in body.splitlines():
        data = line.removeprefix(b"data:").strip()
        if not data or data == _DONE or line.startswith((b":", b"event:", b"id:", b"retry:")):
            continue
        event = _object(data)
        if event.get(name) is not None:
            texts.append(_text(event, name))
    if not texts:
        raise ReplyError(f"no event of the reply has '{name}'")
    return Response(texts=("".join(texts) if pieces else texts[-1],))


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except ValueError as error:
        raise ReplyError(f"the reply is not JSON: {error}") from None
    if isinstance(found, list) and found:  # text-generation-inference on its root route
        found = found[0]
    if not isinstance(found, Mapping):
        raise ReplyError("the reply is not a JSON object")
    if found.get("error"):
        raise ReplyError(f"the server says: {found['error']}")
    return found


def _text(reply: Mapping[str, Any], name: str) -> str:
    found = reply.get(name)
    if isinstance(found, list):
        found = found[0] if found else ""
    if not isinstance(found, str):
        raise ReplyError(f"the reply has no text '{name}'")
    return found
