"""Requests as people and programs look at them before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Prompt, Request, Rolling
from proctor.recipes.exam import Exam, Question

_NO_DECODING = Decoding()


def first_questions(exam: Exam, count: int, skip: int = 0) -> Iterator[Question]:
    """Yield ``count`` questions after the first ``skip``; no more of the exam is rendered than that."""
    return islice(exam.questions(), skip, skip + count)


def kind_of(request: Request) -> str:
    """Return the kind of a request in one word: ``generate``, ``choose``, ``likelihood``, ``rolling``, ``converse``."""
    return type(request).__name__.lower()


def prompts_of(request: Request) -> tuple[Prompt, ...]:
    """Return the prompts of a request: one, or one for each choice where the choices' contexts differ."""
    match request:
        case Generate(prompt=prompt):
            return (prompt,)
        case Choose() | Likelihood():
            contexts = [pair.context for pair in request.pairs]
            return tuple(contexts[:1] if all(each == contexts[0] for each in contexts) else contexts)
        case Rolling(text=text):
            return (Prompt(text),)
        case Converse(turns=turns):
            return (Prompt([turn if turn is not None else {"role": "assistant", "content": None} for turn in turns]),)


def continuations_of(request: Request) -> tuple[str, ...]:
    """Return the texts whose likelihood is asked for; empty where the model writes."""
    return tuple(pair.continuation for pair in request.pairs) if isinstance(request, Choose | Likelihood) else ()


def decoding_of(request: Request) -> Decoding:
    """Return the decoding of a question; the default where the model does not write."""
    return request.decoding if isinstance(request, Generate | Converse) else _NO_DECODING


def payload_of(prompt: Prompt) -> str | list[Any]:
    """Return a prompt as JSON-like data: a string, or chat messages."""
    return prompt.payload if isinstance(prompt.payload, str) else list(prompt.payload)


def request_record(task: str, question: Question, request: Request) -> dict[str, Any]:
    """Return a request as one JSON object.

    Keys: ``task``, ``doc_id``, ``instance`` (the digest of its content), ``kind``, ``prompt`` (a string or chat
    messages), ``continuations``, ``gold`` (index of the right continuation, or ``None``), ``references``, ``stop``,
    ``max_tokens``. Where choices have contexts of their own, ``prompt`` is the first one and ``contexts`` lists them
    all, one for each continuation.
    """
    prompts = prompts_of(request)
    decoding = decoding_of(request)
    record: dict[str, Any] = {
        "task": task,
        "doc_id": question.number,
        "instance": question.digest,
        "kind": kind_of(request),
        "prompt": payload_of(prompts[0]) if prompts else "",
        "continuations": list(continuations_of(request)),
        "gold": question.exchange.gold,
        "references": list(question.exchange.references),
        "stop": list(decoding.stop),
        "max_tokens": decoding.max_tokens,
    }
    if len(prompts) > 1:
        record["contexts"] = [payload_of(prompt) for prompt in prompts]
    return record


def request_records(exams: Sequence[Exam], docs: int, skip: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the requests of the first instances of each exam, as :func:`request_record` shows them."""
    for exam in exams:
        for question in first_questions(exam, docs, skip):
            for request in question.requests:
                yield request_record(exam.name, question, request)
