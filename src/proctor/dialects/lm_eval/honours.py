"""The effect of each option of a run on a task: it works, is refused with the reason, or has none and says so.

A run often has many tasks of different kinds, and gives its options to all of them. So what one kind of task has no use
for is listed as without effect (``proctor show``); what no task could use (turns without a chat) is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from proctor.dialects.lm_eval.prepared import PreparedTask, takes_repeats
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.option import Entry, Honoured, Refused, no_effect
from proctor.recipes.options import OPTIONS, ExamOptions


def task_honours(task: PreparedTask) -> Honours:
    """Return what a task of YAML honours: an entry for every option."""
    return {**declared("lm_eval", OPTIONS), **dict(_entries(task))}


def class_honours(options: ExamOptions, *, asks_as_told: bool = False) -> Honours:
    """Return what a task that is a Python class honours: an entry for every option.

    Args:
        options: What the run changes.
        asks_as_told: Whether its requests are made of the key ``generation_kwargs``.
    """
    return {
        **declared("class", OPTIONS),
        "decoding": Honoured("added to the key generation_kwargs")
        if asks_as_told
        else Refused("a Python class says itself how answers are generated"),
        "reduce": reduces(options),
        "demos_as_turns": _turns(options),
        **dict(_chats(options)),
        "choices_as_text": Refused("a Python class makes its own requests")
        if options.choices_as_text
        else Honoured("it never does"),
    }


def _entries(task: PreparedTask) -> Iterator[tuple[str, Entry]]:
    """Yield the entries that depend on the task."""
    yield "num_demos", _demos(task)
    yield "seed", _seed(task)
    yield "code_seeds", _code_seeds(task)
    yield "demos_as_turns", _turns(task.options)
    yield from _chats(task.options)
    kind = task.config.output_type
    if kind != "generate_until":
        yield "decoding", no_effect(f"a task of output_type {kind} writes nothing; asked as text, it does")
        yield "repeats", no_effect("log-probabilities do not vary")
        for name in ("truncated", "answers"):
            yield name, no_effect(f"a task of output_type {kind} writes nothing")
        yield "reduce", no_effect("log-probabilities do not vary")
    elif takes_repeats(task.config):
        yield "reduce", Refused("a filter or a metric of the task makes one answer of several already")
    else:
        yield "reduce", reduces(task.options)
    if kind != "multiple_choice" and not task.variant:
        yield "choices_as_text", no_effect(f"a task of output_type {kind} compares no choices")
    if kind == "loglikelihood_rolling":
        for name in ("num_demos", "seed", "system_prompt", "apply_chat_template", "meta_template"):
            yield name, no_effect("only the text itself is scored")
    if task.config.custom_dataset is None:
        yield "metadata", no_effect("only Python that makes a dataset reads it")
    if not task.has_chat_override:
        yield "chat_override", no_effect("the task says nothing of its own for chats")


def _demos(task: PreparedTask) -> Entry:
    if task.config.num_fewshot == 0:
        return no_effect("the task sets num_fewshot: 0")
    return Honoured()


def _seed(task: PreparedTask) -> Entry:
    by_code = task.options.code_seeds is None and task.options.seed is not None and task.documents.draws()
    if by_code:
        return Honoured("demos, and what code of the task draws")
    if not task.num_fewshot:
        return no_effect("no demos are drawn")
    if task.config.fewshot.sampler == "first_n":
        return no_effect("the sampler first_n draws nothing")
    return Honoured("demos are drawn from it; without it from 1234, as lm-eval does")


def _code_seeds(task: PreparedTask) -> Entry:
    if task.options.code_seeds is not None and not task.documents.draws():
        return no_effect("no code of the task draws documents at random")
    return Honoured(
        "what code of the task draws while it makes documents; without them from 0 and 1234, as lm-eval does"
    )


def _turns(options: ExamOptions) -> Entry:
    is_chat = options.apply_chat_template or options.meta_template is not None
    if options.demos_as_turns and not is_chat:
        return Refused("turns are part of a chat, and prompts are one text", "add --apply-chat-template")
    return Honoured("with a chat template, which shows demos as turns unless told otherwise")


def _chats(options: ExamOptions) -> Iterator[tuple[str, Entry]]:
    if options.chat_template_model is not None and not options.apply_chat_template:
        why = "it says whose chat template is applied, and none is"
        yield "chat_template_model", Refused(why, "add --apply-chat-template")
    if options.meta_template is not None:
        yield "apply_chat_template", Honoured("by the meta template")
