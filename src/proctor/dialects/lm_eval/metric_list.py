"""The metrics of a task, compiled from ``metric_list``; what is wrong with them has its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from proctor.artifacts.effects_of import effects_of
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import as_function
from proctor.dialects.lm_eval.metrics import (
    DEFAULT_METRICS,
    CoreMetric,
    core_metric,
    direction_of,
    find_aggregation,
    find_metric,
    is_core_metric,
    is_registered,
)
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.effects import Effect
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.scoring.aggregations import Aggregate
from proctor.scoring.choice import CHOICE_SCORES
from proctor.scoring.metric_table import metric_table, text_metrics
from proctor.scoring.named_table import LM_EVAL

REPEATED = frozenset({"pass@k", "avg@k", "maj@k"})
"""Metrics of all repeats of an answer."""


@dataclass(slots=True)
class Metric:
    """A metric of single documents, ready to use."""

    name: str
    function: Callable[..., Any] | None
    arguments: dict[str, Any]
    aggregate: Aggregate
    higher_is_better: bool | None


def metrics_of(config: TaskConfig, *, by_code: bool = False) -> tuple[list[Metric], list[CoreMetric]]:
    """Return the metrics of a task: of single documents, and those that see all answers at once.

    Args:
        config: The task.
        by_code: Whether code of the task's class scores documents, so that names may be its own.

    Raises:
        ScoringError: There is no such metric or aggregation.
        TrustError: One is code, and code is not trusted.
    """
    made = [_compiled(config, number, entry, by_code=by_code) for number, entry in enumerate(_entries(config))]
    return [each for each in made if isinstance(each, Metric)], [each for each in made if isinstance(each, CoreMetric)]


def leading(config: TaskConfig) -> int:
    """Return how many metrics that see all answers stand before the first of single documents."""
    return len(list(takewhile(is_core_metric, _entries(config)))) if config.process_results is None else 0


def metric_effects(config: TaskConfig) -> list[Effect]:
    """Return what the metrics of a task do besides computing: judges that they ask, of catalogs and of the task's file.

    What is wrong with a metric is said by :func:`metric_list_problems`.
    """
    found: list[Effect] = []
    for entry in _entries(config) if config.process_results is None else ():
        with suppress(ProctorError):
            if is_core_metric(entry):
                found += effects_of(core_metric(entry).metric)
    return list(dict.fromkeys(found))


def metric_list_problems(config: TaskConfig) -> Iterator[Diagnostic]:
    """Yield what can be known to be wrong before anybody is asked: names, arguments, packages, trust; all at once."""
    try:
        as_function(config.process_results, "process_results")
    except ProctorError as error:
        yield from error.located(_place(config, "process_results"), "$.process_results").diagnostics
    for number, entry in enumerate(_entries(config)):
        path = f"metric_list[{number}]"
        try:
            made = _compiled(config, number, entry)
        except ProctorError as error:
            yield from error.diagnostics
        else:
            yield from (each.at(_place(config, path), f"$.{path}") for each in _lacking(config, made))


def _lacking(config: TaskConfig, metric: Metric | CoreMetric) -> Iterator[Diagnostic]:
    """Yield the packages and the trust that a metric lacks."""
    if isinstance(metric, CoreMetric):
        yield from metric.metric.check()
    elif config.process_results is None and (known := metric_table().of(LM_EVAL).get(metric.name)) is not None:
        yield from known.check()


def _entries(config: TaskConfig) -> list[dict[str, Any]]:
    if config.metric_list is None:
        return [{"metric": name} for name in DEFAULT_METRICS[config.output_type]]
    return config.metric_list


def _place(config: TaskConfig, path: str) -> Any:
    return None if config.source is None else config.source.location(path)


def _compiled(config: TaskConfig, number: int, entry: dict[str, Any], *, by_code: bool = False) -> Metric | CoreMetric:
    path = f"metric_list[{number}]"
    try:
        return _made(config, entry, by_code=by_code)
    except ProctorError as error:
        raise error.located(_place(config, path), f"$.{path}") from None


def _made(config: TaskConfig, entry: dict[str, Any], *, by_code: bool) -> Metric | CoreMetric:
    if config.process_results is None and is_core_metric(entry):
        return core_metric(entry)
    try:
        name, function, arguments = _named(config, entry)
    except ScoringError:
        if not by_code or not isinstance(entry["metric"], str):
            raise
        name, function, arguments = entry["metric"], None, {}
    aggregate = find_aggregation(entry.get("aggregation"), name)
    return Metric(name, function, arguments, aggregate, entry.get("higher_is_better", direction_of(name)))


def _named(config: TaskConfig, entry: Mapping[str, Any]) -> tuple[str, Callable[..., Any] | None, dict[str, Any]]:
    spec = entry["metric"]
    if config.process_results is not None and not isinstance(spec, FunctionReference):
        return str(spec), None, {}
    arguments = {key: value for key, value in entry.items() if key not in {"metric", "aggregation", "higher_is_better"}}
    if isinstance(spec, str) and is_registered(spec):
        return find_metric(dict(entry))
    if spec in REPEATED:
        return str(spec), None, arguments
    if config.output_type == "multiple_choice" and spec in CHOICE_SCORES:
        return str(spec), None, arguments
    if config.output_type.startswith("loglikelihood") and spec in text_metrics():
        return str(spec), None, arguments
    return find_metric(dict(entry))
