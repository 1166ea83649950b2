"""Lines of ``samples.jsonl``: what was asked, what came back, predictions, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import attrgetter, is_
from typing import Any

from proctor.ir import (
    Choose,
    Converse,
    Decoding,
    Failure,
    Generate,
    Likelihood,
    Prompt,
    Request,
    Response,
    Rolling,
    Usage,
)
from proctor.recipes.exam import Answered
from proctor.running.spec import SCHEMA_VERSION
from proctor.scoring.columns import ABSENT
from proctor.scoring.grades import Grade

LinePart = tuple[tuple[str, ...], tuple[Any, ...]]
"""The names of what a line begins or ends with, and their values."""

_ASKED = ("kind", "prompt", "decoding", "continuations")
_HEARD = ("output", "thinking", "finish_reason", "finish_reasons")
_HEARD_AND_WRITTEN = ("output", "thinking", "written", "finish_reason", "finish_reasons")
_FIRST = ("exam", "doc_id", "instance", "input", *_ASKED)
_LAST = ("references", "gold", "usage", "timing", "failure", "schema_version")
_BEGINNING = (*_FIRST, *_HEARD, *_LAST)
_BEGINNING_WITH_WRITTEN = (*_FIRST, *_HEARD_AND_WRITTEN, *_LAST)


def asked_part(exam: str, answered: Answered, decodings: Decodings) -> LinePart:
    """Return the beginning of a line: the requests for an instance and their responses."""
    question, responses = answered.question, answered.responses
    exchange = question.exchange
    heard = _heard(responses)
    names = _BEGINNING if len(heard) == len(_HEARD) else _BEGINNING_WITH_WRITTEN
    models = [each.model for each in responses if each.model]
    return (
        (*names, "model") if models else names,
        (
            exam,
            question.number,
            question.digest,
            question.instance,
            *_asked(question.requests, decodings),
            *heard,
            exchange.references,
            exchange.gold,
            _usage(responses).as_data(),
            _timing(responses),
            answered.failure,
            SCHEMA_VERSION,
            *([_one(list(dict.fromkeys(models)))] if models else []),
        ),
    )


def _asked(requests: Sequence[Request], decodings: Decodings) -> tuple[Any, ...]:
    """Return what was asked; nearly always one thing, which is what all of it comes to."""
    if len(requests) == 1 and type(request := requests[0]) is Generate:
        return "generate", _payload(request.prompt), decodings.of_one(request.decoding), None
    return _all_asked(requests, decodings)


def _all_asked(requests: Sequence[Request], decodings: Decodings) -> tuple[Any, ...]:
    return (
        _one([_KINDS[type(request)] for request in requests]),
        _one(_of_each(_prompts, requests)),
        decodings.of(requests),
        _of_each(_continuations, requests) or None,
    )


def _heard(responses: Sequence[Response]) -> tuple[Any, ...]:
    """Return what came back; nearly always one answer without thoughts, and then that is all of it."""
    if len(responses) == 1 and len((response := responses[0]).texts) == 1 and _is_bare(response):
        (reason,) = response.finish_reasons or ("",)
        return response.texts[0], None, reason or None, response.finish_reasons or None
    return _all_heard(responses)


def _is_bare(response: Response) -> bool:
    return not (
        response.failure or response.thoughts or response.written or response.scores or len(response.finish_reasons) > 1
    )


def _all_heard(responses: Sequence[Response]) -> tuple[Any, ...]:
    return (
        _one([_output(response) for response in responses]) if responses else None,
        _of_texts([response.thoughts for response in responses]),
        *_written(responses),
        _of_texts([response.finish_reasons for response in responses]),
        _of_each(_REASONS, responses) or None,
    )


_REASONS: Callable[[Response], Sequence[str]] = attrgetter("finish_reasons")


def _of_each(parts: Callable[[Any], Iterable[Any]], values: Iterable[Any]) -> list[Any]:
    return list(chain.from_iterable(map(parts, values)))


def _usage(responses: Sequence[Response]) -> Usage:
    return responses[0].usage if len(responses) == 1 else sum([response.usage for response in responses], Usage())


_KINDS = {kind: kind.__name__.lower() for kind in (Generate, Choose, Likelihood, Rolling, Converse)}


_ENDING = ("prediction", "processed_prediction", "processed_references", "scores")
_FAILED_ENDING = (*_ENDING, "scoring_failure")


class ScoredParts:
    """What lines end with, in order; without end, as there may be more lines than scores.

    Args:
        grade: The scores.
    """

    def __init__(self, grade: Grade) -> None:
        shown = (grade.predictions, grade.processed_predictions, grade.processed_references)
        self._shown = [iter(column) for column in shown]
        self._scores = {name: iter(column) for name, column in grade.instance_scores.items()}
        self._failures = grade.failures
        self._count = 0

    def next(self, count: int) -> list[LinePart]:
        """Return the next so many."""
        shown = [_taken(column, count) for column in self._shown]
        scores = _rows({name: _taken(column, count) for name, column in self._scores.items()}, count)
        found: list[LinePart] = [(_ENDING, values) for values in zip(*shown, scores, strict=True)]
        if self._failures:
            failures = [self._failures.get(place) for place in range(self._count, self._count + count)]
            each = zip(found, failures, strict=True)
            found = [line if why is None else (_FAILED_ENDING, (*line[1], why)) for line, why in each]
        self._count += count
        return found


def _taken(column: Iterator[Any], count: int) -> list[Any]:
    """Return the next entries of a column, ``None`` for failures and behind its end."""
    found = list(islice(column, count))
    if Failure in set(map(type, found)):
        found = [None if type(value) is Failure else value for value in found]
    return found + [None] * (count - len(found)) if len(found) < count else found


def _rows(columns: Mapping[str, Sequence[Any]], count: int) -> list[dict[str, Any]]:
    """Return the values of each row by name, without those that it does not have."""
    names = tuple(columns)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)] if names else []
    for name, column in columns.items():
        if any(map(is_, column, repeat(ABSENT))):
            for row, value in zip(rows, column, strict=True):
                if value is ABSENT:
                    del row[name]
    return rows or [{} for _ in range(count)]


def _one(values: Sequence[Any]) -> Any:
    """Return the value that all share, else the list of them."""
    if len(values) == 1 or (values and all(value == values[0] for value in values[1:])):
        return values[0]
    return list(values)


def _of_texts(each: Sequence[Sequence[str]]) -> Any:
    """Return what belongs to texts, one or a list of them as texts are; ``None`` where no text has any."""
    if not any(map(any, each)):
        return None
    return _one([values[0] if len(values) == 1 else list(values) for values in each])


def _written(responses: Sequence[Response]) -> tuple[Any, ...]:
    """Return all that was written, where there is more in it than the answers: ``--answers raw`` grades that."""
    if all(not response.written or response.written == response.texts for response in responses):
        return ()
    return (_of_texts([response.written or response.texts for response in responses]),)


def _prompts(request: Request) -> list[Any]:
    match request:
        case Generate():
            return [_payload(request.prompt)]
        case Choose() | Likelihood():
            return [_payload(pair.context) for pair in request.pairs]
        case Rolling():
            return [list(request.messages) if request.messages else request.text]
        case Converse():
            return [list(request.turns)]


class Decodings:
    """How the model was to write, as lines say it. The questions of an exam nearly always share one decoding."""

    def __init__(self) -> None:
        self._last: Decoding | None = None
        self._shown: dict[str, Any] = {}

    def of(self, requests: Sequence[Request]) -> Any:
        """Return what requests say of it, by name; ``None`` where the model writes nothing."""
        found = [self.of_one(each.decoding) for each in requests if isinstance(each, (Generate, Converse))]
        return _one(found) if found else None

    def of_one(self, decoding: Decoding) -> dict[str, Any]:
        """Return what one decoding says."""
        if decoding is not self._last:
            self._last = decoding
            self._shown = {name: value for name in _DECODED if (value := getattr(decoding, name)) is not None}
        return self._shown


_DECODED = ("max_tokens", "temperature", "top_p", "top_k", "stop", "seed", "count", "extra")


def _payload(prompt: Prompt) -> Any:
    return prompt.payload if isinstance(prompt.payload, str) else list(prompt.payload)


def _continuations(request: Request) -> list[str]:
    return [pair.continuation for pair in request.pairs] if isinstance(request, (Choose, Likelihood)) else []


def _output(response: Response) -> Any:
    if response.failure is not None:
        return None
    if response.scores:
        return [
            {"log_likelihood": each.log_likelihood, "is_greedy": each.is_greedy, "token_count": each.token_count}
            for each in response.scores
        ]
    return response.texts[0] if len(response.texts) == 1 else list(response.texts)


def _timing(responses: Sequence[Response]) -> dict[str, float]:
    each = [response.timing for response in responses]
    if len(each) != 1:
        started = [timing.started for timing in each if timing.started]
        return {"started": min(started, default=0.0), "seconds": sum([timing.seconds for timing in each])}
    (timing,) = each
    found = {"started": timing.started or 0.0, "seconds": timing.seconds}
    first = timing.first_token_seconds
    return found if first is None else {**found, "first_token_seconds": first}
