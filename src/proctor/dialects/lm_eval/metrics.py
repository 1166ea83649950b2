"""``metric_list``: metrics and aggregations by name, and code of task files in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import ScoringError, did_you_mean
from proctor.scoring import aggregations
from proctor.scoring.aggregations import AGGREGATIONS, Aggregate, mean
from proctor.scoring.row_metrics import EVALUATE_METRICS, METRICS, TEXT_METRICS

DEFAULT_METRICS: dict[str, tuple[str, ...]] = {
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "multiple_choice": ("acc", "acc_norm"),
    "generate_until": ("exact_match",),
}
"""The metrics of tasks that name none."""


def find_aggregation(spec: Any, metric: str) -> Aggregate:
    """Return the aggregation that a metric's entry names, by default the metric's own, else the mean.

    Raises:
        ScoringError: There is no such aggregation.
        TrustError: It is a function of the task file, and code is not trusted.
    """
    if spec is None:
        return AGGREGATIONS[METRICS[metric].aggregation] if metric in METRICS else mean
    if isinstance(spec, FunctionReference):
        return guarded(value_of(spec, "aggregation"), f"aggregation ('{spec.name}')", spec.location)
    if callable(spec):
        return spec  # type: ignore[no-any-return]
    return aggregations.find_aggregation(spec)


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
    table = EVALUATE_METRICS if entry.get("hf_evaluate") is True else {**EVALUATE_METRICS, **TEXT_METRICS}
    if spec not in table:
        raise ScoringError(
            f"there is no metric '{spec}'",
            why=f"there are {', '.join(sorted({*TEXT_METRICS, *EVALUATE_METRICS}))}; metric scripts are not downloaded",
            hint=did_you_mean(str(spec), {**METRICS, **table}),
        )
    return str(spec), table[spec], arguments
