"""``filter_list``: filters by name, and code of task files as filters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.scoring.filters import FILTERS, TAKE_FIRST, Filter, FilterPipeline
from proctor.scoring.filters import make_filter as make_core_filter


def make_filter(step: Mapping[str, Any]) -> Filter:
    """Return the filter that an entry of a pipeline describes; ``!function`` may name a class or a function.

    Raises:
        ScoringError: There is no such filter, or it takes no such argument.
        TrustError: It is a class of the task file, and code is not trusted.
    """
    name, arguments = step["function"], {key: value for key, value in step.items() if key != "function"}
    if not isinstance(name, str):
        return make_core_filter({**arguments, "function": _guarded_class(value_of(name, "filter_list"))})
    if name not in FILTERS and (registered := _registered(name)) is not None:
        return make_core_filter({**arguments, "function": _guarded_class(registered)})
    if name == "custom" and "filter_fn" in arguments:
        function = value_of(arguments["filter_fn"], "filter_fn")
        return make_core_filter(
            {**step, "filter_fn": guarded(function, "filter_fn") if callable(function) else function}
        )
    return make_core_filter(step)


def _registered(name: str) -> Any:
    """Return the filter class that code of the task has registered with lm-eval itself."""
    registry = getattr(sys.modules.get("lm_eval.api.registry"), "filter_registry", None)
    return registry.get(name) if registry is not None and name in registry else None


def _guarded_class(kind: Any) -> Callable[..., Any]:
    """Return a class with lm-eval's interface, ``apply(answers, docs)``, whose failures say whose they are."""
    what = f"the filter {getattr(kind, '__name__', kind)}"
    make = guarded(kind, what)
    return lambda **arguments: SimpleNamespace(apply=guarded(make(**arguments).apply, what))


def make_pipelines(filter_list: Any) -> list[FilterPipeline]:
    """Return the pipelines of a task; without any, the first answer is taken as it is."""
    if not isinstance(filter_list, list):
        return [FilterPipeline("none", [{"function": TAKE_FIRST}], make_filter)]
    return [FilterPipeline(str(each["name"]), each["filter"], make_filter) for each in filter_list]
