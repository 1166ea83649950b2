"""Compiles a task's fields once, and reports their problems with place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.checks import nowhere
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.factory import template_choices
from proctor.dialects.lm_eval.field_values import missing_column
from proctor.dialects.lm_eval.fields import Find, find_choices, find_literal, find_plain, find_target, find_text
from proctor.dialects.lm_eval.lmms_keys import find_messages
from proctor.dialects.lm_eval.reader import parse
from proctor.errors import Diagnostic, ProctorError, TemplateError, did_you_mean, reason_of

PROMPTS: dict[str, dict[str, str]] = {
    "qa-basic": {"question-newline-answer": "Question: {{question}}\nAnswer:", "q-newline-a": "Q: {{question}}\nA:"}
}
"""Built-in prompts by category and name."""


def named_prompt(name: str, config: TaskConfig) -> tuple[Any, Any]:
    """Return ``doc_to_text`` and ``doc_to_target`` that ``use_prompt`` stands for.

    A built-in prompt says how to ask, and leaves the task's target; a file may say both.

    Raises:
        TemplateError: There is no such prompt.
    """
    category, colon, prompt = name.partition(":")
    if not colon:
        raise TemplateError(f"use_prompt is '{name}'", hint="write category:name, or file.yaml:name")
    if category == "promptsource":
        raise TemplateError(
            f"'{name}' is a prompt of promptsource, which no Python that runs here can install",
            why="promptsource needs Python below 3.10",
            hint="copy the prompt into a file and write use_prompt: file.yaml:name",
        )
    if ".yaml" in category:
        return _from_file(category, prompt, config)
    known = PROMPTS.get(category)
    if known is None or prompt not in known:
        names = [f"{each}:{one}" for each, prompts in PROMPTS.items() for one in prompts]
        raise TemplateError(
            f"there is no prompt '{name}'", why=f"there are {', '.join(names)}", hint=did_you_mean(name, names)
        )
    return known[prompt], config.doc_to_target


def _from_file(file: str, prompt: str, config: TaskConfig) -> tuple[Any, Any]:
    beside = Path(config.source.path).parent / file if config.source is not None else Path(file)
    path = beside if beside.is_file() else Path(file)
    try:
        content = parse(path.read_bytes(), str(path))
    except OSError as error:
        raise TemplateError(f"the prompts '{file}' cannot be read", why=reason_of(error)) from None
    prompts = content.get("prompts", {}) if isinstance(content, dict) else {}
    found = prompts.get(prompt)
    if not isinstance(found, dict) or "doc_to_text" not in found:
        raise TemplateError(f"{path} has no prompt '{prompt}'", hint=did_you_mean(prompt, prompts))
    if "doc_to_choice" in found:
        raise TemplateError(f"the prompt '{prompt}' sets doc_to_choice", why="a named prompt sets text and target only")
    return found["doc_to_text"], found.get("doc_to_target", config.doc_to_target)


@dataclass(frozen=True, slots=True)
class QuestionFields:
    """Functions from a document to question, answer, choices and answer prefix."""

    text: Find
    target: Find
    choices: Find | None
    prefix: Find | None


@dataclass(frozen=True, slots=True)
class TaskFields:
    """Everything that a task takes from its documents, compiled."""

    asked: QuestionFields
    demo: QuestionFields
    description: Find | None
    image: Find | None
    audio: Find | None
    messages: Find | None = None


def compile_fields(config: TaskConfig, columns: Sequence[str]) -> TaskFields:
    """Return a task's fields as functions.

    Raises:
        TemplateError: A template does not parse.
        TrustError: A field is code, and code is not trusted.
    """
    names = frozenset(columns)
    fewshot = config.fewshot
    text, target = (
        named_prompt(config.use_prompt, config) if config.use_prompt else (config.doc_to_text, config.doc_to_target)
    )
    own = FewshotConfig(
        doc_to_text=text, doc_to_target=target, doc_to_choice=config.doc_to_choice, gen_prefix=config.gen_prefix
    )
    shown = FewshotConfig(
        doc_to_text=text if config.use_prompt or fewshot.doc_to_text is None else fewshot.doc_to_text,
        doc_to_target=target if config.use_prompt or fewshot.doc_to_target is None else fewshot.doc_to_target,
        doc_to_choice=fewshot.doc_to_choice,
        gen_prefix=fewshot.gen_prefix,
    )
    return TaskFields(
        _question_fields(config, own, names, ""),
        _question_fields(config, shown, names, "fewshot_config."),
        find_plain(config.description, "description"),
        None if config.doc_to_image is None else find_literal(config.doc_to_image, names, "doc_to_image"),
        None if config.doc_to_audio is None else find_literal(config.doc_to_audio, names, "doc_to_audio"),
        find_messages(config, names),
    )


def compiled_fields(config: TaskConfig, columns: Sequence[str]) -> TaskFields:
    """Return :func:`compile_fields`, whose errors say where in the file the field stands."""
    try:
        _refuse_unwrappable(config, columns)
        return compile_fields(config, columns)
    except ProctorError as error:
        raise placed(error, config) from None


def _refuse_unwrappable(config: TaskConfig, columns: Sequence[str]) -> None:
    """Refuse fields that a template is to wrap and that the task or its documents do not have, all of them at once."""
    made = config.template_config
    if made is None or config.use_prompt:
        return
    locate = nowhere if config.source is None else config.source.location
    row = dict.fromkeys(columns)
    needed = ("doc_to_text", "doc_to_choice") if made.output_type == "multiple_choice" else ("doc_to_text",)
    problems: list[Diagnostic] = []
    for key in needed:
        if config.originals.get(key) is None:
            name = config.template_choice or next(iter(template_choices(config.template)))
            problems.append(
                Diagnostic(
                    f"the template '{name}' wraps {key}, and the task '{config.task}' has none",
                    locate("template"),
                    hint=_WRAPPED_EXAMPLES[key],
                )
            )
    for key in needed if columns else ():
        missing = missing_column(config.originals.get(key), key, row)
        problems += [each.at(locate(key)) for each in missing]
    if problems:
        raise TemplateError(problems)


_WRAPPED_EXAMPLES = {
    "doc_to_text": 'doc_to_text: "{{question}}"',
    "doc_to_choice": 'doc_to_choice: "{{choices}}", or the template generate::question, which needs none',
}


def _question_fields(config: TaskConfig, given: FewshotConfig, names: frozenset[str], where: str) -> QuestionFields:
    positions = config.doc_to_choice is not None
    choices = given.doc_to_choice
    text = given.doc_to_text if given.doc_to_text is not None else ""
    target = given.doc_to_target if given.doc_to_target is not None else ""
    return QuestionFields(
        find_text(text, names, f"{where}doc_to_text", positions=positions),
        find_target(target, names, f"{where}doc_to_target", positions=positions),
        None if choices is None else find_choices(choices, names, f"{where}doc_to_choice"),
        find_plain(given.gen_prefix, f"{where}gen_prefix"),
    )


_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix", "doc_to_image", "doc_to_audio")
_OTHER_STARTS = {"doc_to_target": "the answer "}
"""How messages about a field begin that do not name it."""


def placed(error: ProctorError, config: TaskConfig, where: str = "") -> ProctorError:
    """Return an error of a document (or of all) with the field it is about, and the field's place in the file.

    Args:
        error: The error.
        config: The task.
        where: Which document; the task's name where it is about all.
    """
    first = error.diagnostics[0]
    given = {key: config.originals.get(key, getattr(config, key)) for key in _FIELDS}
    key = next(
        (key for key in _FIELDS if str(first.what).startswith((f"{key} ", _OTHER_STARTS.get(key, f"{key} ")))), None
    ) or next(
        (key for key, spec in given.items() if isinstance(spec, str) and spec and repr(spec) in str(first.why)), None
    )
    place = config.source.location(key) if key is not None and config.source is not None else None
    if not where:
        return error.located(place, str(config.task) + (f".{key}" if key is not None else ""))
    return error.located(place, where + (f", {key}" if key is not None else ""))


def checked_choices(choices: Any) -> list[Any]:
    """Return the choices of a document.

    Raises:
        TemplateError: They are not list, or there are none.
    """
    if not isinstance(choices, list):
        raise TemplateError(
            f"doc_to_choice gives {type(choices).__name__} {choices!r}, not a list",
            hint="multiple choice needs a list of texts",
        )
    if not choices:
        raise TemplateError(
            "doc_to_choice gives an empty list",
            why="multiple choice compares at least one text",
            hint="leave such documents out (process_docs, --samples)",
        )
    return choices
