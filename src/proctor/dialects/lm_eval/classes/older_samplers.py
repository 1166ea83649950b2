"""Samplers in the form of lm-eval before 0.4.9: they know their task, and lay their demos out themselves."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.classes.samplers import ContextSampler
from proctor.dialects.lm_eval.functions import guarded
from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.classes.configurable_task import ConfigurableTask

_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice")


def older_sampler(kind: type[Any], docs: Sequence[Any], task: ConfigurableTask) -> Any:
    """Return a sampler that draws from documents for a task; it may change the task's keys from one to the next."""
    fewshot, config = task.fewshot_cfg, task.config
    if kind.__init__ is ContextSampler.__init__:
        made = kind(docs)
    else:
        made = guarded(kind, f"the sampler {kind.__name__}")(docs, task, rnd=Random())
    made.docs, made.task, made.config = list(docs), task, config
    for key in _FIELDS:
        own, find = getattr(fewshot, key), getattr(task, key)
        setattr(made, key, find if own == getattr(config, key) else partial(find, **{key: own}))
    made.target_delimiter, made.fewshot_delimiter = fewshot.target_delimiter, fewshot.fewshot_delimiter
    return made


def demo_text(sampler: Any, doc: Any, count: int, gen_prefix: str | None) -> str:
    """Return the demos of a document as one text."""
    return str(_called(sampler, "get_context", doc, count, gen_prefix=gen_prefix))


def demo_messages(
    sampler: Any, doc: Any, count: int, gen_prefix: str | None, *, multiturn: bool
) -> list[Mapping[str, Any]]:
    """Return the demos of a document as chat messages.

    Raises:
        UsageError: They are to be turns of their own, and the sampler lays out one text.
    """
    if hasattr(sampler, "get_chat_context"):
        return list(_called(sampler, "get_chat_context", doc, count, multiturn, gen_prefix=gen_prefix))
    if multiturn:
        raise UsageError(
            f"the sampler {type(sampler).__name__} lays its demos out as one text", hint="--no-fewshot_as_multiturn"
        )
    return [{"role": "user", "content": demo_text(sampler, doc, count, gen_prefix)}]


def joined_turns(history: Sequence[Mapping[str, Any]], question: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return demos and question, which goes on in the last message of the demos where both are the user's."""
    if not history or history[-1]["role"] != question[0]["role"]:
        return [*history, *question]
    first = {**question[0], "content": f"{history[-1]['content']}{question[0]['content']}"}
    return [*history[:-1], first, *question[1:]]


def _called(sampler: Any, name: str, *arguments: Any, **more: Any) -> Any:
    method = getattr(sampler, name)
    taken = inspect.signature(method).parameters
    given = {key: value for key, value in more.items() if key in taken}
    return guarded(method, f"{type(sampler).__name__}.{name}")(*arguments, **given)
