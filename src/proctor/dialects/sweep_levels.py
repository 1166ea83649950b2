"""Templates, formats and system prompts of a sweep, as users name them, for an exam of any dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from proctor.dialects.registry import dialect_named
from proctor.dialects.tables.wordings import texts_of
from proctor.errors import Location, UsageError, did_you_mean
from proctor.foreign_yaml import parse_yaml
from proctor.recipes.exam import Exam
from proctor.recipes.option import Refused
from proctor.running.sweeps import Level

_PLACE: Final = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}|(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")
_TEXTS: Final = (".txt", ".md")
_FILES: Final = (".yaml", ".yml", ".json")
_BY_EXAM: Final = ("aisbench", "hub_yaml", "promptfoo")  # another way to ask is another exam


def template_levels(exam: Exam, task: str, given: Sequence[str]) -> Iterator[Level]:
    """Yield what ``--templates`` names for an exam, which ``task`` names.

    Raises:
        UsageError: Exams of its dialect have no such thing; a prompt names a field that rows lack, or none.
    """
    for name in given:
        if name == "all":
            yield from _own(exam, task)
        elif name.endswith(_TEXTS):
            for place, text in texts_of(name):
                yield _of_prompt(exam, task, place, text, Location(name))
        elif exam.dialect in _BY_EXAM:
            yield Level(name, {"tasks": (name,)})
        elif _is_table(exam):
            raise UsageError(f"a table has no template '{name}'", why="it has no templates", hint=_offers(exam, task))
        else:
            yield _of_file(exam, name) if name.endswith(_FILES) else Level(name, {"template": name})


def first_prompt(task: str, given: Sequence[str]) -> str:
    """Return the first prompt that ``--templates`` names for a table, whose question column nobody then has to name."""
    table = dialect_named("tables")
    file = next((name for name in given if name.endswith(_TEXTS)), None)
    if file is None or table is None or not table.recognises(task):
        return ""
    return next((_PLACE.sub(r"{\1\2}", text) for _, text in texts_of(file)), "")


def _is_table(exam: Exam) -> bool:
    return not isinstance(exam.honours.get("prompt"), Refused)


def _offers(exam: Exam, task: str) -> str:
    if exam.dialect in _BY_EXAM:
        return f"name other exams that ask the same rows: --templates {task},OTHER"
    prompts = "--templates prompts.txt takes prompts with fields in braces, with --- between them"
    return prompts if _is_table(exam) else f"name templates (proctor ls lists them); {prompts}"


def _own(exam: Exam, task: str) -> list[Level]:
    """Return all templates that an exam brings along, at least two."""
    found: list[Level] = []
    own: Any = exam.own
    if exam.dialect == "unitxt":
        from proctor.recipes.recipe import card_templates

        card = own.card
        for key, each in ({} if card is None else card_templates(card)).items():
            name = each if isinstance(each, str) else getattr(each, "artifact_id", None)
            found.append(Level(str(name or key).removeprefix("templates."), {"template": name or each.to_dict()}))
    elif exam.dialect == "lm_eval":
        from proctor.dialects.lm_eval.factory import template_choices

        config = getattr(own, "config", None)
        if config is not None and config.template is not None:
            found = [Level(each, {"template": each}) for each in template_choices(config.template)]
    if len(found) > 1:
        return found
    why = f"it has {len(found) or 'no'} template{'s' * (len(found) != 1)} of its own"
    raise UsageError(f"'{exam.name}' brings no templates to choose all of", why=why, hint=_offers(exam, task))


def _of_file(exam: Exam, name: str) -> Level:
    """Return a template of a file: keys of a task of lm-eval, or a template of Unitxt's."""
    is_recipe = exam.dialect == "unitxt"
    try:
        values = parse_yaml(Path(name).read_bytes())
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"the template {name} cannot be read", why=str(error)) from None
    if not isinstance(values, dict) or (is_recipe and "__type__" not in values):
        what = "a template with its __type__" if is_recipe else "a mapping of keys (doc_to_text: …)"
        raise UsageError(f"the file is not {what}", location=Location(name))
    return Level(Path(name).stem, {"template": values} if is_recipe else {"keys": values})


