"""Templates, formats and system prompts of a sweep, as users name them, for an exam of any dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

from proctor.dialects.tables.wordings import texts_of
from proctor.errors import Location, UsageError, did_you_mean
from proctor.foreign_yaml import parse_yaml
from proctor.recipes.exam import Exam
from proctor.recipes.option import Refused
from proctor.running.sweeps import Level

if TYPE_CHECKING:
    from proctor.recipes.recipe import DatasetRecipe

_PLACE: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}|(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_TEXTS: Final = (".txt", ".md")
_FILES: Final = (".yaml", ".yml", ".json")
ALL: Final = "all"


def template_levels(exam: Exam, task: str, given: Sequence[str]) -> list[Level]:
    """Return what ``--templates`` names for an exam.

    Args:
        exam: The exam as it is written.
        task: What names it.
        given: Names of templates; ``all`` of the exam's own; files of prompts (``.txt``, ``.md``: several with ``---``
            between them), or of a template (``.yaml``, ``.json``).

    Raises:
        UsageError: The exam's dialect has no such thing; the message says what it has. A prompt lacks or has too many
            fields.
    """
    found: list[Level] = []
    for name in given:
        if name == ALL:
            found += _own(exam, task)
        elif name.endswith(_TEXTS):
            found += [_of_prompt(exam, place, text, Path(name)) for place, text in texts_of(name)]
        elif name.endswith(_FILES) and exam.dialect not in _BY_EXAM:
            found.append(_of_file(exam, Path(name)))
        elif exam.dialect in _BY_EXAM:
            found.append(Level(name, {"tasks": (name,)}))
        elif _is_table(exam):
            hint = "--templates prompts.txt takes prompts with columns in braces, with --- between them"
            raise UsageError(f"a table has no template '{name}'", why="a table has no templates", hint=hint)
        else:
            found.append(Level(name, {"template": name}))
    return found


_BY_EXAM: Final = ("aisbench", "hub_yaml", "promptfoo")
"""Dialects in which another way to ask the same rows is an exam of its own."""


def _is_table(exam: Exam) -> bool:
    return not isinstance(exam.honours.get("prompt"), Refused)


def _recipe_of(exam: Exam) -> DatasetRecipe:
    return cast("DatasetRecipe", exam.own)  # what the dialect keeps there


def _own(exam: Exam, task: str) -> list[Level]:
    """Return all templates that an exam brings along."""
    names: list[Level] = []
    if exam.dialect == "unitxt":
        from proctor.recipes.recipe import card_templates

        card = _recipe_of(exam).card
        templates = {} if card is None else card_templates(card)
        names = [Level(_called(key, each), {"template": _held(each)}) for key, each in templates.items()]
    elif exam.dialect == "lm_eval" and not _is_table(exam):
        from proctor.dialects.lm_eval.exam import task_of
        from proctor.dialects.lm_eval.factory import template_choices

        prepared = task_of(exam)
        if prepared is not None and prepared.config.template is not None:
            names = [Level(each, {"template": each}) for each in template_choices(prepared.config.template)]
    elif exam.dialect == "promptfoo":
        from proctor.dialects.promptfoo import file_of
        from proctor.dialects.promptfoo.prompts import prompts_of
        from proctor.dialects.promptfoo.reader import read_config

        if (file := file_of(task)) is not None:
            names = [Level(each.name, {"tasks": (f"{file}::{each.name}",)}) for each in prompts_of(read_config(file))]
    if len(names) > 1:
        return names
    raise UsageError(
        f"'{exam.name}' brings no templates to choose all of",
        why=f"it has {len(names) or 'no'} template{'s' * (len(names) != 1)} of its own",
        hint=_offers(exam, task),
    )


def _offers(exam: Exam, task: str) -> str:
    if exam.dialect in _BY_EXAM:
        return f"name other exams that ask the same rows: --templates {task},OTHER"
    if _is_table(exam):
        return "--templates prompts.txt, a file with prompts and --- between them"
    return "name templates (proctor ls lists them), or a file with prompts: --templates prompts.txt"


def _called(key: Any, template: Any) -> str:
    name = template if isinstance(template, str) else getattr(template, "artifact_id", None)
    return str(name or key).rpartition("templates.")[2] or str(key)


def _held(template: Any) -> Any:
    return template if isinstance(template, str) else getattr(template, "artifact_id", None) or template.to_dict()


# -- files ------------------------------------------------------------------------------------------------------------


def _of_file(exam: Exam, file: Path) -> Level:
    """Return a template of a file: keys of a task of lm-eval, or a template of Unitxt's."""
    place = Location(str(file))
    if not file.is_file():
        raise UsageError(f"there is no file {file}")
    try:
        values = parse_yaml(file.read_bytes())
    except yaml.YAMLError as error:
        raise UsageError("this is not YAML", location=place, why=str(error)) from None
    if _is_table(exam) or exam.dialect not in ("lm_eval", "unitxt"):
        raise UsageError(f"'{exam.name}' takes no template of a file", location=place, hint=_offers(exam, exam.name))
    if not isinstance(values, dict) or (exam.dialect == "unitxt" and "__type__" not in values):
        what = "a template with its __type__" if exam.dialect == "unitxt" else "a mapping of keys (doc_to_text: …)"
        raise UsageError(f"the file is not {what}", location=place)
    return Level(file.stem, {"template": values} if exam.dialect == "unitxt" else {"keys": values})


