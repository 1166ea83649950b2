"""Likelihoods of choices from what vLLM writes behind a cached context, where they equal those of a prompt it reads.

For the log-probabilities of a prompt vLLM reads all of it anew, whatever its cache holds. Behind a context in the cache
it writes one token instead, and says the log-probabilities of all candidates (``logprob_token_ids``) or of the only
one that is allowed (``allowed_token_ids``); longer choices it writes where ``enable_trace_replay`` lets requests
dictate what is written (``trace_decode_token_ids``). Engines try each way on their first questions: versions differ.

Sources: ``sampling_params.py`` of vLLM 0.33, and its pull requests 43463 and 46701.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from proctor.engines.encoder import Scorable
from proctor.engines.vllm.conversion import score_of
from proctor.ir import Scored

Pieces = Sequence[Scorable]
_MOST_CANDIDATES = 128
"""vLLM takes no more ``logprob_token_ids``."""
_STEP = 8
"""Tokens of a prompt that are read anew in the time of writing one, at least: longer choices are not worth writing."""


class Way(NamedTuple):
    """A way to ask for a question's likelihoods.

    Attributes:
        name: What results call it.
        takes: Whether a question can be asked so.
        asks: Returns prompts, each with its sampling parameters.
        read: Returns the likelihoods in their outputs; raises ``LookupError`` or ``TypeError`` where they lack one.
    """

    name: str
    takes: Callable[[Pieces], bool]
    asks: Callable[[Pieces], list[tuple[list[int], dict[str, Any]]]]
    read: Callable[[Pieces, Sequence[Any]], list[Scored]]


def ways_with(options: Mapping[str, Any]) -> list[Way]:
    """Return the ways that may stand in for reading prompts where vLLM is loaded with these options, cheapest first."""
    if options.get("logprobs_mode", "raw_logprobs") != "raw_logprobs":
        return []
    return [_CANDIDATES, _FORCED, *([_REPLAYED] if options.get("enable_trace_replay") else [])]


def _is_one_token(pieces: Pieces) -> bool:
    return bool(pieces) and all(len(each.targets) == 1 and each.inputs == pieces[0].inputs for each in pieces)


def _candidates(pieces: Pieces) -> list[int]:
    return sorted({each.targets[0] for each in pieces})


def _read_candidates(pieces: Pieces, outputs: Sequence[Any]) -> list[Scored]:
    """Read all candidates from one step; ranks are true for the token alone that was written, the likeliest."""
    [written] = outputs[0].outputs
    found = written.logprobs[0]
    return [Scored(found[token].logprob, token == written.token_ids[0], 1) for [token] in (p.targets for p in pieces)]


def _read_written(pieces: Pieces, outputs: Sequence[Any]) -> list[Scored]:
    found = []
    for piece, output in zip(pieces, outputs, strict=True):
        [written] = output.outputs
        if list(written.token_ids) != list(piece.targets):
            raise LookupError("it wrote other tokens than it was told to")
        entries = [entry[token] for entry, token in zip(written.logprobs, piece.targets, strict=True)]
        found.append(Scored(sum(e.logprob for e in entries), all(e.rank == 1 for e in entries), len(entries)))
    return found


def _context(piece: Scorable) -> list[int]:
    return list(piece.inputs[: len(piece.inputs) - len(piece.targets) + 1])


def _dictated(targets: Sequence[int]) -> dict[str, Any]:
    return {"max_tokens": len(targets), "trace_decode_token_ids": list(targets)}


_CANDIDATES = Way(
    "by one token",
    lambda pieces: _is_one_token(pieces) and len(_candidates(pieces)) <= _MOST_CANDIDATES,
    lambda pieces: [(list(pieces[0].inputs), {"logprob_token_ids": _candidates(pieces)})],
    _read_candidates,
)
_FORCED = Way(
    "by one token each",
    _is_one_token,
    lambda pieces: [(list(p.inputs), {"logprobs": 1, "allowed_token_ids": list(p.targets)}) for p in pieces],
    _read_written,
)
_REPLAYED = Way(
    "by replay",
    lambda pieces: all(_STEP * len(each.targets) <= len(each.inputs) for each in pieces),
    lambda pieces: [(_context(p), {"logprobs": 1, "ignore_eos": True, **_dictated(p.targets)}) for p in pieces],
    _read_written,
)
BY_PROMPT = Way(
    "by prompt_logprobs",
    lambda _: True,
    lambda pieces: [([*each.inputs, each.targets[-1]], {"prompt_logprobs": 1}) for each in pieces],
    lambda pieces, outputs: [score_of(piece, output) for piece, output in zip(pieces, outputs, strict=True)],
)
"""What takes every request, the log-probabilities of whole texts too."""
