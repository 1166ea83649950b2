"""Likelihoods of text that the model did not write, from llama.cpp's server: one token of it after the other.

The server's ``/v1/completions`` knows no ``echo``: it refuses the field, or overlooks it and gives the likelihood of
the token that it wrote. Its own routes give what is needed. ``/tokenize`` says which tokens a text has; ``/completion``
writes one token behind tokens, and ``logit_bias`` decides which one. The log-probability that it reports (``n_probs``)
is that of the model's own distribution, before the bias and all sampling, so it is the token's likelihood, and the
likeliest token beside it says whether the model would have written it. What is read of a prompt stays in the
server's cache, so each token after the first costs one step.

Source: ``tools/server/README.md`` of llama.cpp (routes and fields, since December 2024); tried with the server of the
package xllamacpp 2026.10. Where a context ends follows lm-evaluation-harness 0.4.13 (``TemplateLM._encode_pair``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.openai_shapes import total_of
from proctor.engines.http.retrying_client import CallError, ReplyError
from proctor.ir import Pair, Response, Rolling, Score, Scored, Timing, Usage

Send = Callable[[str, Mapping[str, Any], Callable[[bytes], Response]], Awaitable[Response]]
"""Posts a body to a route of the server's own, and returns what is read of the reply, with its timing."""

Ids = Sequence[int]

FORCING_BIAS = 1e4
"""Added to the logit of the token that is to be written: far more than logits differ by, and finite as a float32."""

_LIKELIEST = 100
"""Tokens that are asked for at once: labels of choices are nearly always among them, and others are forced."""

_TOO_OLD = (
    "the server gives no log-probabilities of tokens on /completion (completion_probabilities with id and logprob): "
    "llama.cpp's does since December 2024"
)


class _Tokens(Struct):
    tokens: list[int]


class _Likely(Struct):
    id: int
    logprob: float


class _Written(_Likely):
    top_logprobs: list[_Likely] = []


class _Completion(Struct):
    completion_probabilities: list[_Written] = []
    truncated: bool = False


_TOKENS = msgspec.json.Decoder(_Tokens)
_COMPLETION = msgspec.json.Decoder(_Completion)


@dataclass(frozen=True, slots=True)
class LlamaServerScores:
    """Asks a server of llama.cpp for likelihoods.

    Attributes:
        send: Posts to it.
        start: The text of the token that stands before a text that has nothing before it; the model's first or last.
    """

    send: Send
    start: str = ""

    async def score(self, request: Score) -> list[Response]:
        """Return the likelihood of each continuation, or of a whole text: a response for each.

        Raises:
            CallError: The server does not answer, or not with log-probabilities.
        """
        parts = await self._parts(request)
        found: list[Response] = []
        known: Mapping[int, Scored] = {}
        if len(parts) > 1 and all(before == parts[0][0] and len(tokens) == 1 for before, tokens in parts):
            asked, known = await self._likeliest(parts[0][0])
            found.append(asked)
        for before, tokens in parts:
            value = known.get(tokens[0])
            found.append(await self._scored(before, tokens) if value is None else Response(scores=(value,)))
        return found

    async def _likeliest(self, before: Ids) -> tuple[Response, Mapping[int, Scored]]:
        """Return the likeliest tokens behind others, asked at once: choices of one token are mostly among them."""
        found: dict[int, Scored] = {}

        def read(body: bytes) -> Response:
            for place, each in enumerate(_completed(body).completion_probabilities[0].top_logprobs):
                found[each.id] = Scored(total_of([each.logprob]), not place, 1)
            return Response()

        response = await self.send("/completion", {**_body(before), "n_probs": _LIKELIEST}, read)
        return Response(usage=Usage(len(before), 1), timing=response.timing), found

    async def _scored(self, before: Ids, tokens: Ids) -> Response:
        values: list[_Written] = []
        timings: list[Timing] = []
        for place, token in enumerate(tokens):
            value, timing = await self._likelihood([*before, *tokens[:place]], token)
            values.append(value)
            timings.append(timing)
        is_greedy = all(value.top_logprobs and value.top_logprobs[0].id == value.id for value in values)
        return Response(
            scores=(Scored(total_of([value.logprob for value in values]), is_greedy, len(values)),),
            usage=Usage(len(before), len(tokens)),
            timing=Timing(timings[0].started, sum(each.seconds for each in timings)),
        )

    async def _parts(self, request: Score) -> list[tuple[Ids, Ids]]:
        """Return which tokens are read and which are scored, of each part of a request."""
        if isinstance(request, Rolling):
            ids = await self._tokens(request.text, special=True)
            if not request.from_start:
                return [(ids[:1], _some(ids[1:]))]
            start = await self._start()
            return [(ids[:1], _some(ids[1:])) if ids[:1] == start else (start, _some(ids))]
        return [await self._pair(each) for each in request.pairs]

    async def _pair(self, pair: Pair) -> tuple[Ids, Ids]:
        if pair.context.is_chat:
            raise CallError.of("engine", "log-likelihoods need a prompt that is one string, not chat messages")
        context = pair.context.text.rstrip()
        continuation = pair.context.text[len(context) :] + pair.continuation
        if not context:
            ids, start = await self._tokens(continuation, special=False), await self._start()
            return (start, _some(ids[1:])) if ids[:1] == start else (start, _some(ids))
        before = await self._tokens(context, special=True)
        whole = await self._tokens(context + continuation, special=True)
        return before, _some(whole[len(before) :])

    async def _start(self) -> list[int]:
        """Return the token before a text that has nothing before it."""
        found = await self._tokens("", special=True) or await self._tokens(self.start, special=False)
        if not found:
            raise CallError.of(
                "engine", "the model has no first token, so a text with nothing before it has no likelihood"
            )
        return found[:1]

    async def _tokens(self, text: str, *, special: bool) -> list[int]:
        """Return the tokens of a text, with the model's first token where ``special`` says so and the model has one."""
        found: list[int] = []
        special = special and not (self.start and text.startswith(self.start))

        def read(body: bytes) -> Response:
            found[:] = _TOKENS.decode(body).tokens
            return Response()

        await self.send("/tokenize", {"content": text, "add_special": special}, read)
        return found

    async def _likelihood(self, before: Ids, token: int) -> tuple[_Written, Timing]:
        """Return the likelihood of one token behind others, and how long that took."""
        found: list[_Written] = []

        def read(body: bytes) -> Response:
            found[:] = _completed(body).completion_probabilities[:1]
            if found[0].id != token:
                raise ReplyError("the server wrote another token than logit_bias wants")
            return Response()

        body = {**_body(before), "logit_bias": [[token, FORCING_BIAS]]}
        response = await self.send("/completion", body, read)
        return found[0], response.timing


def _completed(body: bytes) -> _Completion:
    """Return a reply."""
    reply = _COMPLETION.decode(body)
    if reply.truncated:
        raise CallError.of("context_too_long", "the server cut the beginning of the prompt: it is too long")
    if not reply.completion_probabilities:
        raise CallError.of("engine", _TOO_OLD)
    return reply


def _body(before: Ids) -> dict[str, Any]:
    """Return what to post for the likelihood of one token: greedy, without samplers that could drop it."""
    return {
        "prompt": list(before),
        "n_predict": 1,
        "n_probs": 1,
        "temperature": 0.0,
        "samplers": [],
        "cache_prompt": True,
    }


def _some(tokens: list[int]) -> list[int]:
    if not tokens:
        raise CallError.of("engine", "the continuation adds no tokens to its context")
    return tokens
