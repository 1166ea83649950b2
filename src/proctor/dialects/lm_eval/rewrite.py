"""Tasks written anew: with another template, in keys that lm-eval itself knows, or as a Unitxt card.

What the other form cannot express is named beside the result; nothing falls away silently.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from jinja2 import nodes

from proctor.artifacts import fetch_artifact
from proctor.dialects.conversion.converted import ConvertedExam, Loss
from proctor.dialects.lm_eval import DIALECT
from proctor.dialects.lm_eval.config import TaskConfig, plain
from proctor.dialects.lm_eval.documents import located_files
from proctor.dialects.lm_eval.factory import resolve_template
from proctor.dialects.lm_eval.jinja import is_template, single_expression
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.lm_eval.rewrite_as_card import Converted, to_unitxt
from proctor.dialects.lm_eval.selection import TaskFinder
from proctor.dialects.lm_eval.template import MOST_LABELS, QuestionTemplate, StyledTemplate
from proctor.dialects.lm_eval.tree import Leaf
from proctor.dialects.registry import found_by
from proctor.errors import Location, TemplateError, UsageError, did_you_mean
from proctor.recipes.options import ExamOptions
from proctor.templates.styles import QuestionStyle

TARGETS = ("proctor", "lm-eval", "card")
SHORT_NAMES = {"mcq": "mmlu", "generate": "generate_until"}
# Keys of task files that only Proctor reads.
_OWN_KEYS = frozenset({"template", "chat_override", "task_list", "children"})
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def rewritten(name: str, to: str, options: ExamOptions) -> ConvertedExam | None:
    """Return a task in a form, in its own words; ``None`` where a name is neither a task nor a recipe for lm-eval."""
    is_recipe = to == "lm-eval" and "=" in name.partition("[")[0]
    if not is_recipe:
        found = found_by(name, replace(options, template=None))
        if found is None or found[0] is not DIALECT:
            return None
    made = convert(name, template=options.template, to=to, include_paths=options.include_paths)
    return ConvertedExam(name, made.text, lost=tuple(Loss("requests", each) for each in made.lost))


def convert(
    name: str,
    *,
    template: str | None = None,
    to: str = "proctor",
    include_paths: tuple[str, ...] = (),
    keys: Mapping[str, Any] | None = None,
) -> Converted:
    """Return a task in another form.

    Args:
        name: A task's name, address or file; or a recipe (``card=…,template=…``), which becomes a task of lm-eval.
        template: The template to use: ``cloze``, ``mcq``, ``generate`` or any other name.
        to: ``proctor`` keeps ``template:``; ``lm-eval`` writes it out in Jinja; ``card`` makes a Unitxt card.
        include_paths: More folders with tasks.
        keys: Keys of the task to replace.

    Raises:
        UsageError: The name is a group, or there is no such form.
        TemplateError: The task has nothing that a template could wrap.
    """
    if to not in TARGETS:
        raise UsageError(
            f"there is no form '{to}'", why=f"there are {', '.join(TARGETS)}", hint=did_you_mean(to, TARGETS)
        )
    if "=" in name.partition("[")[0]:
        return _recipe_task(name, template, to)
    found = TaskFinder(include_paths).find(name)
    if len(found) != 1 or not isinstance(found[0], Leaf):
        raise UsageError(f"'{name}' is not a single task", hint="convert its tasks one by one")
    leaf = found[0]
    chosen = leaf.template if template is None else SHORT_NAMES.get(template, template)
    leaf.config()
    values = {key: value for key, value in leaf.values.items() if key not in {"tag", "group"}}
    values.update(keys or {})
    values["task"] = _new_name(leaf, chosen)
    if isinstance(arguments := values.get("dataset_kwargs"), dict) and "data_files" in arguments:
        files = located_files(arguments["data_files"], None if leaf.source is None else leaf.source.path)
        values["dataset_kwargs"] = {**arguments, "data_files": files}
    if to == "card":
        return to_unitxt(values)
    if to == "proctor":
        return _to_proctor(values, chosen, leaf)
    return _to_lm_eval(values, chosen, leaf)


def _recipe_task(recipe: str, template: str | None, to: str) -> Converted:
    """Return the task of three lines that runs a recipe inside lm-eval, and here."""
    if to != "lm-eval" or template is not None:
        raise UsageError(f"a recipe converts to a task of lm-eval only, not to '{to}'", hint="add --to lm-eval")
    fetch_artifact(recipe)  # says what is wrong with it
    card = recipe.partition("card=")[2].partition(",")[0]
    task = re.sub(r"\W+", "_", Path(card).stem.removeprefix("cards.")).strip("_") or "recipe"
    values = {"task": task, "class": FunctionReference(_RECIPE_CLASS, Location("")), "recipe": recipe}
    lost = ("num_fewshot, template and metrics: they are the recipe's own, lm-eval's options do not change them",)
    return Converted(_yaml(values), lost)


_RECIPE_CLASS = "proctor.integrations.lm_eval.ProctorTask"


def _new_name(leaf: Leaf, chosen: str | None) -> str:
    base = leaf.name.partition("@")[0].replace("::", "_")
    return base if chosen is None else f"{base}_{chosen.replace('::', '_')}"


def _to_proctor(values: dict[str, Any], chosen: str | None, leaf: Leaf) -> Converted:
    if chosen is not None:
        made, _ = resolve_template(values.get("template"), chosen, leaf.source.path if leaf.source else "")
        spec, by_name = made.to_dict(), resolve_template(None, chosen)[0]
        values["template"] = chosen if spec == by_name.to_dict() else spec
    return Converted(_yaml(values), tuple(_function_notes(values, leaf)))


# -- lm-eval ----------------------------------------------------------------------------------------------------------


def _to_lm_eval(values: dict[str, Any], chosen: str | None, leaf: Leaf) -> Converted:
    lost = [f"{key}: lm-eval has no such key" for key in _OWN_KEYS & set(values) if key != "template"]
    template = values.get("template")
    if template is None and chosen is None:
        kept = {key: value for key, value in values.items() if key not in _OWN_KEYS}
        return Converted(_yaml(kept), (*lost, *_function_notes(values, leaf)))
    made, places = resolve_template(template, chosen)
    if not isinstance(made, StyledTemplate) or not type(made).__module__.startswith("proctor."):
        raise TemplateError(f"the template {type(made).__name__} is Python code, which no task file can express")
    values = {**values, **places}
    kept = {key: value for key, value in values.items() if key not in _OWN_KEYS}
    config = TaskConfig(
        **{key: value for key, value in values.items() if key in TaskConfig.__dataclass_fields__},
        template_choice=chosen,
    )
    written = _Jinja(made.style, values, answers_with_text=isinstance(made, QuestionTemplate))
    kept.update(doc_to_text=written.text(), output_type=config.output_type)
    if config.output_type == "multiple_choice":
        kept["doc_to_choice"] = written.choices()
        kept["doc_to_target"] = written.gold()
    else:
        kept.pop("doc_to_choice", None)
        kept["doc_to_target"] = written.target()
    for key in ("generation_kwargs", "filter_list", "metric_list", "fewshot_delimiter"):
        value = getattr(config, key)
        if value is not None and (key != "fewshot_delimiter" or value != "\n\n"):
            kept[key] = value
        elif key in kept and value is None:
            del kept[key]
    demos = values.get("fewshot_config")
    own = [key for key in ("doc_to_text", "doc_to_choice", "doc_to_target") if isinstance(demos, dict) and key in demos]
    lost += [f"fewshot_config.{key}: demos keep their own words, which the template does not wrap" for key in own]
    return Converted(_yaml(kept), (*lost, *written.lost, *_function_notes(values, leaf)))


def _finds_position(template: str) -> bool:
    """Return whether ``{{ … .index(…) }}`` computes a position already."""
    expression = single_expression(template) if is_template(template) else None
    return isinstance(expression, nodes.Call) and getattr(expression.node, "attr", "") == "index"


class _Jinja:
    """Writes a question style out in Jinja."""

    def __init__(self, style: QuestionStyle, values: Mapping[str, Any], *, answers_with_text: bool) -> None:
        self._style = style
        self._values = values
        self._with_text = answers_with_text
        self.lost: list[str] = []

    def text(self) -> str:
        style = self._style
        question = self._inline("doc_to_text")
        asked = f"{question} {style.blank}" if style.blank else question
        shown = self._shown() if style.shows_choices and self._values.get("doc_to_choice") is not None else ""
        if shown and style.choices_prefix:
            shown = f"{style.choices_prefix}{shown}"
            if style.choices_prefix[0].isspace():
                asked, shown = f"{asked}{shown}", ""
        if style.joins_parts:
            parts = [part for part in (style.prefix, asked, shown, style.suffix) if part]
            return style.question_choice_delimiter.join(parts)
        return f"{style.prefix}{asked}{style.question_choice_delimiter if shown else ''}{shown}{style.suffix}"

    def _shown(self) -> str:
        choices = self._expression("doc_to_choice")
        one = self._one_choice("choice")
        between = f"{{% if not loop.last %}}{self._style.choice_delimiter}{{% endif %}}"
        return f"{{% for choice in {choices} %}}{one}{between}{{% endfor %}}"

    def _one_choice(self, choice: str) -> str:
        form = self._style.choice_format or "{choice}"
        return form.replace("{label}", f"{{{{{self._label('loop.index0')}}}}}").replace("{choice}", f"{{{{{choice}}}}}")

    def _label(self, position: str) -> str:
        labels = self._style.labels
        if labels.given is not None:
            return f"{list(labels.given)!r}[{position}]"
        if labels.alphabet == "numbers":
            bare = f"{position} + 1"
        else:
            alphabet = _LETTERS if labels.alphabet == "letters" else _LETTERS.lower()
            self._note(f"labels: '{labels.alphabet}' end after {len(alphabet)} choices")
            bare = f"{alphabet!r}[{position}]"
        before, _, after = labels.form.partition("{}")
        parts = [repr(before)] * bool(before) + [f"({bare})"] + [repr(after)] * bool(after)
        return " ~ ".join(parts) if len(parts) > 1 else bare

    def choices(self) -> Any:
        given = self._values.get("doc_to_choice")
        if self._style.kind == "cloze" and not (self._style.formats_continuations and self._style.choice_format):
            return given
        choices = self._expression("doc_to_choice")
        if self._style.kind == "cloze":
            one = self._one_choice("choice")
            self._note("choices: an apostrophe in a choice would end the text in the list that Jinja writes")
            return f"[{{% for choice in {choices} %}}'{one}'{{% if not loop.last %}}, {{% endif %}}{{% endfor %}}]"
        label = self._label("loop.index0")
        return (
            f"[{{% for choice in {choices} %}}'{{{{{label}}}}}'{{% if not loop.last %}}, {{% endif %}}{{% endfor %}}]"
        )

    def target(self) -> Any:
        """Return what the model is to write: the label of the right choice, or its text."""
        given = self._values.get("doc_to_target")
        if self._values.get("doc_to_choice") is None:
            return given
        found = f"({self._expression('doc_to_choice')})[p]" if self._with_text else self._label("p")
        return f"{self._position()}{{{{ ({found}) if p is integer else p }}}}"

    def gold(self) -> Any:
        """Return the position of the right choice, however the task names it."""
        given = self._values.get("doc_to_target")
        if not isinstance(given, str) or (self._style.kind == "cloze" and not self._style.formats_continuations):
            return given
        return given if _finds_position(given) else f"{self._position()}{{{{ p }}}}"

    def _position(self) -> str:
        """Return Jinja that sets ``p`` to the position of the answer: given as one, as a text, or as a label."""
        given = self._values.get("doc_to_target")
        answer = str(given) if isinstance(given, int) else self._expression("doc_to_target")
        sets = f"{{% set t = ({answer}) %}}{{% set c = ({self._expression('doc_to_choice')}) %}}"
        labels = list(self._style.labels.take(MOST_LABELS))
        digits = "t is string and t.isdigit() and t|int < c|length"
        named = f"c.index(t) if t in c else ({labels!r}.index(t) if t in {labels!r} else %s)"
        if isinstance(given, str) and is_template(given):
            found = f"t|int if {digits} else ({named % 't'})"
        else:
            found = named % f"(t|int if {digits} else t)"
        return f"{sets}{{% set p = t if t is integer else ({found}) %}}"

    def _inline(self, key: str) -> str:
        value = self._values.get(key)
        if isinstance(value, str):
            return value if is_template(value) else f"{{{{{value}}}}}"
        raise TemplateError(
            f"{key} is {plain(value)!r}, which a template cannot wrap in Jinja", hint="write a column or a template"
        )

    def _expression(self, key: str) -> str:
        value = self._values.get(key)
        if isinstance(value, list | dict):
            return repr(list(value.values()) if isinstance(value, dict) else value)
        text = self._inline(key).strip()
        if single_expression(text) is None:
            raise TemplateError(f"{key} is {value!r}, which is not a single expression", hint="write {{ expression }}")
        return text[2:-2].strip()

    def _note(self, text: str) -> None:
        if text not in self.lost:
            self.lost.append(text)


def _function_notes(values: Mapping[str, Any], leaf: Leaf) -> list[str]:
    names = [f"{key} ({value.name})" for key, value in values.items() if isinstance(value, FunctionReference)]
    if not names or leaf.source is None:
        return []
    return [
        f"functions: {', '.join(names)} are looked for beside the file; put it into the folder of {leaf.source.path}"
    ]


class _Dumper(yaml.SafeDumper):
    """Writes functions as tags and texts of several lines as they read."""


_Dumper.add_representer(FunctionReference, lambda dumper, value: dumper.represent_scalar("!function", value.name))
_Dumper.add_representer(tuple, lambda dumper, value: dumper.represent_list(list(value)))


def _yaml(values: Mapping[str, Any]) -> str:
    ordered = {"task": values["task"], **values}
    return str(yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120))
