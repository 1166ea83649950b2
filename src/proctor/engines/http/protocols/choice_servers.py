"""The ways in which servers give the likelihood of what stands behind a context; :mod:`.choice_ways` takes them.

vLLM writes tokens by their numbers where ``return_tokens_as_token_ids`` says so (``token_id:32``), and with
``return_token_ids`` the tokens of the prompt; SGLang's own ``/generate`` reads and writes numbers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, structs

from proctor.engines.http.protocols.openai_shapes import UsageReply, total_of, usage_of
from proctor.engines.http.protocols.protocol import merged
from proctor.engines.http.protocols.reasoning import model_of
from proctor.engines.http.retrying_client import Caller, CallError, ReplyError
from proctor.ir import Failure, Response, Scored, Timing, Usage

Ids = list[int]
_MOST_CANDIDATES = 128
"""vLLM takes no more ``logprob_token_ids``."""

Send = Callable[[str, Mapping[str, Any], Callable[[bytes], Any]], Awaitable[tuple[Any, Timing]]]
"""Posts a body to a route of a server, and returns what a reader makes of the reply, with its timing."""


class Asked(NamedTuple):
    """A question as a server reads it.

    Attributes:
        text: What stands before the choices.
        words: The choices, with the blanks that belong to them.
        tail: The tokens of the text's end.
        ids: The tokens of each choice behind it.
        context: The tokens of the whole text, where they are known.
    """

    text: str
    words: tuple[str, ...]
    tail: Ids
    ids: tuple[Ids, ...]
    context: Ids | None = None


class ContextError(CallError):
    """The whole text does not end with the tokens that its end has by itself."""

    def __init__(self) -> None:
        super().__init__(Failure("engine", "the context has other tokens than its end by itself", retryable=False))


Ask = Callable[[Send, str, Asked, Mapping[str, Any]], Awaitable[Response]]


class Way(NamedTuple):
    """A way to ask.

    Attributes:
        name: What results call it.
        ask: Asks a question; raises ``CallError`` where there is no answer.
        takes_long: Whether choices may have several tokens.
        needs_context: Whether the tokens of the whole context are sent.
    """

    name: str
    ask: Ask
    takes_long: bool = False
    needs_context: bool = False

    def applies(self, asked: Asked) -> bool:
        """Whether a question can be asked so."""
        return self.takes_long or (all(len(each) == 1 for each in asked.ids) and len(asked.ids) <= _MOST_CANDIDATES)


def ways_of(kind: str) -> Sequence[Way]:
    """Return the ways of a server, cheapest first."""
    return _WAYS[kind]


_SIGNS = (
    ("vllm", "/version", "version"),
    ("sglang", "/get_model_info", "model_path"),
    ("llamacpp", "/props", "default_generation_settings"),
)
"""Where each server says what it is, and with which word."""
_LOOKING_SECONDS = 10.0


async def server_kind(caller: Caller, root: str) -> tuple[str, Mapping[str, Any]]:
    """Return which server it is, and what it says of itself; an empty name where it is none of those known here."""
    for kind, route, word in _SIGNS:
        reply = await caller.look(f"{root}{route}", _LOOKING_SECONDS)
        try:
            found = msgspec.json.decode(reply.body) if reply is not None else None
        except (msgspec.DecodeError, ValueError, RecursionError):
            continue
        if isinstance(found, Mapping) and word in found:
            return kind, found
    return "", {}


class _Tokens(Struct):
    tokens: Ids


_TOKENS = msgspec.json.Decoder(_Tokens)


def read_tokens(body: bytes) -> Ids:
    """Return the tokens in the reply to ``/tokenize``."""
    return _TOKENS.decode(body).tokens


# -- vLLM -------------------------------------------------------------------------------------------------------------


class _LogProbs(Struct):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(Struct):
    logprobs: _LogProbs | None = None
    prompt_token_ids: Ids | None = None


class _Completion(Struct):
    choices: list[_Choice]
    usage: UsageReply | None = None
    model: Any = None


_COMPLETION = msgspec.json.Decoder(_Completion)
_NAME = "token_id:"


async def _vllm_candidates(send: Send, model: str, asked: Asked, extra: Mapping[str, Any]) -> Response:
    """Ask for the log-probabilities of all candidates at once."""
    wanted = [ids[0] for ids in asked.ids]

    def read(body: bytes) -> Response:
        reply, found = _completed(body, asked)
        top = (found.top_logprobs or [None])[0] or {}
        missing = [token for token in wanted if f"{_NAME}{token}" not in top]
        if missing:
            raise ReplyError(f"it leaves out {len(missing)} of {len(wanted)} tokens that logprob_token_ids names")
        values = [top[f"{_NAME}{token}"] for token in wanted]
        return _response(reply, [_one(value, top.values()) for value in values])

    body = {"logprobs": 1, "logprob_token_ids": sorted(set(wanted)), **_vllm_body(model, asked, extra)}
    return await _answered(send, "/v1/completions", body, read)


async def _vllm_forced(send: Send, model: str, asked: Asked, extra: Mapping[str, Any]) -> Response:
    """Let the model write nothing but a candidate, for one after the other: the context is in the cache by then."""
    parts = []
    for [token] in asked.ids:

        def read(body: bytes, token: int = token) -> Response:
            reply, found = _completed(body, asked)
            value = found.token_logprobs[0] if found.token_logprobs else None
            if found.tokens[0] != f"{_NAME}{token}" or value is None:
                raise ReplyError("it wrote another token than allowed_token_ids allows")
            top = (found.top_logprobs or [None])[0] or {}
            return _response(reply, [_one(value, top.values())])

        body = {"logprobs": 1, "allowed_token_ids": [token], **_vllm_body(model, asked, extra)}
        parts.append(await _answered(send, "/v1/completions", body, read))
    return merged(parts)


def _vllm_body(model: str, asked: Asked, extra: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": model,
        "prompt": asked.text,
        "max_tokens": 1,
        "temperature": 0.0,
        "return_tokens_as_token_ids": True,
        "return_token_ids": True,
        **extra,
    }


def _completed(body: bytes, asked: Asked) -> tuple[_Completion, _LogProbs]:
    """Return a reply, and the log-probabilities in it."""
    reply = _COMPLETION.decode(body)
    found = reply.choices[0].logprobs if reply.choices else None
    if found is None or not found.tokens:
        raise ReplyError("it has no log-probabilities of what it wrote")
    prompt = reply.choices[0].prompt_token_ids
    if asked.context is None and (prompt is None or prompt[len(prompt) - len(asked.tail) :] != asked.tail):
        raise ContextError
    return reply, found


def _one(value: float, others: Any) -> Scored:
    return Scored(total_of([value]), value >= max(others, default=value), 1)


def _response(reply: _Completion, scores: Sequence[Scored]) -> Response:
    return Response(scores=tuple(scores), usage=usage_of(reply.usage), model=model_of(reply.model))


# -- SGLang -----------------------------------------------------------------------------------------------------------

_Listed = list[tuple[float | None, int, Any]]


class _Meta(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    input_token_logprobs: _Listed = []
    input_top_logprobs: list[_Listed | None] = []
    output_token_logprobs: _Listed = []
    output_token_ids_logprobs: list[_Listed | None] = []


class _Generated(Struct):
    meta_info: _Meta


_GENERATED = msgspec.json.Decoder(_Generated)
_ALL_GENERATED = msgspec.json.Decoder(list[_Generated])


async def _sglang_candidates(send: Send, model: str, asked: Asked, extra: Mapping[str, Any]) -> Response:  # noqa: ARG001
    """Ask for the log-probabilities of all candidates at once."""
    wanted = [ids[0] for ids in asked.ids]

    def read(body: bytes) -> Response:
        meta = _GENERATED.decode(body).meta_info
        listed = meta.output_token_ids_logprobs[0] if meta.output_token_ids_logprobs else None
        top = {token: value for value, token, _ in listed or () if value is not None}
        if missing := [token for token in wanted if token not in top]:
            raise ReplyError(f"it leaves out {len(missing)} of {len(wanted)} tokens that token_ids_logprob names")
        best = [value for value, _, _ in meta.output_token_logprobs[:1] if value is not None]
        return Response(scores=tuple(_one(top[token], best) for token in wanted), usage=_usage(meta))

    body = {"input_ids": asked.context, "token_ids_logprob": sorted(set(wanted)), **_SGLANG, **extra}
    return await _answered(send, "/generate", body, read)


async def _sglang_suffixes(send: Send, model: str, asked: Asked, extra: Mapping[str, Any]) -> Response:  # noqa: ARG001
    """Ask for the log-probabilities of the choices' tokens alone, from the last token of the context on."""
    context = asked.context or []

    def read(body: bytes) -> Response:
        found = [each.meta_info for each in _ALL_GENERATED.decode(body)]
        if len(found) != len(asked.ids):
            raise ReplyError(f"{len(asked.ids)} texts were sent, {len(found)} answers came")
        scores = tuple(_suffix(meta, ids) for meta, ids in zip(found, asked.ids, strict=True))
        return Response(scores=scores, usage=sum(map(_usage, found), Usage()))

    body = {
        "input_ids": [[*context, *ids] for ids in asked.ids],
        "logprob_start_len": [max(0, len(context) - 1)] * len(asked.ids),
        "top_logprobs_num": [1] * len(asked.ids),
        **_SGLANG,
        **extra,
    }
    return await _answered(send, "/generate", body, read)


