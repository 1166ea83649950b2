"""The OpenAI protocol, chat and completions, and its relatives that only rename a field or a route.

Options: ``is_chat`` (default true), ``max_tokens_name``, ``model_name`` (name of the field that holds the model),
``route`` (of chat), ``drop`` (fields that the server does not accept), ``rename`` (fields that it calls otherwise),
``fields`` (further fields of the body), ``stream``, ``counts_logprobs`` (whether ``logprobs`` is a number in chat, too,
as it is in completions), ``stream_options`` (default true; false where usage comes by itself and the field is refused),
``scoring`` (how likelihoods are asked for: ``echo``, ``auto``, ``prompt_logprobs``, ``llamacpp``), ``start`` (of its
server: the text of the token before a text that has nothing before it), ``reasons`` (why ways of asking for choices are
not taken, by their names: what is found out is added).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct, structs

from proctor.engines.http.inline_media import types_of_parts, with_sounds_inside
from proctor.engines.http.protocols.choice_servers import server_kind
from proctor.engines.http.protocols.choice_ways import ChoiceWays
from proctor.engines.http.protocols.llama_server import LlamaServerScores
from proctor.engines.http.protocols.openai_echo import (
    ECHO,
    WITHOUT_FIRST,
    BoundaryError,
    FirstTokenError,
    parse_context,
    parse_echo,
)
from proctor.engines.http.protocols.openai_shapes import (
    FewerAnswersError,
    UsageReply,
    chat_messages,
    decoding_body,
    parse_chat,
    parse_completion,
    total_of,
    usage_of,
)
from proctor.engines.http.protocols.openai_stream import parse_stream
from proctor.engines.http.protocols.protocol import Post, ProviderProtocol, merged
from proctor.engines.http.retrying_client import Caller, CallError
from proctor.engines.http.thinking_words import provider_at
from proctor.engines.model_files import token_before_texts
from proctor.ir import Decoding, Generate, Pair, Prompt, Response, Rolling, Score, Scored, Timing
from proctor.logs import get_logger


class _Token(Struct):
    logprob: float
    rank: int | None = None


_Listed = list[dict[str, _Token] | None]


class _Choice(Struct):
    prompt_logprobs: _Listed | None = None


class _Reply(Struct):
    choices: list[_Choice] = []
    prompt_logprobs: _Listed | None = None
    usage: UsageReply | None = None


_REPLY = msgspec.json.Decoder(_Reply)
_LIKELIEST = 1
_PROMPT_WITHOUT_FIRST = "prompt_logprobs without the first token"
_LEFT_OUT = (
    "'%s' has no likelihood of the first token of a text with nothing before it: the token is left out, where other "
    "engines and lm-eval count it after the token that the model begins with (prefix_token=TEXT names it to this one, "
    "or tokenizer=FOLDER)"
)


def parse_prompt_scores(body: bytes) -> Response:
    """Return the likelihood of a whole prompt without its first token, which nothing comes before.

    Raises:
        CallError: The server gives no log-probabilities of prompts.
        msgspec.DecodeError: The reply is not what the protocol says.
    """
    reply = _REPLY.decode(body)
    listed: Any = reply.prompt_logprobs or next((each.prompt_logprobs for each in reply.choices), None)
    tokens = [next(iter(each.values())) for each in listed or () if each]
    if not tokens:
        raise CallError.of("engine", "the server gives no log-probabilities of prompts: vLLM does (prompt_logprobs)")
    total = total_of([token.logprob for token in tokens])
    is_greedy = all(token.rank == _LIKELIEST for token in tokens)
    return Response(scores=(Scored(total, is_greedy, len(tokens)),), usage=usage_of(reply.usage))


_REFUSES_N = re.compile(
    r"\bn\b.{0,5}? (?:number )?(?:must be (?:1\b|at most |equal to 1\b)|is not supported|> 1)"
    r"|field 'n': value must be",
    re.IGNORECASE,
)
"""How servers say that they do not give so many answers: vLLM where decoding is greedy, Groq more than one, llama.cpp's
server more than it has slots."""

_SOUNDS_INSIDE = frozenset({"open-ai", "azure", "openrouter", "gemini", "vertex-ai"})
"""Providers that take sounds as ``input_audio`` alone; vLLM and SGLang take addresses (``audio_url``)."""

_IS_GEMINI = re.compile("gemini", re.IGNORECASE)
"""Models whose thoughts Google counts in ``total_tokens`` alone."""

MOST_COMPLETION_TOKENS = 256
"""Of a completion where neither exam nor engine has a limit, as in ``hf`` and ``vllm``: by itself the endpoint ends
every answer after 16 tokens (OpenAI, vLLM, SGLang), which nobody would notice."""


@dataclass
class OpenAIProtocol(ProviderProtocol):
    """Chat, completions, and echo log-probabilities."""

    has_n: bool = True
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _ways: ChoiceWays | None = field(default=None, init=False)
    _shared: tuple[Decoding, Mapping[str, Any], dict[str, Any]] | None = field(default=None, init=False)

    @property
    def lays_out(self) -> bool:
        """Whether it is the chat endpoint."""
        return bool(self.options.get("is_chat", True))

    def post(self, prompt: Prompt, decoding: Decoding) -> Post:
        """Return the post; see :class:`ProviderProtocol`."""
        shared = self._body(decoding)
        is_stream = self.options.get("stream", False)
        if is_stream:
            shared = {**shared, "stream": True}
            if self.options.get("stream_options", True):
                shared["stream_options"] = {"include_usage": True}
        if self.options.get("is_chat", True):
            body = {**shared, "messages": chat_messages(prompt.messages)}
            route = self.options.get("route", "/chat/completions")
            parse_reply = partial(
                parse_stream if is_stream else parse_chat,
                count=decoding.count,
                thoughts_in_total=_IS_GEMINI.search(self.model) is not None,
                offers_tools="tools" in body or "functions" in body,
            )
            return Post(route, body, parse_reply, is_stream)
        if prompt.is_chat:
            raise CallError.of("engine", "the completions endpoint takes one string, not chat messages")
        limit = self.options.get("max_tokens_name", "max_tokens")
        body = {limit: MOST_COMPLETION_TOKENS + self.thinking.allowance, **shared, "prompt": prompt.text}
        parse = partial(parse_stream if is_stream else parse_completion, count=decoding.count)
        return Post("/completions", body, parse, is_stream)

    def inlined(self, prompt: Prompt) -> Prompt:
        """Return the prompt with its media as URLs, sounds as data where the provider takes no address of them."""
        found = super().inlined(prompt)
        if isinstance(found.payload, str) or "audio_url" not in types_of_parts(found.payload):
            return found
        return with_sounds_inside(found) if provider_at(self.url) in _SOUNDS_INSIDE else found

    def generate(self, caller: Caller, request: Generate) -> Coroutine[Any, Any, Response]:
        """Answer a request for text, one at a time if the server gives no more; see :class:`ProviderProtocol`."""
        if self.decoding_of(request).count == 1 or not self.has_n:
            return super().generate(caller, request)
        return self._several(caller, request)

    async def _several(self, caller: Caller, request: Generate) -> Response:
        try:
            return await super().generate(caller, request)
        except CallError as error:
            if not (isinstance(error, FewerAnswersError) or _REFUSES_N.search(error.failure.message)):
                raise
        self.has_n = False
        return await super().generate(caller, request)

    async def score(self, caller: Caller, request: Score) -> Response:
        """Answer a request for log-likelihoods by echo, or as ``scoring`` says; see :class:`ProviderProtocol`."""
        if self.options.get("scoring") == "auto":
            async with self._looking:
                await self._look(caller)
        if self._ways is not None:
            return await self._ways.score(request, partial(self._by_echo, caller, request))
        return await self._by_echo(caller, request)

    async def _by_echo(self, caller: Caller, request: Score) -> Response:
        if self.options.get("scoring") == "llamacpp":
            asked = LlamaServerScores(partial(self._send_to_root, caller), self.options.get("start", ""))
            return merged(await asked.score(request))
        if isinstance(request, Rolling) and self.options.get("scoring") == "prompt_logprobs":
            found = await self.send(caller, self._prompt_scores(request))
            is_left_out = request.from_start and not self.options.get("is_chat", True)
            return structs.replace(found, way=_PROMPT_WITHOUT_FIRST) if is_left_out else found
        if self.options.get("is_chat", True) and self.options.get("scoring") == "prompt_logprobs":
            raise CallError.of("engine", "a chat service gives losses of whole conversations only")
        texts = [("", request.text)] if isinstance(request, Rolling) else [_words(pair) for pair in request.pairs]
        skips_first = isinstance(request, Rolling) and not request.from_start
        prefix = "" if skips_first else self.options.get("prefix_token", "")
        unknown: FirstTokenError | None = None
        try:
            whole = await self._echoed(caller, texts, prefix, skips_first=skips_first)
        except FirstTokenError as error:
            whole, unknown = Response(way=WITHOUT_FIRST, usage=error.usage), error
        if whole.way != WITHOUT_FIRST:
            return whole
        tokenizer, first = self.options.get("tokenizer"), self.options.get("prefix_token", "")
        if tokenizer:  # looked into once: the server adds no token before any text that comes
            first = token_before_texts(tokenizer)
            self.options = {**self.options, "prefix_token": first, "tokenizer": None}
        if first:
            again = await self._echoed(caller, texts, first, skips_first=False)
            return structs.replace(again, usage=whole.usage + again.usage)
        if unknown is not None:
            raise unknown
        if WITHOUT_FIRST not in (said := self.options.get("reasons", {})):
            said[WITHOUT_FIRST] = _LEFT_OUT
            get_logger().warning(_LEFT_OUT, self.model)
        return whole

    async def _echoed(
        self, caller: Caller, texts: Sequence[tuple[str, str]], prefix: str, *, skips_first: bool
    ) -> Response:
        """Return the likelihoods of texts behind what stands before them, or behind the prefix where nothing does."""
        parts = []
        for before, continuation in texts:
            context = before or prefix
            text = context + continuation
            parse = partial(parse_echo, text=text, start=len(context), skips_first=skips_first)
            try:
                parts.append(await self._echo(caller, text, parse))
            except BoundaryError as error:
                bare = context.rstrip() or context  # blanks at its end go to the continuation, as in lm-eval
                alone = await self._echo(caller, bare, partial(parse_context, text=bare))
                score = parse(error.body, context_tokens=alone.texts)
                parts.append(merged([score, structs.replace(alone, texts=())]))
        return merged(parts)

    async def _look(self, caller: Caller) -> None:
        """Find out which server it is, and how it is asked for choices."""
        if self.options.get("scoring") != "auto":
            return
        kind, properties = await server_kind(caller, self.url.removesuffix("/v1"))
        found: dict[str, Any] = {"scoring": "echo"}
        if kind == "llamacpp":
            names = (self.options.get("prefix_token"), properties.get("bos_token"), properties.get("eos_token"))
            found = {"scoring": kind, "start": next(filter(None, names), "")}
        elif kind:
            extra, reasons = self.defaults.get("extra", {}), self.options.get("reasons", {})
            self._ways = ChoiceWays(kind, partial(self._call_root, caller), self.model, reasons, extra)
        self.options = {**self.options, **found}

    async def _call_root(
        self, caller: Caller, route: str, body: Mapping[str, Any], parse: Callable[[bytes], Any]
    ) -> tuple[Any, Timing]:
        return await caller.call(f"{self.url.removesuffix('/v1')}{route}{self.query}", body, parse)

    async def _echo(self, caller: Caller, text: str, parse: Callable[[bytes], Response]) -> Response:
        body = {"model": self.model, "prompt": text, **ECHO, **self.defaults.get("extra", {})}
        return await self.send(caller, Post("/completions", body, parse))

    async def _send_to_root(
        self, caller: Caller, route: str, body: Mapping[str, Any], parse: Callable[[bytes], Response]
    ) -> Response:
        """Post to a route of the server's own, which does not lie below ``/v1``."""
        found, timing = await self._call_root(caller, route, body, parse)
        response: Response = structs.replace(found, timing=timing)
        return response

    def _prompt_scores(self, request: Rolling) -> Post:
        """Return what to post for the log-probabilities of a prompt's own tokens; one token is written, and unread."""
        body = {**self._names(), "max_tokens": 1, "prompt_logprobs": 0, **self.defaults.get("extra", {})}
        if not self.options.get("is_chat", True):
            return Post("/completions", {**body, "prompt": request.text}, parse_prompt_scores)
        messages = request.messages or ({"role": "user", "content": request.text},)
        return Post("/chat/completions", {**body, "messages": chat_messages(messages)}, parse_prompt_scores)

    def _body(self, decoding: Decoding) -> dict[str, Any]:
        """Return the part of a body that requests with this decoding share."""
        if self._shared is None or self._shared[0] is not decoding or self._shared[1] is not self.options:
            body = decoding_body(decoding, self.options.get("max_tokens_name", "max_tokens"))
            for name in self.options.get("drop", ()):
                body.pop(name, None)
            rename = self.options.get("rename", {})
            body = {rename.get(name, name): value for name, value in body.items()}
            if not self.options.get("is_chat", True) or self.options.get("counts_logprobs"):
                body = _completion_log_probabilities(body)
            self._shared = (decoding, self.options, {**self._names(), **self.options.get("fields", {}), **body})
        return self._shared[2]

    def _names(self) -> Mapping[str, Any]:
        name = self.options.get("model_name", "model")
        return {name: self.model} if name else {}


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
