"""Asking an OpenAI-compatible server: from a request to calls, and from their replies to a response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from msgspec import structs

from proctor.engines.calls import Caller, CallError
from proctor.engines.decoding import with_defaults
from proctor.engines.openai_wire import ECHO, chat_messages, decoding_body, parse_chat, parse_completion, parse_echo
from proctor.ir import Decoding, Generate, Pair, Response, Rolling, Score, Timing, Usage


@dataclass
class OpenAICalls:
    """What a run needs to know of a server; made once for each run.

    Attributes:
        url: Base URL, to which routes are appended.
        model: Name of the model on the server.
        defaults: Decoding for requests that leave it open.
        is_chat: Whether to use the chat endpoint.
        max_tokens_name: What the server calls the limit on generated tokens.
        has_n: Whether the server can give several answers to one request; else it is asked several times.
        query: Appended to every address (``?api-version=…``).
    """

    url: str
    model: str
    defaults: Mapping[str, Any]
    is_chat: bool = True
    max_tokens_name: str = "max_tokens"
    has_n: bool = True
    query: str = ""
    _last: tuple[Decoding, Decoding, dict[str, Any]] | None = field(default=None, init=False)

    async def generate(self, caller: Caller, request: Generate) -> Response:
        """Answer a request for text; raise :class:`CallError` where there is no answer."""
        decoding, body = self._decoding(request.decoding)
        if decoding.count > 1 and not self.has_n:
            return await self._several(caller, request, decoding)
        prompt = request.prompt
        if self.is_chat:
            body = {**body, "messages": chat_messages(prompt.messages)}
            return await self._text(caller, "/chat/completions", body, partial(parse_chat, count=decoding.count))
        if prompt.is_chat:
            raise CallError.of("engine", "the completions endpoint takes one string, not chat messages")
        body = {**body, "prompt": prompt.text}
        return await self._text(caller, "/completions", body, partial(parse_completion, count=decoding.count))

    async def score(self, caller: Caller, request: Score) -> Response:
        """Answer a request for log-likelihoods by echo; raise :class:`CallError` where there is no answer."""
        texts = [("", request.text)] if isinstance(request, Rolling) else [_words(pair) for pair in request.pairs]
        parts = []
        for context, continuation in texts:
            text = context + continuation
            body = {"model": self.model, "prompt": text, **ECHO, **self.defaults.get("extra", {})}
            parse = partial(parse_echo, text=text, start=len(context))
            parts.append(await self._text(caller, "/completions", body, parse))
        return merged(parts)

    async def _text(self, caller: Caller, route: str, body: Mapping[str, Any], parse: Any) -> Response:
        response, timing = await caller.call(f"{self.url}{route}{self.query}", body, parse)
        return Response(
            response.texts,
            response.scores,
            response.finish_reasons,
            response.tokens,
            response.usage,
            timing,
        )

    async def _several(self, caller: Caller, request: Generate, decoding: Decoding) -> Response:
        seeds = [None if decoding.seed is None else decoding.seed + index for index in range(decoding.count)]
        single = [structs.replace(decoding, count=1, seed=seed) for seed in seeds]
        return merged([await self.generate(caller, structs.replace(request, decoding=each)) for each in single])

    def _decoding(self, decoding: Decoding) -> tuple[Decoding, dict[str, Any]]:
        """Return the decoding with defaults, and the part of a body that says so; computed once for equal requests."""
        last = self._last
        if last is None or last[0] is not decoding:
            full = with_defaults(decoding, self.defaults)
            body = {"model": self.model, **decoding_body(full, self.max_tokens_name)}
            if not self.is_chat:
                body = _completion_log_probabilities(body)
            self._last = last = (decoding, full, body)
        return last[1], last[2]


def _completion_log_probabilities(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body as the completions endpoint wants it: there ``logprobs`` is a number, not a switch."""
    top = body.pop("top_logprobs", None)
    if body.get("logprobs") is True:
        body["logprobs"] = top if top is not None else 1
    elif body.get("logprobs") is False:
        del body["logprobs"]
    return body


def _words(pair: Pair) -> tuple[str, str]:
    if pair.context.is_chat:
        raise CallError.of("engine", "log-likelihoods need a prompt that is one string, not chat messages")
    return pair.context.text, pair.continuation


def merged(parts: Iterable[Response]) -> Response:
    """Return the responses to the parts of one request as one response."""
    found = list(parts)
    return Response(
        texts=tuple(text for part in found for text in part.texts),
        scores=tuple(score for part in found for score in part.scores),
        finish_reasons=tuple(reason for part in found for reason in part.finish_reasons),
        tokens=tuple(tokens for part in found for tokens in part.tokens),
        usage=Usage(
            sum(part.usage.prompt_tokens for part in found),
            sum(part.usage.completion_tokens for part in found),
        ),
        timing=Timing(found[0].timing.started, sum(part.timing.seconds for part in found)),
    )
