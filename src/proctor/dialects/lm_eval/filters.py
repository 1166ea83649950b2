"""``filter_list``: text functions of every system by name, and code of task files as filters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.errors import Diagnostic, ProctorError
from proctor.guests.lm_eval.registry import filter_registry, registered
from proctor.guests.overrides import brought
from proctor.scoring.named_table import LM_EVAL, is_in_catalog, named
from proctor.scoring.text.filters import of_class
from proctor.scoring.text.processors import find_text_function
from proctor.scoring.text.text_functions import TextFunction, text_function_table

Answers = Sequence[Any]
TAKE_FIRST = "take_first"


def make_filter(step: Mapping[str, Any]) -> TextFunction:
    """Return the filter that an entry of a pipeline describes; ``!function`` may name a class or a function.

    Raises:
        ScoringError: There is no such filter, or it takes no such argument.
        TrustError: It is a class of the task file, and code is not trusted.
    """
    name, arguments = step["function"], {key: value for key, value in step.items() if key != "function"}
    if not isinstance(name, str):
        return _of_class(value_of(name, "filter_list"), arguments)
    is_theirs = text_function_table().find(name, LM_EVAL, {LM_EVAL}) is not None
    kind = _changed(name) if is_theirs else registered("filter_registry", name)
    if kind is not None:
        return _of_class(kind, arguments)
    if name == "custom" and "filter_fn" in arguments:
        function = value_of(arguments["filter_fn"], "filter_fn")
        arguments["filter_fn"] = guarded(function, "filter_fn") if callable(function) else function
    if text_function_table().find(named(name)[0], LM_EVAL) is None and not is_in_catalog(name):
        raise text_function_table().unknown(name, "filter", list(text_function_table().of(LM_EVAL)))
    return find_text_function(name, LM_EVAL, arguments)


def _changed(name: str) -> Any:
    """Return the class of one of lm-eval's filters upon which a program has put something; ``None`` of others."""
    if "proctor.guests.lm_eval.filters" not in sys.modules:  # nobody has imported what he could change
        return None
    own = name.removeprefix(f"{LM_EVAL}:")  # names of other systems stand in the same table
    kind = filter_registry[own] if own in filter_registry else None  # noqa: SIM401 - its get raises
    return kind if isinstance(kind, type) and any(brought(kind)) else None


def filter_problems(step: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an entry of a pipeline that can be known before anybody is asked; no code runs."""
    if not isinstance(step["function"], str) or step["function"] == "custom":
        return
    try:
        make_filter(step)
    except ProctorError as error:
        yield from error.diagnostics
    else:
        entry = text_function_table().find(named(step["function"])[0], LM_EVAL)
        yield from entry.check() if entry is not None else ()


def filter_list_problems(config: TaskConfig) -> Iterator[Diagnostic]:
    """Yield what is wrong with the filters of a task, each with its place: names, arguments, packages, trust."""
    pipelines = config.filter_list if isinstance(config.filter_list, list) else ()
    for number, pipeline in enumerate(pipelines):
        for place, step in enumerate(pipeline["filter"]):
            path = f"filter_list[{number}].filter[{place}].function"
            where = None if config.source is None else config.source.location(path)
            found = [*_step_problems(step), *repeats_lacking(step, config.repeats)]
            yield from (each.at(where, f"$.{path}") for each in found)


def repeats_lacking(step: Mapping[str, Any], repeats: Any) -> Iterator[Diagnostic]:
    """Yield that a step takes more answers to each request than there are."""
    wanted = step.get("k") if step["function"] == "take_first_k" else None
    if isinstance(wanted, int) and isinstance(repeats, int) and wanted > repeats:
        yield Diagnostic(
            f"take_first_k takes {wanted} answers to each request, and repeats asks for {repeats}",
            hint=f"repeats: {wanted} in the task, or --repeats {wanted}",
        )


def _step_problems(step: Mapping[str, Any]) -> Iterator[Diagnostic]:
    try:
        make_filter(step)
    except ProctorError as error:
        yield from error.diagnostics
    else:
        yield from filter_problems(step)


def _of_class(kind: Any, arguments: Mapping[str, Any]) -> TextFunction:
    name = str(getattr(kind, "__name__", kind))
    return TextFunction(name, "column", of_class(_guarded_class(kind, f"the filter {name}"), arguments))


def _guarded_class(kind: Any, what: str) -> Callable[..., Any]:
    """Return a class with lm-eval's interface, ``apply(answers, docs)``, whose failures say whose they are."""
    make = guarded(kind, what)
    return lambda **arguments: SimpleNamespace(apply=guarded(make(**arguments).apply, what))


class FilterPipeline:
    """A named sequence of filters; each name gives scores of its own.

    A filter takes the answers to each request (one, or ``repeats``) and returns as many entries as it got. A pipeline
    usually ends in ``take_first``, which leaves one answer per request.
    """

    def __init__(self, name: str, steps: Sequence[Mapping[str, Any]]) -> None:
        self.name = name
        self.only_takes_first = [step.get("function") for step in steps] == [TAKE_FIRST]
        try:
            self._filters = [make_filter(step) for step in steps]
        except ProctorError as error:
            raise error.located(path=f"filter_list '{name}'") from None

    @property
    def sees_all(self) -> bool:
        """Whether a filter must see all answers at once."""
        return any(each.scope == "column" for each in self._filters)

    def apply(self, answers: Sequence[Answers], docs: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return what is scored, one entry for each request."""
        found: Sequence[Any] = answers
        for each in self._filters:
            found = each.filtered(found, docs)
        return list(found)


def make_pipelines(filter_list: Any) -> list[FilterPipeline]:
    """Return the pipelines of a task; without any, the first answer is taken as it is."""
    if not isinstance(filter_list, list):
        return [FilterPipeline("none", [{"function": TAKE_FIRST}])]
    return [FilterPipeline(str(each["name"]), each["filter"]) for each in filter_list]
