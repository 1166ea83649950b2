"""An engine that says what it is told to: for tests, examples and dry runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from types import CodeType
from typing import Annotated, Any

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Engine
from proctor.errors import ScoringError, ValidationError
from proctor.ir import (
    Answers,
    Failure,
    Generate,
    Pair,
    Prompt,
    Response,
    Rolling,
    Score,
    Scored,
    TokenLogProbability,
    Usage,
)
from proctor.regexes import bounded

Answering = Callable[[Prompt], str | Sequence[str] | Response]
"""From a prompt to an answer, several answers, or a whole response (with a failure, token log-probabilities …)."""
Scoring = Callable[[str, str], float | Scored]
"""From a context and a continuation to the natural logarithm of the likelihood."""

_Reply = str | Sequence[str] | Response

_USUAL = {"thoughts": "", "finish_reason": "stop"}
"""What is not part of the identity: how answers come without thoughts, and end by themselves."""


class ScriptedEngine(Engine):
    r"""Answers from a function, a table, rules, a list or a constant, tried in this order.

    Attributes:
        answer: A constant answer; also what prompts get that no table or rule knows.
        answers: A table from prompt to answer. A prompt that is not in it as a whole gets the answer of the first
            key that it contains. Or a list: the first request gets its first entry, and so on, round and round.
        rules: Pairs of a regular expression and an answer, in which ``\1`` and ``\g<name>`` stand for groups.
        function: From a :class:`~proctor.ir.Prompt` to an answer.
        log_likelihoods: From a continuation, blanks around it left out, to its log-likelihood.
        log_likelihood: From a context and a continuation to the log-likelihood.
        model: What tables call the engine.
        thoughts: What it thinks before each answer.
        finish_reason: Why each answer ends: ``stop``, ``length`` …

    Where log-probabilities of tokens are asked for, each word is a token that the script is certain of (0).
    """

    answer: str | None = None
    answers: dict[str, str] | list[str] | None = None
    rules: Annotated[list[tuple[str, str]] | None, NON_POSITIONAL] = None
    function: Annotated[Answering | None, NON_POSITIONAL] = None
    log_likelihoods: Annotated[dict[str, float] | None, NON_POSITIONAL] = None
    log_likelihood: Annotated[Scoring | None, NON_POSITIONAL] = None
    model: Annotated[str, NON_POSITIONAL] = "scripted"
    thoughts: Annotated[str, NON_POSITIONAL] = ""
    finish_reason: Annotated[str, NON_POSITIONAL] = "stop"

    def prepare(self) -> None:
        """Compile the rules."""
        super().prepare()
        try:
            self._rules = [(bounded(pattern, re.DOTALL), answer) for pattern, answer in self.rules or ()]
        except ScoringError as error:
            why = error.diagnostics[0].why
            raise ValidationError(f"a rule is not a regular expression: {why}", path="$.rules") from None
        object.__setattr__(self, "can_score", self.log_likelihood is not None or self.log_likelihoods is not None)

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers; functions by their code."""
        values = super().identity_values()
        for name, usual in _USUAL.items():  # engines of older logs did not have these
            if values[name] == usual:
                del values[name]
        for name in ("function", "log_likelihood"):
            if (function := getattr(self, name)) is not None:
                values[name] = code_digest(function)
        return values

    @property
    def answers_in_order(self) -> bool:
        """True for a list of answers."""
        return isinstance(self.answers, list)

    @property
    def takes_time(self) -> bool:
        """Whether somebody's function answers."""
        return self.function is not None or self.log_likelihood is not None

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests, in order."""
        listed = self.answers if isinstance(self.answers, list) else None
        hear = self.hearing()
        for position, request in enumerate(requests):
            reply = listed[position % len(listed)] if listed else self._reply(request.prompt)
            yield position, hear(self._response(reply, request), request.prompt)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Score continuations, in order.

        Raises:
            UnsupportedRequestError: The engine has no likelihoods.
        """
        if not self.can_score:
            return super().score(requests)
        return self._scores(requests)

    def _scores(self, requests: Iterable[Score]) -> Answers:
        for position, request in enumerate(requests):
            try:
                yield position, Response(scores=tuple(self._scored(request)))
            except KeyError as error:
                message = f"no likelihood is scripted for the continuation {error.args[0]!r}"
                yield position, Response(failure=Failure("engine", message, retryable=False))

    def _scored(self, request: Score) -> Iterator[Scored]:
        pairs = (Pair(Prompt(""), request.text),) if isinstance(request, Rolling) else request.pairs
        values = [self._likelihood(pair.context.text, pair.continuation) for pair in pairs]
        numbers = [value.log_likelihood if isinstance(value, Scored) else float(value) for value in values]
        for pair, value, number in zip(pairs, values, numbers, strict=True):
            tokens = max(1, len(pair.continuation.split()))
            yield value if isinstance(value, Scored) else Scored(number, number == max(numbers), tokens)

    def _likelihood(self, context: str, continuation: str) -> float | Scored:
        if self.log_likelihood is not None:
            return self.log_likelihood(context, continuation)
        return (self.log_likelihoods or {})[continuation.strip()]

    def _response(self, reply: _Reply | None, request: Generate) -> Response:
        """Return a response as the script wants all to end; one that a function made says itself how it ends."""
        if isinstance(reply, Response):
            return reply
        if reply is None:
            message = f"no answer is scripted for the prompt {request.prompt.text[:80]!r}"
            return Response(failure=Failure("engine", message, retryable=False))
        decoding = request.decoding
        count, stop = decoding.count, decoding.stop
        if isinstance(reply, str):
            texts = (_cut(reply, stop),) * count
        else:
            given = [str(each) for each in reply]
            texts = tuple([_cut(given[index % len(given)], stop) for index in range(count)])
        thinking = len(self.thoughts.split()) * count if self.thoughts else 0
        written = sum([len(text.split()) for text in texts])
        return Response(
            texts=texts,
            finish_reasons=(self.finish_reason,) * count,
            thoughts=(self.thoughts,) * count if self.thoughts else (),
            tokens=tuple(map(_certain, texts)) if decoding.extra.get("logprobs") else (),
            usage=Usage(len(request.prompt.text.split()), written + thinking, thinking),
        )

    def _reply(self, prompt: Prompt) -> _Reply | None:
        if self.function is not None:
            return self.function(prompt)
        text = prompt.text
        found = self._from_table(text)
        if found is None and self._rules:
            found = next(
                (made for rule, answer in self._rules if (made := rule.expand(answer, text)) is not None), None
            )
        return self.answer if found is None else found

    def _from_table(self, text: str) -> str | None:
        table = self.answers if isinstance(self.answers, dict) else None
        if not table:
            return None
        if text in table:
            return table[text]
        return next((answer for key, answer in table.items() if key in text), None)


