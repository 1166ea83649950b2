"""From a task to the exam that the core runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED, seeds_of
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.honours import task_honours
from proctor.dialects.lm_eval.prepared import PreparedTask, takes_repeats, with_options
from proctor.effects import Effect
from proctor.lazy import Later
from proctor.recipes.exam import Exam
from proctor.recipes.fingerprint import Definition
from proctor.recipes.options import ExamOptions
from proctor.recipes.row_changes import RowParts, honours_of_changes

_USUAL: Final = ("choices", "options")  # names of columns of choices
_INDEXED: Final = re.compile(r"(\w+)(?:\.text|\[['\"]text['\"]\])?\s*\[\s*0\s*\]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def parts_of(task: PreparedTask) -> RowParts:
    """Return what the columns of a task's documents are; nothing where code puts them in words."""
    config = task.config
    keys = ("doc_to_text", "doc_to_choice", "doc_to_target")
    text, choice, target = ((config.originals or vars(config)).get(key) for key in keys)
    asked, right, choices = _names(text), _names(target), _names(choice)
    if not choices:  # labels are compared
        indexed = _INDEXED.findall(text) if isinstance(text, str) else []
        choices = tuple(each for each in asked if each in indexed or each.lower() in _USUAL)[:1]
    answers = [each for each in right if each not in choices]
    inputs = tuple(each for each in asked if each not in {*choices, *right})
    if len(answers) != 1:
        return RowParts(inputs)
    return RowParts(inputs, choices, answers[0], lambda doc: task.view(doc).target)


def _names(field: Any) -> tuple[str, ...]:
    """Return the columns that a field reads, in the order in which it does; none of code, numbers and lists."""
    from proctor.dialects.lm_eval.jinja import field_names, is_template

    if not isinstance(field, str) or not is_template(field):
        return (field,) if isinstance(field, str) and _NAME.fullmatch(field) else ()
    known = field_names(field)
    return tuple(name for name in dict.fromkeys(_NAME.findall(field)) if name in known)


def task_exam(
    name: str,
    config: TaskConfig,
    options: ExamOptions | None = None,
    documents: TaskDocuments | None = None,
    *,
    has_chat_override: bool = False,
) -> Exam:
    """Return the exam of a task.

    Args:
        name: The name under which results are filed.
        config: The task.
        options: What the run changes.
        documents: Where documents come from; by default the task's dataset.
        has_chat_override: Whether the task's file says anything of its own for chats.

    Raises:
        TemplateError: Choices are to be asked as text, and the task has none that could be.
    """
    chosen = options or ExamOptions()
    compares_choices, variants = config.output_type == "multiple_choice", {}
    if compares_choices and chosen.choices_as_text is None:
        as_text = replace(chosen, choices_as_text=True)
        variants["text"] = partial(task_exam, name, config, as_text, documents, has_chat_override=has_chat_override)
    parts = _parts(name, config, chosen, documents)
    variant = ""
    if compares_choices and chosen.choices_as_text:
        from proctor.dialects.lm_eval.choices_to_generation import AS_TEXT, asked_as_text

        config, variant = asked_as_text(config, documents or TaskDocuments(config, seeds_of(chosen))), AS_TEXT
    changed = with_options(config, chosen)
    documents = documents or TaskDocuments(changed, seeds_of(chosen))
    task = PreparedTask(name, changed, chosen, documents, variant, has_chat_override)
    exam = Exam(
        name=name,
        description=_description(changed),
        dialect="lm_eval",
        source=_specification(task),
        rows=_later("rows:TaskRows", task),
        draw=_later("rows:TaskDraw", task),
        asker=_later("asker:TaskAsker", task),
        grader=_later("gradings:TaskGrader", task),
        options=chosen,
        honours={**task_honours(task), **honours_of_changes(parts)},
        variants=variants,
        variant=task.variant,
        effects=lambda: _effects(documents, changed),
        author=documents.author,
        clusters=changed.clusters,
        own_seed=DEFAULT_SEED if task.num_fewshot else None,
        own=task,
        define=lambda: _definition(changed),
        parts=parts,
    )
    if chosen.repeats is None or takes_repeats(config):
        return exam
    from proctor.recipes.repeats import repeated

    return repeated(exam)


def _parts(name: str, config: TaskConfig, options: ExamOptions, documents: TaskDocuments | None) -> RowParts | None:
    """Return what the columns are of documents that a run changes, as the task has them that compares choices."""
    if options.choice_order is None and options.perturb is None:  # thousands of tasks are listed
        return None

    documents = documents or TaskDocuments(config, seeds_of(options))
    return parts_of(PreparedTask(name, config, options, documents))


def _later(place: str, task: PreparedTask) -> Any:
    return Later(f"{__package__}.{place}", task)


def _effects(documents: TaskDocuments, config: TaskConfig) -> Sequence[Effect]:
    from proctor.dialects.lm_eval.metric_list import metric_effects

    return [*documents.effects(), *metric_effects(config)]


def _definition(config: TaskConfig) -> Definition:
    from proctor.dialects.lm_eval.definition import definition_of

    return definition_of(config)


def task_of(exam: Exam) -> PreparedTask | None:
    """Return the task behind an exam; ``None`` where it comes from something else."""
    return exam.own if isinstance(exam.own, PreparedTask) else None


def _description(config: TaskConfig) -> str:
    data = "/".join(str(part) for part in (config.dataset_path, config.dataset_name) if part is not None)
    return f"{config.output_type.replace('_', ' ')} on {data or 'data of its own'}"


def _specification(task: PreparedTask) -> Mapping[str, Any]:
    """Return JSON-like data that describes the exam fully."""
    options, places = task.options, task.options.places_of(task.name)
    changed = {
        "num_fewshot": task.num_fewshot,
        "limit": options.limit,
        "samples": None if places is None else sorted(places),
        "fewshot_seed": task.seed,
        "system_instruction": options.system_prompt,
        "chat": None if not task.is_chat else {"multiturn": options.demos_as_turns is not False},
        "template": task.config.template_choice,
        "predict_only": options.predict_only or None,
        "variant": task.variant or None,
    }
    return {
        "dialect": "lm_eval",
        "task": task.config.to_dict(),
        "version": task.config.version,
        "options": {key: value for key, value in changed.items() if value is not None},
    }
