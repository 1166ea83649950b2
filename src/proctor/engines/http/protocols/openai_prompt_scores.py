"""Log-probabilities of a prompt's own tokens as vLLM gives them (``prompt_logprobs``), for texts and for chats.

Each token after the first has an entry: a map from token numbers to log-probabilities, the prompt's own token first
(vLLM 0.33, ``entrypoints/openai``). Of chats the list stands beside the choices, of completions in the choice.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from proctor.engines.http.protocols.openai_shapes import UsageReply, total_of, usage_of
from proctor.engines.http.retrying_client import CallError
from proctor.ir import Response, Scored


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
