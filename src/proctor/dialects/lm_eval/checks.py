"""What a task or group file may say, and everything that is wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.generation import usable
from proctor.dialects.lm_eval.reader import FunctionReference, TaskFile, UnknownTag
from proctor.dialects.lm_eval.template_base import TemplateConfig
from proctor.errors import Diagnostic, Location, ProctorError, ValidationError, did_you_mean

_SHOWN_LENGTH = 80  # characters of a wrong value in a message: one line of a terminal
OUTPUT_TYPES = ("multiple_choice", "generate_until", "loglikelihood", "loglikelihood_rolling")

_KINDS: dict[str, tuple[type, ...]] = {
    "text": (str, int, float, bool),
    "name": (str,),
    "list": (list, tuple),
    "mapping": (dict,),
    "number": (int, float, str),
    "count": (int,),
    "switch": (bool,),
    "function": (FunctionReference,),
}

_TASK_KEYS: dict[str, str] = {
    "task": "text list",
    "task_alias": "text",
    "tag": "text list",
    "custom_dataset": "function",
    "dataset_path": "text",
    "dataset_name": "text",
    "dataset_kwargs": "mapping",
    "training_split": "text",
    "validation_split": "text",
    "test_split": "text",
    "fewshot_split": "text",
    "process_docs": "function",
    "doc_to_text": "text function",
    "doc_to_target": "text function list",
    "doc_to_image": "text function list",
    "doc_to_audio": "text function list",
    "unsafe_code": "switch",
    "doc_to_choice": "text function list mapping",
    "process_results": "text function",
    "use_prompt": "text",
    "description": "text function",
    "target_delimiter": "text",
    "fewshot_delimiter": "text",
    "fewshot_config": "mapping",
    "num_fewshot": "count",
    "metric_list": "list",
    "output_type": "name",
    "generation_kwargs": "mapping",
    "repeats": "count",
    "filter_list": "list name",
    "should_decontaminate": "switch",
    "doc_to_decontamination_query": "text function",
    "gen_prefix": "text function",
    "metadata": "mapping text list",
    "template": "name mapping list",
    "chat_override": "mapping",
    "recipe": "text",
    "clusters": "text",
    "class": "function",
}

_GROUP_KEYS: dict[str, str] = {
    "group": "text",
    "group_alias": "text",
    "task": "list name",
    "children": "mapping",
    "aggregate_metric_list": "list mapping",
    "metadata": "mapping text list",
    "tag": "text list",
}

_FEWSHOT_KEYS: dict[str, str] = {
    "sampler": "text function",
    "split": "text",
    "process_docs": "function",
    "fewshot_indices": "list",
    "samples": "list function",
    "doc_to_text": "text function",
    "doc_to_choice": "text function list mapping",
    "doc_to_target": "text function list",
    "gen_prefix": "text function",
    "fewshot_delimiter": "text",
    "target_delimiter": "text",
}

Locate = Callable[[str], Location | None]


def nowhere(path: str) -> Location | None:
    """Return no location; for values that come from no file."""
    del path
    return None


def task_from_values(
    values: Mapping[str, Any],
    source: TaskFile | None = None,
    item: str = "",
    *,
    template: str | None = None,
) -> TaskConfig:
    """Return the task that a file's values describe.

    Args:
        values: Merged keys.
        source: The file, for places in messages.
        item: The path inside the file, where the task is part of a list or a group.
        template: The template that was chosen by name.

    Raises:
        ValidationError: With every problem there is, each with its place.
    """
    locate = (lambda path: source.location(f"{item}.{path}" if item else path)) if source is not None else nowhere
    problems = list(task_problems(values, locate))
    if problems:
        raise ValidationError(problems)
    known = {each.name for each in fields(TaskConfig)}
    given = {key: value for key, value in values.items() if key in known}
    for key in ("template_config", "template_choice", "source", "originals"):
        given.pop(key, None)
    try:
        return TaskConfig(**given, template_choice=template, source=source)
    except ProctorError as error:
        raise error.located(locate("template")) from None


def _generation_problems(given: Mapping[str, Any], locate: Locate) -> Iterator[Diagnostic]:
    try:
        usable(given)
    except ProctorError as error:
        for problem in error.diagnostics:
            yield replace(problem, location=locate(problem.path.removeprefix("$.")))


def task_problems(values: Mapping[str, Any], locate: Locate = nowhere) -> Iterator[Diagnostic]:
    """Yield what is wrong with a task's values."""
    yield from _key_problems(
        values, {**_TASK_KEYS, "group": "text", "task_list": "list", "include": "list name"}, locate
    )
    output_type = values.get("output_type", "generate_until")
    if isinstance(output_type, str) and output_type not in OUTPUT_TYPES:
        yield Diagnostic(
            f"there is no output_type '{output_type}'",
            locate("output_type"),
            "$.output_type",
            f"there are {', '.join(OUTPUT_TYPES)}",
            did_you_mean(output_type, OUTPUT_TYPES),
        )
    if isinstance(given := values.get("generation_kwargs"), dict):
        yield from _generation_problems(given, locate)
    if isinstance(given := values.get("fewshot_config"), dict):
        yield from _key_problems(given, _FEWSHOT_KEYS, locate, "fewshot_config")
    if isinstance(given := values.get("chat_override"), dict):
        yield from _key_problems(given, _TASK_KEYS, locate, "chat_override")
    yield from _list_problems(values.get("metric_list"), "metric_list", "metric", locate)
    if isinstance(filters := values.get("filter_list"), list):
        yield from _list_problems(filters, "filter_list", "filter", locate)
        for number, each in enumerate(filters):
            if isinstance(each, dict):
                path = f"filter_list[{number}].filter"
                yield from _list_problems(each.get("filter"), path, "function", locate)
    repeats = values.get("repeats")
    if isinstance(repeats, int) and repeats < 1:
        yield Diagnostic(
            f"repeats is {repeats}", locate("repeats"), "$.repeats", "each document is asked at least once"
        )


