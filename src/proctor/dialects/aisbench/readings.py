"""Responses read as each inferencer records them: an answer, several, the label that won, what was said in turns."""
# ruff: noqa: ARG001 - readings are called with all there is

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from proctor.dialects.aisbench.function_calls import returned_calls
from proctor.dialects.aisbench.inferencers import CALL, CHAT, CLP, GENERATE, LL, PPL, ROUNDS, TEXT_PPL
from proctor.ir import Converse, Decoding, Prompt, Request, Response, Rolling
from proctor.ir.question import Answered
from proctor.scoring.choice import first_largest, first_smallest
from proctor.scoring.grading.protocols import Reading

TURN = "\0turn"
"""The field of a reading that says which turn of a conversation it is; no column of a dataset can have this name."""


class Reader:
    """Reads the responses to a row as its inferencer records them.

    Args:
        kind: What the inferencer asks.
        output: The column of the right answer.
        project: Whose rule for losses counts.
        in_rounds: Whether the turns of a conversation are one answer, a list of rounds, and not answers of their own.
    """

    def __init__(self, kind: str, output: str | None, project: str = "opencompass", *, in_rounds: bool = False) -> None:
        self.output = output
        self._read = _rounds if in_rounds else None if kind == CHAT else _READ[kind]
        if kind == PPL and project == "aisbench":
            self._read = partial(_least_perplexed, first_token=0)

    def __call__(self, answered: Answered) -> Sequence[Reading]:
        """Return what was answered: one thing, or one for each turn of a conversation."""
        question = answered.question
        if self._read is None:
            return _turns(answered)
        gold = question.instance.get(self.output) if self.output else None
        prompt = prompt_of(question.requests[0])
        return (Reading(self._read(answered, question.labels), gold, question.instance, prompt),)


def _turns(answered: Answered) -> Sequence[Reading]:
    question = answered.question
    texts = [text for response in answered.responses for text in response.texts]
    each = zip(texts, question.exchange.references, strict=True)
    return [
        Reading(text, gold, {**question.instance, TURN: turn}, question.exchange.source)
        for turn, (text, gold) in enumerate(each)
    ]


def _rounds(each: Answered, labels: Sequence[Any]) -> Any:
    """Return a conversation as judges see it: who said what in each round."""
    request = each.question.requests[0]
    if not isinstance(request, Converse):
        return _generated(each, ())
    said = iter(text for response in each.responses for text in response.texts)
    asked = [turn for turn in request.turns if turn is not None and turn["role"] != "system"]
    return [
        {"round": number, "user": turn.get("content"), "assistant": text}
        for number, (turn, text) in enumerate(zip(asked, said, strict=False), 1)
    ]


def _generated(each: Answered, labels: Sequence[Any]) -> Any:
    texts = each.responses[0].texts
    return list(texts) if len(texts) > 1 else texts[0] if texts else ""


def _said_in_turns(each: Answered, labels: Sequence[Any]) -> list[str]:
    """Return what a conversation has in the model's turns, those included that the prompt had words for."""
    request = each.question.requests[0]
    said = iter(text for response in each.responses for text in response.texts)
    turns = request.turns if isinstance(request, Converse) else ()
    own = (turn for turn in turns if turn is None or turn["role"] == "assistant")
    return [next(said, "") if turn is None else str(turn.get("content")) for turn in own]


def _called(each: Answered, labels: Sequence[Any]) -> Any:
    """Return the calls of an answer where tools were given; else its words."""
    if "tools" not in getattr(each.question.requests[0], "decoding", Decoding()).extra:
        return _generated(each, labels)
    response = each.responses[0]
    reason = response.finish_reasons[0] if response.finish_reasons else ""
    return returned_calls(response.texts[0] if response.texts else "", reason)


def _least_perplexed(each: Answered, labels: Sequence[Any], first_token: int = 1) -> Any:
    """Return the label whose prompt has the least loss per token; of equals, the first.

    OpenCompass counts the first token, which has no loss, among the tokens; AISBench does not.
    """
    return labels[first_smallest(losses_of(each, first_token))]


def losses_of(each: Answered, first_token: int) -> list[float]:
    """Return the loss of each label's prompt.

    Args:
        each: Question and responses of a dataset that compares losses.
        first_token: 1 where the first token, which has no loss, counts among the tokens; else 0.
    """
    if isinstance(each.question.requests[0], Rolling):
        return [_loss(response, first_token) for response in each.responses]
    pairs = zip(each.responses[::2], each.responses[1::2], strict=True)
    return [_loss(answer) - _loss(alone) for answer, alone in pairs]


def _loss(response: Response, first_token: int = 0) -> float:
    """Return the mean negative log-likelihood; upstream divides by all tokens, the unscored first one too."""
    scored = response.scores[0]
    return -scored.log_likelihood / (scored.token_count + first_token)


def _most_likely(each: Answered, labels: Sequence[Any]) -> Any:
    values = [response.scores[0].log_likelihood for response in each.responses]
    return labels[first_largest(values)]


def _probabilities(each: Answered, labels: Sequence[Any]) -> list[float]:
    values = [scored.log_likelihood for scored in each.responses[0].scores]
    weights = [math.exp(value - max(values)) for value in values]
    return [weight / sum(weights) for weight in weights]


def _own_loss(each: Answered, labels: Sequence[Any]) -> float:
    return _loss(each.responses[0], first_token=1)


_READ = {
    GENERATE: _generated,
    PPL: _least_perplexed,
    LL: _most_likely,
    CLP: _probabilities,
    TEXT_PPL: _own_loss,
    CALL: _called,
    ROUNDS: _said_in_turns,
}


def prompt_of(request: Request) -> Any:
    """Return the words of a request: a text, or messages."""
    if isinstance(request, Converse):
        return [{"role": "assistant", "content": ""} if turn is None else turn for turn in request.turns]
    prompt = getattr(request, "prompt", None)
    return prompt.payload if isinstance(prompt, Prompt) else getattr(request, "text", "")
