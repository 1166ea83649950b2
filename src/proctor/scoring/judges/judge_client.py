"""Requests of judges to an engine, which scoring knows by its two methods only.

Whoever runs an evaluation may put something between judge and engine (the response log, a budget) with
:func:`asking_through`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any, NamedTuple, cast

from proctor.artifacts import Artifact
from proctor.data.policy import POLICY_FIELD, check_policies
from proctor.errors import EngineError, UsageError, ValidationError
from proctor.ir import (
    Answerer,
    Answers,
    Decoding,
    Failure,
    Generate,
    KnownAnswerer,
    Message,
    Response,
    in_order,
    prompt_of_source,
)


class JudgePrompt(NamedTuple):
    """What a judge is asked: a text or chat messages, and the classes of the data in it."""

    source: str | Sequence[Message]
    classes: Sequence[str] = ()


class Answer(NamedTuple):
    """What a judge said: the text, tokens with log-probabilities where they were asked for, or a failure."""

    prediction: Any
    metadata: Mapping[str, Any]


Asking = Callable[[KnownAnswerer, Iterable[Generate]], Answers]
"""Puts requests to an engine."""
_asking: ContextVar[Asking | None] = ContextVar("proctor_judge_asking", default=None)
_memory: ContextVar[dict[str, Answer] | None] = ContextVar("proctor_judge_memory", default=None)


@contextmanager
def asking_through(asking: Asking) -> Iterator[None]:
    """Let the requests of judges go through ``asking``."""
    token = _asking.set(asking)
    try:
        yield
    finally:
        _asking.reset(token)


def is_asked_through() -> bool:
    """Whether something stands between judges and their engines."""
    return _asking.get() is not None


@contextmanager
def remembering() -> Iterator[None]:
    """Ask no question twice: an evaluation looks at the same instances again for every group."""
    token = _memory.set({})
    try:
        yield
    finally:
        _memory.reset(token)


def check_engine(engine: Artifact, owner: str) -> None:
    """Check that a judge can ask an artifact.

    Raises:
        ValidationError: It cannot.
    """
    if not isinstance(engine, Answerer):
        raise ValidationError(f"the engine of {owner} is a {type(engine).__name__}, which cannot predict")


def engine_name(engine: Artifact) -> str:
    """Return the name of an engine in scores."""
    for method in ("get_engine_id", "label"):
        found = getattr(engine, method, None)
        name = found() if callable(found) else found
        if name:
            return str(name)
    return type(engine).__name__


def ask(engine: Artifact, prompts: Sequence[JudgePrompt], *, log_probabilities: bool = False) -> list[Answer]:
    """Ask all prompts at once, so that the engine may answer them together.

    Args:
        engine: The judge's engine.
        prompts: What it is asked.
        log_probabilities: Ask for tokens with their log-probabilities.

    Returns:
        An answer to each prompt; its prediction is a failure where there is none.

    Raises:
        PolicyError: The engine may not see a prompt.
        EngineError: The engine cannot work at all, or gives no log-probabilities.
        ValidationError: The artifact is not an engine.
    """
    memory = _memory.get()
    if memory is None:
        return _ask(engine, prompts, log_probabilities)
    keys = _keys(engine, prompts, log_probabilities)
    new = [position for position, key in enumerate(keys) if key not in memory]
    answers = _ask(engine, [prompts[position] for position in new], log_probabilities) if new else []
    memory.update(zip((keys[position] for position in new), answers, strict=True))
    return [memory[key] for key in keys]


def _keys(engine: Artifact, prompts: Sequence[JudgePrompt], log_probabilities: bool) -> list[str]:
    """Return a key for each question; equal ones of one call are told apart: an engine may answer them differently."""
    who = _identity(engine)
    seen: Counter[str] = Counter()
    keys = []
    for prompt in prompts:
        text = json.dumps([who, log_probabilities, prompt], sort_keys=True, default=str)
        keys.append(f"{seen[text]}:{text}")
        seen[text] += 1
    return keys


def who_judges(engine: Artifact) -> str:
    """Return who answers for an engine: a name for people, and eight digits of what decides its answers."""
    who = cast("KnownAnswerer", engine).answering() if hasattr(engine, "answering") else engine
    digest = blake2b(_identity(cast("Artifact", who)).encode(), digest_size=4).hexdigest()
    return f"{engine_name(cast('Artifact', who))} ({digest})"


def _identity(engine: Artifact) -> str:
    try:
        return str(getattr(engine, "identity", None) or engine.to_json())
    except UsageError:  # it does not know where its model is: nobody asks where another stands in for it
        return engine.to_json()


def _ask(engine: Artifact, prompts: Sequence[JudgePrompt], log_probabilities: bool) -> list[Answer]:
    check_engine(engine, "the judge")
    who = cast("KnownAnswerer", engine).answering()
    check_policies(who.policy, ({POLICY_FIELD: prompt.classes} for prompt in prompts), who.label)
    extra = {"logprobs": True, "top_logprobs": who.top_tokens} if log_probabilities else {}
    requests = (Generate(prompt_of_source(prompt.source), Decoding(extra=dict(extra))) for prompt in prompts)
    asking = _asking.get()
    answers = asking(who, requests) if asking is not None else who.generate(requests)
    responses = in_order(answers, len(prompts))
    if log_probabilities and any(each.failure is None and not each.tokens for each in responses):
        raise EngineError.without_log_probabilities(who.label)
    return [Answer(_said(each, log_probabilities), who.about(each)) for each in responses]


def _said(response: Response, log_probabilities: bool) -> str | list[dict[str, Any]] | Failure:
    if response.failure is not None:
        return response.failure
    return [token.as_data() for token in response.tokens[0]] if log_probabilities else response.text
