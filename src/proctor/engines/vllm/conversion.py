"""Converts requests for vLLM and its outputs: tokens to score, outputs as responses (``vllm/outputs.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.engines.encoder import RefusedError, Scorable
from proctor.ir import Failure, Response, Scored, TokenLogProbability, Usage

WINDOW = 4096
"""Requests handed to vLLM at once: it schedules them itself, and works best when it sees many."""


def score_of(piece: Scorable, output: Any) -> Scored:
    """Return the likelihood of the targets from the log-probabilities of the prompt's last tokens."""
    entries = output.prompt_logprobs[-len(piece.targets) :]
    chosen = [entry[token] for entry, token in zip(entries, piece.targets, strict=True)]
    return Scored(sum(each.logprob for each in chosen), all(each.rank == 1 for each in chosen), len(chosen))


def total(parts: Sequence[Scored]) -> Scored:
    """Return the likelihood of a text from those of its windows."""
    return Scored(
        sum(part.log_likelihood for part in parts),
        all(part.is_greedy for part in parts),
        sum(part.token_count for part in parts),
    )


def answer_of(output: Any, repeats: int) -> Response:
    """Return an output as a response, its answer as often as it is wanted."""
    written = sum(len(each.token_ids) for each in output.outputs)
    if broken := [each.finish_reason for each in output.outputs if each.finish_reason in ("abort", "error")]:
        return Response(failure=Failure("server_error", f"vLLM ended the answer with '{broken[0]}'"))
    return Response(
        texts=tuple(each.text for each in output.outputs) * repeats,
        finish_reasons=tuple(each.finish_reason or "" for each in output.outputs) * repeats,
        tokens=tuple(_tokens(each) for each in output.outputs if each.logprobs) * repeats,
        usage=Usage(len(output.prompt_token_ids), written),
    )


def _tokens(output: Any) -> tuple[TokenLogProbability, ...]:
    found = []
    for token, entry in zip(output.token_ids, output.logprobs, strict=True):
        top = sorted(entry.values(), key=lambda each: -each.logprob)
        pairs = tuple((each.decoded_token or "", each.logprob) for each in top)
        found.append(TokenLogProbability(entry[token].decoded_token or "", entry[token].logprob, pairs))
    return tuple(found)


def refusal(error: RefusedError) -> Response:
    """Return the response to a request that cannot be answered."""
    return Response(failure=Failure(error.kind, str(error), retryable=False))
