"""Checks task and group files, and collects every problem of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.generation import usable
from proctor.dialects.lm_eval.lmms_keys import KEYS, as_ours, lmms_problems
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

TASK_KEYS: Final[dict[str, str]] = {
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
    **KEYS,
}
"""Keys of a task, and which kinds of values they take."""

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
    values: Mapping[str, Any], source: TaskFile | None = None, item: str = "", *, template: str | None = None
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
    locate = (lambda path: source.location(path, item)) if source is not None else nowhere
    problems = list(task_problems(values, locate))
    if problems:
        raise ValidationError(problems)
    known = {each.name for each in fields(TaskConfig)}
    given = {key: value for key, value in as_ours(values).items() if key in known}
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


def _switch_problems(metrics: Any, locate: Locate) -> Iterator[Diagnostic]:
    switches = dict.fromkeys(("higher_is_better", "hf_evaluate"), "switch")
    for number, each in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(each, dict):
            yield from value_problems(each, switches, locate, f"metric_list[{number}]")


def task_problems(values: Mapping[str, Any], locate: Locate = nowhere) -> Iterator[Diagnostic]:
    """Yield what is wrong with a task's values."""
    yield from key_problems(values, {**TASK_KEYS, "group": "text", "task_list": "list", "include": "list name"}, locate)
    yield from lmms_problems(values, locate)
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
        if not isinstance(given.get("sampler"), str | None):  # a class may read keys of its own
            yield from value_problems(given, _FEWSHOT_KEYS, locate, "fewshot_config")
        else:
            yield from key_problems(given, _FEWSHOT_KEYS, locate, "fewshot_config")
    if isinstance(given := values.get("chat_override"), dict):
        yield from key_problems(given, TASK_KEYS, locate, "chat_override")
    yield from _list_problems(values.get("metric_list"), "metric_list", "metric", locate)
    yield from _switch_problems(values.get("metric_list"), locate)
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


def key_problems(
    values: Mapping[str, Any], keys: Mapping[str, str], locate: Locate, below: str = ""
) -> Iterator[Diagnostic]:
    """Yield keys that are not known, and values of a kind that their keys do not take."""
    yield from unknown_keys(values, keys, locate, below)
    yield from value_problems(values, keys, locate, below)


def value_problems(
    values: Mapping[str, Any], keys: Mapping[str, str], locate: Locate, below: str = ""
) -> Iterator[Diagnostic]:
    """Yield values of a kind that their keys do not take."""
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


def unknown_keys(values: Mapping[str, Any], known: Iterable[str], locate: Locate, below: str) -> Iterator[Diagnostic]:
    """Yield keys that are not among the known ones, each with the closest of them."""
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
