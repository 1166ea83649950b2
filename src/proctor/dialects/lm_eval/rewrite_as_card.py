"""Tasks as Unitxt cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import nodes

from proctor.artifacts import fetch_artifact
from proctor.dialects.lm_eval.config import plain
from proctor.dialects.lm_eval.jinja import is_template, parse_template, single_expression
from proctor.dialects.lm_eval.metrics import metric_problems
from proctor.errors import UsageError
from proctor.scoring.metric_table import metric_table
from proctor.scoring.named_table import LM_EVAL, named

_DROPPED_BY_UNITXT = (
    *("process_docs", "process_results", "filter_list", "generation_kwargs", "gen_prefix", "fewshot_config"),
    *("repeats", "doc_to_image", "doc_to_audio", "description", "use_prompt", "custom_dataset"),
)

_LOADED = ("data_files", "data_dir", "revision", "num_proc")
"""Arguments of ``datasets.load_dataset`` that a card's loader has, too."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A task in another form.

    Attributes:
        text: YAML or JSON.
        lost: What the other form does not say, each with its reason.
    """

    text: str
    lost: tuple[str, ...] = ()


def to_unitxt(values: Mapping[str, Any]) -> Converted:
    """Return a card; a multiple-choice task becomes an instance of Unitxt's question answering with choices."""
    lost = [f"{key}: a card has no place for it" for key in _DROPPED_BY_UNITXT if values.get(key) is not None]
    kind = values.get("output_type", "generate_until")
    choice = kind == "multiple_choice"
    if kind.startswith("loglikelihood"):
        raise UsageError(f"a task of output_type {kind} is not a Unitxt card", why="Unitxt generates, or chooses")
    if values.get("dataset_path") is None:
        raise UsageError("a task without dataset_path is not a Unitxt card")
    steps: list[dict[str, Any]] = [_renamed_splits(values)]
    steps += _field_steps(values, "doc_to_text", "question", lost)
    if choice:  # the answer first: the choices may replace the column that it is looked up in
        steps += _field_steps(values, "doc_to_target", "answer", lost)
        steps += _field_steps(values, "doc_to_choice", "choices", lost)
    else:
        steps += _field_steps(values, "doc_to_target", "answers", lost)
        steps.append({"__type__": "list_field_values", "fields": ["answers"], "to_field": "answers"})
    loader = {"__type__": "load_hf", "path": values["dataset_path"]}
    if values.get("dataset_name") is not None:
        loader["name"] = values["dataset_name"]
    for key, value in (values.get("dataset_kwargs") or {}).items():
        if key in _LOADED:
            loader[key] = value
        elif key != "trust_remote_code":
            lost.append(f"dataset_kwargs.{key}: the loader of a card has no such argument")
    card = {
        "__type__": "task_card",
        "loader": loader,
        "preprocess_steps": [step for step in steps if step],
        "task": _of_choices(values, lost) if choice else _of_texts(values, lost),
        "templates": "templates.qa.multiple_choice.open.all" if choice else "templates.qa.open.all",
    }
    return Converted(json.dumps(card, indent=4, ensure_ascii=False), tuple(lost))


def _of_choices(values: Mapping[str, Any], lost: list[str]) -> str:
    """Return the task of choices; it counts how often the likeliest choice is right, as ``acc`` does."""
    others = [entry["metric"] for entry in values.get("metric_list") or () if entry.get("metric") != "acc"]
    lost += [f"metric {plain(each)}: a card counts how often the likeliest choice is right (acc)" for each in others]
    return "tasks.qa.multiple_choice.open"


def _of_texts(values: Mapping[str, Any], lost: list[str]) -> str | dict[str, Any]:
    """Return the task of texts, with the metrics of the task file."""
    metrics = []
    for entry in values.get("metric_list") or [{"metric": "exact_match"}]:
        is_code = not isinstance(entry["metric"], str)
        problems = [] if is_code else [each.what for each in metric_problems(entry)]
        if is_code or problems:
            lost.append(f"metric {plain(entry['metric'])}: {problems[0] if problems else 'it is code of the task'}")
        else:
            metrics.append(_metric(entry))
    if not metrics:
        return "tasks.qa.open"
    if all(isinstance(each, str) for each in metrics):
        return f"tasks.qa.open[metrics=[{','.join(metrics)}]]"
    return {**fetch_artifact("tasks.qa.open").to_dict(), "metrics": metrics}


def _metric(entry: Mapping[str, Any]) -> Any:
    """Return a metric of the table by its name, or with its arguments as JSON."""
    name = str(entry["metric"])
    own = metric_table().find(named(name)[0], LM_EVAL)
    whole = own.key if own is not None and ":" not in name and "[" not in name else name
    arguments = {key: plain(value) for key, value in entry.items() if key not in _NOT_ARGUMENTS}
    how = entry.get("aggregation")
    if own is None:
        return {**fetch_artifact(whole).to_dict(), **arguments} if arguments else whole
    if not arguments and how in (None, own.aggregation):
        return whole
    made = {"__type__": "registered_metric", "metric": own.key, "arguments": arguments}
    return made if how in (None, own.aggregation) else {**made, "aggregation": how}