def _of_prompt(exam: Exam, task: str, name: str, text: str, place: Location) -> Level:
    """Return the level of a prompt in words, with fields in braces."""
    fields = _fields_of(exam)
    if fields is None:
        why = f"exams of {exam.dialect} are asked as their files say"
        raise UsageError(f"'{exam.name}' takes no prompt in words", location=place, why=why, hint=_offers(exam, task))
    named = [first or second for first, second in _PLACE.findall(text)]
    unknown = [each for each in named if each not in fields]
    if unknown or not named:
        what = f"has '{unknown[0]}' in braces, and no row has such a field" if unknown else "names no field"
        hint = did_you_mean(unknown[0], fields) if unknown else f"write a field in braces: {{{fields[0]}}}"
        why = f"the fields are {', '.join(fields)}"
        raise UsageError(f"the prompt '{name}' {what}", location=place, why=why, hint=hint)
    once, twice = _PLACE.sub(r"{\1\2}", text), _PLACE.sub(r"{{\1\2}}", text)
    if _is_table(exam):
        return Level(name, {"prompt": (once,)})
    if exam.dialect == "unitxt":
        own: Any = exam.own
        return Level(name, {"template": {**own.chosen_templates()[0].to_dict(), "input_format": once}})
    return Level(name, {"keys": {"doc_to_text": twice}})


def _fields_of(exam: Exam) -> list[str] | None:
    """Return the fields that a prompt may name; ``None`` where there is no place for a prompt."""
    own: Any = exam.own
    if exam.dialect == "unitxt":
        return None if own.task is None else list(own.task.input_types)
    return sorted(own.documents.columns()) if exam.dialect == "lm_eval" and hasattr(own, "documents") else None


_FORMATS: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"apply_chat_template": False},
    "chat": {"apply_chat_template": True},
    "chat-turns": {"apply_chat_template": True, "demos_as_turns": True},
    "chat-one-turn": {"apply_chat_template": True, "demos_as_turns": False},
}


def format_levels(exam: Exam, task: str, given: Sequence[str]) -> Iterator[Level]:
    """Yield what ``--formats`` names: a word (``text``, ``chat`` …), a file of a meta template, a format of recipes."""
    for name in given:
        if name in _FORMATS:
            yield Level(name, _FORMATS[name])
        elif name.endswith((*_FILES, ".py")):
            from proctor.dialects.aisbench.meta_templates import read_meta_template

            yield Level(Path(name).stem, {"meta_template": read_meta_template(name)})
        elif exam.dialect == "unitxt" and name.startswith("formats.") and not Path(task).is_file():
            changed = f"{task[:-1]},format={name}]" if task.endswith("]") else f"{task}[format={name}]"
            changed = f"{task},format={name}" if "=" in task.partition("[")[0] else changed
            yield Level(name.removeprefix("formats."), {"tasks": (changed,)})
        else:
            more = "; for a recipe also one of the catalog (formats.…)" if exam.dialect == "unitxt" else ""
            why = f"there are {', '.join(_FORMATS)}, or a file of a meta template{more}"
            raise UsageError(f"'{exam.name}' has no format '{name}'", why=why, hint=did_you_mean(name, _FORMATS))


def system_levels(given: Sequence[str]) -> Iterator[Level]:
    """Yield what ``--system-prompts`` names: ``none``, a file with ``---`` between prompts, or words."""
    for text in given:
        if text.startswith("none,"):
            raise UsageError("commas are part of a system prompt", hint="--system-prompts none --system-prompts TEXT")
        if text.endswith(_TEXTS):
            yield from (Level(name, {"system_prompt": prompt}) for name, prompt in texts_of(text))
        else:
            name = text if len(text) <= _SHORT else f"{text[:_SHORT]}…"
            yield Level(name, {} if text == "none" else {"system_prompt": text})


_SHORT: Final = 30  # characters of a system prompt that name it in tables