def _of_prompt(exam: Exam, name: str, text: str, file: Path) -> Level:
    """Return the level of a prompt in words, with fields in braces.

    Raises:
        UsageError: It names a field that rows lack, or none; or the dialect has no place for a prompt.
    """
    place = Location(str(file))
    fields = _fields_of(exam)
    if fields is None:
        why = f"exams of {exam.dialect} are asked as their files say"
        raise UsageError(
            f"'{exam.name}' takes no prompt in words", location=place, why=why, hint=_offers(exam, exam.name)
        )
    named = [first or second for first, second in _PLACE.findall(text)]
    unknown = [each for each in named if each not in fields]
    if unknown or not named:
        what = f"has '{unknown[0]}' in braces, and no row has such a field" if unknown else "names no field"
        hint = did_you_mean(unknown[0], fields) if unknown else f"write a field in braces: {{{fields[0]}}}"
        raise UsageError(
            f"the prompt '{name}' {what}", location=place, why=f"the fields are {', '.join(fields)}", hint=hint
        )
    if _is_table(exam):
        return Level(name, {"prompt": (_with_places(text, "{{{}}}".format),)})
    if exam.dialect == "unitxt":
        template = _recipe_of(exam).chosen_templates()[0].to_dict()
        return Level(name, {"template": {**template, "input_format": _with_places(text, "{{{}}}".format)}})
    return Level(name, {"keys": {"doc_to_text": _with_places(text, "{{{{{}}}}}".format)}})


def _with_places(text: str, write: Callable[[str], str]) -> str:
    return _PLACE.sub(lambda found: write(found[1] or found[2]), text)


def _fields_of(exam: Exam) -> list[str] | None:
    """Return the fields that a prompt may name; ``None`` where there is no place for a prompt."""
    if exam.dialect == "unitxt":
        task = _recipe_of(exam).task
        return None if task is None else list(task.input_types)
    from proctor.dialects.lm_eval.exam import task_of

    prepared = task_of(exam)
    return None if prepared is None else sorted(prepared.documents.columns())


# -- formats and system prompts ---------------------------------------------------------------------------------------

_FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"apply_chat_template": False},
    "chat": {"apply_chat_template": True},
    "chat-turns": {"apply_chat_template": True, "demos_as_turns": True},
    "chat-one-turn": {"apply_chat_template": True, "demos_as_turns": False},
}


def format_levels(exam: Exam, task: str, given: Sequence[str]) -> list[Level]:
    """Return what ``--formats`` names: a word (``text``, ``chat`` …), a file of a meta template, a format of recipes.

    Raises:
        UsageError: It is none of them.
    """
    found = []
    for name in given:
        if name in _FORMATS:
            found.append(Level(name, _FORMATS[name]))
        elif Path(name).suffix in (*_FILES, ".py"):
            from proctor.dialects.aisbench.meta_templates import read_meta_template

            found.append(Level(Path(name).stem, {"meta_template": read_meta_template(name)}))
        elif exam.dialect == "unitxt" and name.startswith("formats."):
            found.append(Level(name.removeprefix("formats."), {"tasks": (_with_field(task, "format", name),)}))
        else:
            more = ", a format of a catalog (formats.chat_api)" if exam.dialect == "unitxt" else ""
            raise UsageError(
                f"'{exam.name}' has no format '{name}'",
                why=f"there are {', '.join(_FORMATS)}, a file of a meta template{more}",
                hint=did_you_mean(name, _FORMATS),
            )
    return found


def _with_field(task: str, field: str, value: str) -> str:
    """Return what names a recipe with one field of another value.

    Raises:
        UsageError: The recipe is a file.
    """
    if Path(task).is_file():
        raise UsageError(f"the recipe {task} keeps its {field}", hint="name it as card=…,template=…, not as a file")
    if task.endswith("]"):
        return f"{task[:-1]},{field}={value}]"
    return f"{task},{field}={value}" if "=" in task else f"{task}[{field}={value}]"


def system_levels(given: Sequence[str]) -> list[Level]:
    """Return what ``--system-prompts`` names: ``none``, a file with ``---`` between prompts, or words."""
    found = []
    for text in given:
        if text == "none":
            found.append(Level("none", {}))
        elif text.endswith(_TEXTS):
            found += [Level(name, {"system_prompt": prompt}) for name, prompt in texts_of(text)]
        else:
            found.append(Level(text if len(text) <= _SHORT else f"{text[:_SHORT]}…", {"system_prompt": text}))
    return found


_SHORT: Final = 30  # characters of a system prompt that name it in tables
