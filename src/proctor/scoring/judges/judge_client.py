"""How judges ask: any artifact that predicts for a dataset is an engine here.

Scoring and engines are siblings, so a judge's engine is known by what it can do. Whoever runs an evaluation may put
something between judge and engine (the response log, a budget) with :func:`asking_through`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, runtime_checkable

from proctor.artifacts import Artifact
from proctor.errors import UsageError, ValidationError
from proctor.ir import Failure


@runtime_checkable
class JudgeEngine(Protocol):
    """What a judge needs of an engine."""

    def infer(self, dataset: Any, *args: Any, **kwargs: Any) -> Sequence[Any]:
        """Return an output for each row, with ``prediction`` and ``failure``."""


class Answer(NamedTuple):
    """What a judge said: the text, tokens with log-probabilities where they were asked for, or a failure."""

    prediction: Any
    metadata: Mapping[str, Any]


Wrapper = Callable[[Any], Any]
_wrapper: ContextVar[Wrapper | None] = ContextVar("proctor_judge_wrapper", default=None)
_memory: ContextVar[dict[str, Answer] | None] = ContextVar("proctor_judge_memory", default=None)


@contextmanager
def asking_through(wrapper: Wrapper) -> Iterator[None]:
    """Let judges ask what ``wrapper`` makes of their engine."""
    token = _wrapper.set(wrapper)
    try:
        yield
    finally:
        _wrapper.reset(token)


def is_asked_through() -> bool:
    """Whether something stands between judges and their engines."""
    return _wrapper.get() is not None


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
    if not isinstance(engine, JudgeEngine):
        raise ValidationError(f"the engine of {owner} is a {type(engine).__name__}, which cannot predict")


def engine_name(engine: Artifact) -> str:
    """Return the name of an engine in scores."""
    for method in ("get_engine_id", "label"):
        found = getattr(engine, method, None)
        name = found() if callable(found) else found
        if name:
            return str(name)
    return type(engine).__name__


def ask(engine: Artifact, rows: Sequence[Mapping[str, Any]], *, log_probabilities: bool = False) -> list[Answer]:
    """Ask all rows at once, so that the engine may answer them together.

    Args:
        engine: The judge's engine.
        rows: Rows with ``source``: a string or chat messages.
        log_probabilities: Ask for tokens with their log-probabilities.

    Returns:
        An answer for each row; its prediction is a failure where there is none.

    Raises:
        PolicyError: The engine may not see a row.
        EngineError: The engine cannot work at all.
    """
    memory = _memory.get()
    if memory is None:
        return _ask(engine, rows, log_probabilities)
    keys = _keys(engine, rows, log_probabilities)
    new = [position for position, key in enumerate(keys) if key not in memory]
    answers = _ask(engine, [rows[position] for position in new], log_probabilities) if new else []
    memory.update(zip((keys[position] for position in new), answers, strict=True))
    return [memory[key] for key in keys]


def _keys(engine: Artifact, rows: Sequence[Mapping[str, Any]], log_probabilities: bool) -> list[str]:
    """Return a key for each question; equal ones of one call are told apart: an engine may answer them differently."""
    who = _identity(engine)
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        text = json.dumps([who, log_probabilities, row], sort_keys=True, default=str)
        keys.append(f"{seen[text]}:{text}")
        seen[text] += 1
    return keys


def _identity(engine: Artifact) -> str:
    try:
        return str(getattr(engine, "identity", None) or engine.to_json())
    except UsageError:  # it does not know where its model is: nobody asks where another stands in for it
        return engine.to_json()


def _ask(engine: Artifact, rows: Sequence[Mapping[str, Any]], log_probabilities: bool) -> list[Answer]:
    wrapper = _wrapper.get()
    asked: Any = engine if wrapper is None else wrapper(engine)
    method = asked.infer_log_probs if log_probabilities else asked.infer
    outputs = method([dict(row) for row in rows], return_meta_data=True, on_failure="keep")
    return [_answer(output) for output in outputs]


def _answer(output: Any) -> Answer:
    if isinstance(output, str) or not hasattr(output, "prediction"):
        return Answer(output, {})
    failure = getattr(output, "failure", None)
    if failure is None and output.prediction is None:
        failure = Failure("refused", "the judge gave no answer")
    names = ("input_tokens", "output_tokens", "stop_reason", "seed", "model_name", "inference_type")
    metadata = {name: getattr(output, name) for name in names if getattr(output, name, None) is not None}
    return Answer(failure if failure is not None else output.prediction, metadata)