_SGLANG = {"sampling_params": {"max_new_tokens": 1, "temperature": 0.0}, "return_logprob": True}


def _suffix(meta: _Meta, ids: Ids) -> Scored:
    """Return the likelihood of the last tokens of a prompt."""
    last = meta.input_token_logprobs[len(meta.input_token_logprobs) - len(ids) :]
    values = [value for value, _, _ in last if value is not None]
    if [token for _, token, _ in last] != ids or len(values) < len(ids):
        raise ReplyError("it does not give the log-probabilities of all tokens of the choice")
    tops = meta.input_top_logprobs[-len(ids) :] if len(meta.input_top_logprobs) >= len(ids) else [None] * len(ids)
    greedy = all(top and top[0][1] == token for top, token in zip(tops, ids, strict=True))
    return Scored(total_of(values), greedy, len(ids))


def _usage(meta: _Meta) -> Usage:
    return Usage(meta.prompt_tokens, meta.completion_tokens, cached_tokens=meta.cached_tokens)


# -- both -------------------------------------------------------------------------------------------------------------


async def _answered(send: Send, route: str, body: Mapping[str, Any], read: Callable[[bytes], Response]) -> Response:
    """Post; a reply that is not what it should be is none that asking again would mend."""

    def final(reply: bytes) -> Response:
        try:
            return read(reply)
        except (ReplyError, msgspec.DecodeError) as error:
            raise CallError.of("engine", str(error)) from None

    response, timing = await send(route, body, final)
    found: Response = structs.replace(response, timing=timing)
    return found


_WAYS = {
    "vllm": (Way("by one token", _vllm_candidates), Way("by one token each", _vllm_forced)),
    "sglang": (
        Way("by one token", _sglang_candidates, needs_context=True),
        Way("by suffix", _sglang_suffixes, takes_long=True, needs_context=True),
    ),
}
