"""``metric_list``: metrics and aggregations by name, and code of task files in their place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.scoring import aggregations
from proctor.scoring.aggregations import AGGREGATIONS, Aggregate, mean
from proctor.scoring.metric import Metric
from proctor.scoring.metric_table import check_metric, metric_of, metric_table, text_metrics
from proctor.scoring.named_table import LM_EVAL, PROGRAM, is_in_catalog, named

DEFAULT_METRICS: dict[str, list[str]] = {
    "loglikelihood": ["perplexity", "acc"],
    "loglikelihood_rolling": ["word_perplexity", "byte_perplexity", "bits_per_byte"],
    "multiple_choice": ["acc", "acc_norm"],
    "generate_until": ["exact_match"],
}
"""The metrics of tasks that name none."""


def find_aggregation(spec: Any, metric: str) -> Aggregate:
    """Return the aggregation that a metric's entry names, by default the metric's own, else the mean.

    Raises:
        ScoringError: There is no such aggregation.
        TrustError: It is a function of the task file, and code is not trusted.
    """
    if spec is None:
        own, known = _registered("metric_agg_registry", metric), metric_table().of(LM_EVAL).get(metric)
        if own is not None or known is None or is_registered(metric):
            return own or mean
        return aggregations.find_aggregation(known.aggregation)
    if isinstance(spec, FunctionReference):
        return _of_file(value_of(spec, "aggregation"), spec)
    if callable(spec):
        return spec  # type: ignore[no-any-return]
    if spec not in AGGREGATIONS and (found := _registered("aggregation_registry", spec)) is not None:
        return guarded(found, f"the aggregation '{spec}'")
    return aggregations.find_aggregation(spec)


def _of_file(found: Callable[..., Any], spec: FunctionReference) -> Aggregate:
    if any(found is each for each in AGGREGATIONS.values()):  # those have standard errors
        return found
    if "args" in inspect.signature(found).parameters:  # of lmms-eval's command line: there is none
        found = partial(found, args=None)
    return guarded(found, f"aggregation ('{spec.name}')", spec.location)


def _registered(kind: str, name: Any) -> Any:
    """Return what code of a task or a program has registered."""
    from proctor.guests.lm_eval.registry import registered  # which knows the metrics of this module

    return registered(kind, name)


def is_registered(metric: str) -> bool:
    """Whether code of a task or a program has registered a metric: its name means that one, whoever else has it."""
    return _registered("metric_registry", metric) is not None


def direction_of(name: str) -> bool | None:
    """Return whether more of a metric is better; ``None`` where neither a table nor who registered it says so."""
    if is_registered(name):
        return _registered("higher_is_better_registry", name)  # type: ignore[no-any-return]
    known = metric_table().find(name, LM_EVAL, {LM_EVAL})
    return None if known is None else known.higher_is_better


def find_metric(entry: dict[str, Any]) -> tuple[str, Callable[..., Any], dict[str, Any]]:
    """Return a metric's name, its function, and the arguments that its entry gives.

    Raises:
        ScoringError: There is no such metric.
        TrustError: It is a function of the task file, and code is not trusted.
    """
    hidden = {"metric", "aggregation", "higher_is_better", "hf_evaluate"}
    arguments = {key: value for key, value in entry.items() if key not in hidden}
    spec = entry["metric"]
    if isinstance(spec, FunctionReference) or callable(spec):
        function = value_of(spec, "metric")
        name = getattr(function, "__name__", str(spec))
        return name, guarded(function, f"the metric '{name}'"), arguments
    of_labels = text_metrics(of_labels=True)
    table = of_labels if entry.get("hf_evaluate") is True else {**of_labels, **text_metrics()}
    name = str(spec).removeprefix(f"{LM_EVAL}:")
    if entry.get("hf_evaluate") is not True and (found := _registered("metric_registry", name)) is not None:
        return name, guarded(found, f"the metric '{name}'"), arguments
    if name not in table:
        raise _no_metric(str(spec), downloads=entry.get("hf_evaluate") is True)
    return name, table[name], arguments


def _no_metric(name: str, *, downloads: bool = False) -> ScoringError:
    known = sorted({*text_metrics(), *text_metrics(of_labels=True)})
    (problem,) = metric_table().unknown(name, known=known).diagnostics
    why = "metric scripts are not downloaded" if downloads else problem.why
    return ScoringError(problem.what, why=why, hint=problem.hint)


def metric_problems(entry: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with an entry of a metric list that can be known before anybody is asked; no code runs."""
    name = str(entry["metric"])
    try:
        if is_core_metric(entry):
            yield from check_metric(core_metric(entry).metric)
        elif (known := metric_table().find(named(name)[0], LM_EVAL)) is not None:
            yield from known.check()
        elif _registered("metric_registry", name) is None:
            raise _no_metric(name)
    except ProctorError as error:
        yield from error.diagnostics


def is_core_metric(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry names a metric that sees all answers at once; most of lm-eval see single documents."""
    spec = entry["metric"]
    if not isinstance(spec, str):
        return isinstance(spec, Metric)
    if is_registered(spec):
        return False
    known = metric_table().find(named(spec)[0], LM_EVAL)
    if known is not None and known.system in (LM_EVAL, PROGRAM):
        return known.reads == "columns"
    if entry.get("hf_evaluate") is True:
        return False
    return is_in_catalog(spec) if known is None else True


def core_metric(entry: Mapping[str, Any]) -> CoreMetric:
    """Return the metric that such an entry names.

    Raises:
        ScoringError: It takes other arguments, or aggregates itself and is given an aggregation.
        ArtifactError: The artifact cannot be made.
    """
    spec = entry["metric"]
    if entry.get("aggregation", "mean") != "mean":
        raise ScoringError(
            f"'{spec}' makes its own score of all instances; it takes no aggregation '{entry['aggregation']}'",
            hint="leave the aggregation out",
        )
    arguments = {key: value for key, value in entry.items() if key not in _KEYS}
    return CoreMetric(metric_of(spec, LM_EVAL, arguments), entry.get("higher_is_better"))


_KEYS = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})


@dataclass(frozen=True, slots=True)
class CoreMetric:
    """A metric that sees all answers of a pipeline at once, and makes its scores and intervals itself.

    Attributes:
        metric: The metric.
        direction: Whether more is better, where the task says it.
    """

    metric: Metric
    direction: bool | None = None

    @property
    def higher_is_better(self) -> bool:
        """Whether more is better: as the task says, as the table says, else yes."""
        known = getattr(self.metric, "higher_is_better", None)
        return bool(self.direction if self.direction is not None else known if known is not None else True)
