"""``lm_eval.api.metrics``: aggregations, metrics of rows and standard errors under lm-eval's names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.errors import ScoringError
from proctor.guests.lm_eval.registry import register_aggregation, register_metric
from proctor.scoring.aggregations import (
    AGGREGATIONS,
    bits_per_byte,
    brier_score,
    matthews_corrcoef,
    mean,
    median,
    nanmean,
    perplexity,
    standard_error,
    weighted_mean,
    weighted_perplexity,
)
from proctor.scoring.aggregations import f1 as f1_score
from proctor.scoring.single_answers import exact_match as _exact_match
from proctor.scoring.single_answers import nothing
from proctor.statistics.standard_errors import mean_error as mean_stderr
from proctor.statistics.standard_errors import sample_deviation as sample_stddev

__all__ = [
    "acc_all", "acc_all_stderr", "acc_bytes_fn", "acc_fn", "acc_mutual_info_fn", "acc_norm_fn", "bits_per_byte",
    "bits_per_byte_fn", "bleu", "bleu_fn", "bootstrap_stderr", "brier_score", "brier_score_fn", "bypass",
    "bypass_agg", "byte_perplexity_fn", "chrf", "chrf_fn", "chrfpp", "chrfpp_fn", "exact_match_fn",
    "exact_match_hf_evaluate", "f1_fn", "f1_score", "is_non_str_iterable", "likelihood_fn", "matthews_corrcoef",
    "mcc_fn", "mean", "mean_stderr", "median", "metric_max_over_ground_truths", "nanmean", "perplexity",
    "perplexity_fn", "pop_stddev", "register_aggregation", "register_metric", "sample_stddev", "stderr_for_metric",
    "ter", "ter_fn", "weighted_mean", "weighted_perplexity", "word_perplexity_fn",
]  # fmt: skip

bleu, chrf, chrfpp, ter = (AGGREGATIONS[name] for name in ("bleu", "chrf", "chrf++", "ter"))
bypass_agg, bypass = AGGREGATIONS["bypass"], nothing


def _same(items: Any) -> Any:
    """Return what a document counts, for an aggregation over all of them."""
    return items


acc_fn = acc_norm_fn = acc_mutual_info_fn = acc_bytes_fn = brier_score_fn = likelihood_fn = perplexity_fn = _same
word_perplexity_fn = byte_perplexity_fn = bits_per_byte_fn = mcc_fn = f1_fn = bleu_fn = chrf_fn = chrfpp_fn = _same
ter_fn = _same


def exact_match_hf_evaluate(
    predictions: Sequence[Any],
    references: Sequence[Any],
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
) -> dict[str, float]:
    """Return the share of predictions that equal their reference, after what is to be ignored is taken away."""
    return _exact_match(references, predictions, regexes_to_ignore, ignore_case, ignore_punctuation, ignore_numbers)


exact_match_fn = exact_match_hf_evaluate


def pop_stddev(arr: Sequence[float]) -> float:
    """Return the standard deviation of a whole population."""
    middle = mean(arr)
    return math.sqrt(sum((each - middle) ** 2 for each in arr) / len(arr))


def acc_all(items: Iterable[tuple[Any, Mapping[str, Any]]]) -> float:
    """Return the share of questions (of a paragraph) all of whose answers are judged rightly."""
    return float(mean(_all_right(items, lambda place: (place["paragraph"], place["question"]))))


def acc_all_stderr(items: Iterable[tuple[Any, Mapping[str, Any]]]) -> float:
    """Return the standard error that lm-eval has for :func:`acc_all`: of questions, whatever their paragraph."""
    return mean_stderr(_all_right(items, lambda place: place["question"]))


def _all_right(items: Iterable[tuple[Any, Mapping[str, Any]]], key: Callable[[Any], Any]) -> list[int]:
    right: dict[Any, bool] = {}
    for prediction, doc in items:
        question = key(doc["idx"])
        right[question] = right.get(question, True) and (doc["label"] == 1) == prediction
    return [int(each) for each in right.values()]


def metric_max_over_ground_truths(metric_fn: Callable[[Any, Any], Any], prediction: Any, ground_truths: Any) -> Any:
    """Return the best score of a prediction against any of several references."""
    return max(metric_fn(prediction, each) for each in ground_truths)


def is_non_str_iterable(obj: Any) -> bool:
    """Return whether something can be iterated and is not a text."""
    return isinstance(obj, Iterable) and not isinstance(obj, str)


def bootstrap_stderr(f: Callable[[Any], float], xs: Sequence[Any], iters: int) -> float:
    """Return the standard error of an aggregation by lm-eval's own resamples.

    Raises:
        ScoringError: It is not one of the aggregations that lm-eval resamples.
    """
    found = standard_error("", f, xs, iters)
    if isinstance(found, str):
        raise ScoringError(f"{getattr(f, '__name__', f)} is not an aggregation whose standard error is resampled")
    return found


def stderr_for_metric(metric: Callable[[Any], float], bootstrap_iters: int) -> Callable[[Any], Any] | None:
    """Return a function with the standard error of an aggregation; ``None`` where there is none."""
    if bootstrap_iters <= 0:
        return None
    if metric is acc_all:
        return acc_all_stderr
    name = next((each for each, found in AGGREGATIONS.items() if found is metric), "")
    return partial(_error, name, metric, bootstrap_iters) if name in _WITH_ERROR else None


_WITH_ERROR = frozenset(
    {"mean", "median", "matthews_corrcoef", "f1", "perplexity", "bleu", "chrf", "chrf++", "ter", "nanmean"}
)


def _error(name: str, metric: Callable[[Any], float], resamples: int, values: Sequence[Any]) -> Any:
    return standard_error(name, metric, values, resamples)