def _certain(text: str) -> tuple[TokenLogProbability, ...]:
    """Return the words of a text as tokens that could have been no others."""
    words = re.findall(r"(?:(?<!\s)\s++)?\S+", text)
    return tuple(TokenLogProbability(word, 0.0, ((word, 0.0),)) for word in words)


def _cut(text: str, stop: Sequence[str]) -> str:
    for mark in stop:
        text = text.partition(mark)[0] if mark else text
    return text


def code_digest(function: Callable[..., Any]) -> str:
    """Return a digest of what a function does: its code, constants, defaults and the values it closes over.

    Equal source gives equal digests in every process. Functions it calls are known by name only.
    """
    if isinstance(function, partial):
        return _digest(code_digest(function.func), repr(function.args), repr(sorted(function.keywords.items())))
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(type(function).__call__, "__code__", None)
        if code is None:
            return _digest(type(function).__module__, getattr(function, "__qualname__", type(function).__qualname__))
        return _digest(_code_text(code), repr(sorted(vars(function).items())) if hasattr(function, "__dict__") else "")
    cells = [_value_text(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ()]
    return _digest(_code_text(code), repr(getattr(function, "__defaults__", None)), *cells)


def _code_text(code: CodeType) -> str:
    constants = [_code_text(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts]
    return repr((code.co_code, constants, code.co_names))


def _value_text(value: object) -> str:
    return code_digest(value) if callable(value) else repr(value)


def _digest(*parts: str) -> str:
    return blake2b("\x00".join(parts).encode(), digest_size=16).hexdigest()