def group_problems(values: Mapping[str, Any], locate: Locate = nowhere) -> Iterator[Diagnostic]:
    """Yield what is wrong with a group's values; keys of tasks in a group replace those of its members."""
    yield from _key_problems(values, {**_TASK_KEYS, **_GROUP_KEYS, "include": "list name"}, locate)
    metrics = values.get("aggregate_metric_list")
    for number, each in enumerate([metrics] if isinstance(metrics, dict) else metrics or ()):
        path = f"aggregate_metric_list[{number}]"
        if not isinstance(each, dict) or "metric" not in each:
            yield Diagnostic("an entry names no metric", locate(path), f"$.{path}", hint="write - metric: acc")
            continue
        known = {"metric", "filter_list", "aggregation", "weight_by_size"}
        yield from _unknown(each, known, locate, path)
        how = each.get("aggregation", "mean")
        if isinstance(how, str) and how != "mean":
            what = f"there is no aggregation '{how}' for groups"
            yield Diagnostic(what, locate(f"{path}.aggregation"), f"$.{path}.aggregation", "there is 'mean'")


def children_problems(
    path: str, children: object, locate: Locate, known: Collection[str], item: str = ""
) -> Iterator[Diagnostic]:
    """Yield what is wrong with all children of a group, and with theirs: what they are, and what they refer to.

    Args:
        path: The path of the group: ``a::b``.
        children: What the group's ``children`` says.
        locate: Finds the place of a key.
        known: The names of all tasks, groups and tags.
        item: The place of the group in its file: ``children.b``.
    """
    for key, child in children.items() if isinstance(children, dict) else ():
        name, place = f"{path}::{key}", f"{item}.children.{key}" if item else f"children.{key}"
        if not isinstance(child, dict):
            hint = "a child is a task, ref:, tag: or children:"
            yield Diagnostic(f"the child '{name}' is {child!r}", locate(place), f"$.{place}", hint=hint)
            continue
        yield from children_problems(name, child.get("children"), locate, known, place)
        if "ref" in child and str(child["ref"]) not in known:
            yield unknown_reference(name, str(child["ref"]), known, locate(f"{place}.ref"))
        tags = child.get("tag") if not _OF_OWN & set(child) else ()
        for tag in [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else ():
            if tag not in known:
                what = f"'{name}' takes the tag '{tag}', which no task has"
                yield Diagnostic(what, locate(f"{place}.tag"), f"$.{place}.tag", hint=did_you_mean(str(tag), known))


_OF_OWN = frozenset({"ref", "children", "dataset_path", "doc_to_text", "include"})
"""Keys beside which a child's ``tag`` is a tag of its own."""


def unknown_reference(path: str, target: str, known: Iterable[str], place: Location | None) -> Diagnostic:
    """Return the problem of a child that refers to nothing."""
    what = f"'{path}' refers to '{target}', which is not a task, group or tag"
    return Diagnostic(what, place, hint=did_you_mean(target, known))


def _key_problems(
    values: Mapping[str, Any], keys: Mapping[str, str], locate: Locate, below: str = ""
) -> Iterator[Diagnostic]:
    yield from _unknown(values, keys, locate, below)
    for key, value in values.items():
        path = f"{below}.{key}" if below else str(key)
        if isinstance(value, UnknownTag):
            yield Diagnostic(
                f"the tag '{value.tag}' means nothing here", value.location, f"$.{path}", hint="there is !function"
            )
        elif key in keys and value is not None and not _fits(value, keys[key]):
            expected = " or ".join(dict.fromkeys(_SAID[kind] for kind in keys[key].split()))
            yield Diagnostic(f"'{key}' takes {expected}, got {_shown(value)}", locate(path), f"$.{path}")


_SAID = {
    "text": "text",
    "name": "text",
    "list": "a list",
    "mapping": "a mapping",
    "number": "a number",
    "count": "a whole number",
    "switch": "true or false",
    "function": "!function",
}
"""Kinds of values in messages."""


def _unknown(values: Mapping[str, Any], known: Iterable[str], locate: Locate, below: str) -> Iterator[Diagnostic]:
    known = list(known)
    for key in values:
        if key not in known:
            path = f"{below}.{key}" if below else str(key)
            hint = did_you_mean(str(key), known) or f"the keys are {', '.join(sorted(known))}"
            yield Diagnostic(f"there is no key '{key}'", locate(path), f"$.{path}", hint=hint)


def _fits(value: object, kinds: str) -> bool:
    if callable(value) and "function" in kinds:
        return True
    return any(isinstance(value, _KINDS[kind]) for kind in kinds.split()) or isinstance(
        value, TemplateConfig | FewshotConfig
    )


def _shown(value: object) -> str:
    text = repr(str(value) if isinstance(value, FunctionReference) else value)
    return f"{type(value).__name__} {text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 1] + '…'}"


def _list_problems(entries: object, path: str, needed: str, locate: Locate) -> Iterator[Diagnostic]:
    if not isinstance(entries, list):
        return
    for number, each in enumerate(entries):
        place = f"{path}[{number}]"
        if not isinstance(each, dict):
            yield Diagnostic(f"expected a mapping, got {_shown(each)}", locate(place), f"$.{place}")
        elif needed not in each:
            yield Diagnostic(f"an entry of {path} has no '{needed}'", locate(place), f"$.{place}")
