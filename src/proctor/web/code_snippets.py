"""The same exam under the same setting as people type it elsewhere; each form runs as copied."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import fields
from pprint import pformat
from typing import Any

import yaml

from proctor.dialects.resolve import resolve_tasks
from proctor.errors import ProctorError
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.web.exam_form import Setting

Form = tuple[str, str]
"""A title and a text."""

OUR_TASK = "!function proctor.integrations.lm_eval.ProctorTask"


def forms_of(setting: Setting, exam: Exam) -> list[Form]:
    """Return the forms of an exam: for shells and Python, and as its own dialect and lm-eval write it."""
    specification = exam.specification()
    dialect = specification.get("dialect")
    own: list[Form]
    if dialect == "lm_eval":
        own = [("lm-eval YAML", lm_eval_task(setting, exam.name))]
    elif dialect == "aisbench":
        own = [("AISBench config", config_text(specification))]
    else:
        own = recipe_forms(setting, specification, exam.name)
    return [*shell_forms(setting), ("Python", python_text(setting)), *own]


def shell_forms(setting: Setting) -> list[Form]:
    """Return the commands that show the prompts, and that run the exam."""
    before, task = "", shlex.quote(setting.task)
    if not setting.is_recipe and setting.task_keys():  # a command line cannot say these: a file does
        name = f"{slug(setting.exam)}.yaml"
        before, task = f"cat > {name} <<'END'\n{lm_eval_task(setting, setting.exam)}END\n", name
        flags = _flags(setting, in_file=True)
    else:
        flags = _flags(setting)
    return [
        ("Show it", f"{before}proctor show {task}{flags} --docs 3"),
        ("Run it", f"{before}proctor run --model smollm2 --tasks {task}{flags} --limit 20"),
    ]


def _flags(setting: Setting, *, in_file: bool = False) -> str:
    """Return what options say, as flags of the command line."""
    options = setting.options()
    flags = [("--include-path", each) for each in options.include_paths]
    if not in_file:
        flags += [("--num-demos", str(options.num_demos))] if options.num_demos is not None else []
        flags += [("--template", options.template)] if options.template else []
    if options.system_prompt is not None:
        flags.append(("--system-prompt", options.system_prompt))
    if options.apply_chat_template:
        flags.append(("--apply-chat-template", ""))
    return "".join(f" {name} {shlex.quote(value)}" if value else f" {name}" for name, value in flags)


def python_text(setting: Setting) -> str:
    """Return a program that prints the first prompts."""
    changed = _changed(setting.options())
    if setting.is_recipe and not changed:
        return (
            "from proctor import load_dataset\n\n"
            f"dataset = load_dataset({setting.task!r})\n"
            "for name, split in dataset.items():\n"
            "    for row in split.take(3):\n"
            '        print(name, row["source"], row["references"])\n'
        )
    arguments = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    return (
        "from proctor.dialects.resolve import resolve_tasks\n"
        "from proctor.recipes.options import ExamOptions\n"
        "from proctor.prompts.preview import request_records\n\n"
        f"exams = resolve_tasks([{setting.task!r}], ExamOptions({arguments}))\n"
        "for record in request_records(exams, docs=3):\n"
        '    print(record["prompt"], record["references"])\n'
    )


def _changed(options: ExamOptions) -> dict[str, Any]:
    plain = ExamOptions()
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    return {name: value for name, value in values.items() if value != getattr(plain, name)}


def recipe_forms(setting: Setting, specification: Mapping[str, Any], name: str) -> list[Form]:
    """Return a recipe as a string, as a task of lm-eval (which is one exam), and as catalogs keep it."""
    recipe = specification.get("recipe")
    forms = [("Recipe", setting.task)]
    if name == setting.task or is_exam(name):
        forms.append(("lm-eval YAML", lm_eval_recipe(setting, name)))
    if isinstance(recipe, Mapping):
        forms.append(("Catalog JSON", json.dumps(recipe, indent=2, ensure_ascii=False)))
    return forms


def is_exam(name: str) -> bool:
    """Whether a name means exactly one exam."""
    try:
        return len(resolve_tasks([name])) == 1
    except ProctorError:
        return False  # a member of a benchmark, whose name means nothing by itself


def lm_eval_recipe(setting: Setting, name: str) -> str:
    """Return a task file of lm-eval whose prompts and scores are ours, for lm-eval with Proctor beside it."""
    body = yaml.safe_dump({"recipe": name}, allow_unicode=True, width=1000)
    return f"{_comment(setting)}task: {slug(name)}\nclass: {OUR_TASK}\n{body}"


def lm_eval_task(setting: Setting, name: str) -> str:
    """Return a task of lm-eval under a setting, in keys that lm-eval knows; what it cannot say is a comment.

    Args:
        setting: The setting.
        name: The task, which may be a member of the group that the setting names.
    """
    from proctor.dialects.lm_eval.rewrite import convert

    keys = setting.task_keys() | ({"num_fewshot": int(setting.num_demos)} if setting.num_demos else {})
    try:
        made = convert(
            name,
            template=setting.template or None,
            to="lm-eval",
            include_paths=setting.include_paths,
            keys=keys,
        )
    except ProctorError as error:
        return f"# this task cannot be written out: {error.diagnostics[0].what}\n"
    lost = "".join(f"# {' '.join(each.split())}\n" for each in made.lost)
    return f"{_comment(setting)}{lost}{made.text}"


def _comment(setting: Setting) -> str:
    options = setting.options()
    words = f"# with --system_instruction {shlex.quote(options.system_prompt)}\n" if options.system_prompt else ""
    return words + ("# with --apply_chat_template\n" if options.apply_chat_template else "")


def config_text(specification: Mapping[str, Any]) -> str:
    """Return a dataset of an AISBench config as a config of its own."""
    values = pformat(specification.get("dataset"), width=100, sort_dicts=False)
    return f"datasets = [\n{values}\n]\n"


def slug(text: str) -> str:
    """Return a text as a name for tasks and files.

    >>> slug("card=cards.wnli,num_demos=2")
    'card_cards_wnli_num_demos_2'
    """
    return re.sub(r"\W+", "_", text).strip("_")[:80] or "exam"