_NOT_ARGUMENTS = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})


def _renamed_splits(values: Mapping[str, Any]) -> dict[str, Any]:
    mapper: dict[str, str] = {}
    for ours, key in (("train", "training_split"), ("validation", "validation_split"), ("test", "test_split")):
        if values.get(key) is not None:
            mapper[str(values[key])] = ours
    if (
        values.get("test_split") is None and values.get("validation_split") is not None
    ):  # what is asked about is the test
        mapper[str(values["validation_split"])] = "test"
    return {"__type__": "rename_splits", "mapper": mapper}


def _field_steps(values: Mapping[str, Any], key: str, field: str, lost: list[str]) -> list[dict[str, Any]]:
    """Return the operators that put what a field specification finds into a field of the task."""
    spec = values.get(key)
    if isinstance(spec, list | dict | int):
        constant = list(spec.values()) if isinstance(spec, dict) else spec
        return [{"__type__": "set", "fields": {field: constant}}]
    text = str(spec).strip() if isinstance(spec, str) else ""
    if (literal := _literal_index(text)) is not None:
        labels, column = literal
        return [
            {"__type__": "set", "fields": {f"{field}_labels": labels}},
            {"__type__": "index_of", "search_in": f"{field}_labels", "index_of": column, "to_field": field},
        ]
    path = text if text and not is_template(text) else _path(text)
    if path is not None:
        return [] if path == field else [{"__type__": "copy", "field": path, "to_field": field}]
    if (indexed := _indexed(text)) is not None:
        search_in, index_of = indexed
        return [{"__type__": "index_of", "search_in": search_in, "index_of": index_of, "to_field": field}]
    if isinstance(spec, str) and (form := _format_of(spec)) is not None:
        return [{"__type__": "format_text", "to_field": field, "text": form}]
    lost.append(f"{key}: {plain(spec)!r} is more than a path, fill the field '{field}' yourself")
    return []


def _format_of(template: str) -> str | None:
    """Return ``So: {q[text]}`` for ``So: {{q.text}}``; ``None`` where a template does more than name fields."""
    parsed = parse_template(template)
    parts: list[str] = []
    for statement in parsed.body:
        for node in statement.nodes if isinstance(statement, nodes.Output) else [statement]:
            if isinstance(node, nodes.TemplateData):
                parts.append(node.data.replace("{", "{{").replace("}", "}}"))
            elif (steps := _steps_of(node)) is not None:
                parts.append("{" + steps[0] + "".join(f"[{step}]" for step in steps[1:]) + "}")
            else:
                return None
    return "".join(parts)


def _steps_of(node: nodes.Node) -> list[str] | None:
    """Return ``["choices", "text", "0"]`` for ``choices.text[0]``; ``None`` for whatever does more than walk."""
    if isinstance(node, nodes.Name):
        return [node.name]
    step = _step_of(node)
    above = _steps_of(node.node) if isinstance(node, nodes.Getattr | nodes.Getitem) else None
    return None if above is None or step is None else [*above, step]


def _step_of(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Getattr):
        return str(node.attr)
    key = node.arg.value if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) else None
    return str(key) if _plain_key(key) else None


def _plain_key(key: object) -> bool:
    return (isinstance(key, int) and not isinstance(key, bool) and key >= 0) or (
        isinstance(key, str) and key.isidentifier()
    )


def _literal_index(template: str) -> tuple[list[Any], str] | None:
    """Return the list and the path of ``{{['A', 'B'].index(answer)}}``."""
    expression = single_expression(template) if is_template(template) else None
    if not isinstance(expression, nodes.Call) or not isinstance(expression.node, nodes.Getattr):
        return None
    values, steps = expression.node.node, _steps_of(expression.args[0]) if len(expression.args) == 1 else None
    if expression.node.attr != "index" or steps is None or not isinstance(values, nodes.List):
        return None
    items = [each.value for each in values.items if isinstance(each, nodes.Const)]
    return (items, "/".join(steps)) if len(items) == len(values.items) else None


def _path(template: str) -> str | None:
    """Return ``choices/text`` for ``{{choices.text}}``; ``None`` for whatever does more than walk."""
    inner = template[2:-2].strip() if template.startswith("{{") and template.endswith("}}") else ""
    parts = inner.split(".")
    return "/".join(parts) if inner and all(part.isidentifier() for part in parts) else None


def _indexed(template: str) -> tuple[str, str] | None:
    inner = template[2:-2].strip() if template.startswith("{{") and template.endswith("}}") else ""
    place, call, argument = inner.partition(".index(")
    if not call or not argument.endswith(")"):
        return None
    search_in, index_of = _path(f"{{{{{place}}}}}"), _path(f"{{{{{argument[:-1]}}}}}")
    return (search_in, index_of) if search_in and index_of else None
