"""Metrics of one row: what each makes of gold and prediction, before an aggregation makes one number of all rows."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from proctor.errors import MissingExtraError
from proctor.regexes import bounded
from proctor.scoring.aggregations import need_scikit_learn


class MetricInfo(NamedTuple):
    """What is known about a metric by name: its aggregation, and whether more is better."""

    aggregation: str
    higher_is_better: bool


METRICS: dict[str, MetricInfo] = {
    "acc": MetricInfo("mean", higher_is_better=True),
    "acc_norm": MetricInfo("mean", higher_is_better=True),
    "acc_bytes": MetricInfo("mean", higher_is_better=True),
    "acc_mutual_info": MetricInfo("mean", higher_is_better=True),
    "acc_all": MetricInfo("mean", higher_is_better=True),
    "exact_match": MetricInfo("mean", higher_is_better=True),
    "likelihood": MetricInfo("mean", higher_is_better=True),
    "f1": MetricInfo("f1", higher_is_better=True),
    "mcc": MetricInfo("matthews_corrcoef", higher_is_better=True),
    "brier_score": MetricInfo("brier_score", higher_is_better=False),
    "perplexity": MetricInfo("perplexity", higher_is_better=False),
    "word_perplexity": MetricInfo("weighted_perplexity", higher_is_better=False),
    "byte_perplexity": MetricInfo("weighted_perplexity", higher_is_better=False),
    "bits_per_byte": MetricInfo("bits_per_byte", higher_is_better=False),
    "bleu": MetricInfo("bleu", higher_is_better=True),
    "chrf": MetricInfo("chrf", higher_is_better=True),
    "chrf++": MetricInfo("chrf++", higher_is_better=True),
    "ter": MetricInfo("ter", higher_is_better=False),
    "bypass": MetricInfo("bypass", higher_is_better=True),
    "avg@k": MetricInfo("mean", higher_is_better=True),
    "maj@k": MetricInfo("mean", higher_is_better=True),
    "pass@k": MetricInfo("mean", higher_is_better=True),
}
"""How each metric is aggregated by default, and its direction."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)


def exact_match(
    references: Sequence[Any],
    predictions: Sequence[Any],
    regexes_to_ignore: Sequence[str] | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    ignore_numbers: bool = False,
) -> dict[str, float]:
    """Return the share of predictions that equal their reference, after what is to be ignored is taken away."""

    def clean(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for pattern in regexes_to_ignore or ():
            value = bounded(pattern).sub("", value)
        value = value.lower() if ignore_case else value
        value = value.translate(_PUNCTUATION) if ignore_punctuation else value
        return value.translate(_DIGITS) if ignore_numbers else value

    equal = [clean(given) == clean(wanted) for given, wanted in zip(predictions, references, strict=True)]
    return {"exact_match": sum(equal) / len(equal)}


def _pair(items: Sequence[Any]) -> Any:
    """Return gold and prediction as they are, for an aggregation over the whole corpus."""
    return items


def _hf_f1(references: Sequence[Any], predictions: Sequence[Any], **arguments: Any) -> dict[str, Any]:
    need_scikit_learn("f1")
    from sklearn.metrics import f1_score

    score = f1_score(references, predictions, **arguments)
    return {"f1": float(score) if getattr(score, "size", 1) == 1 else score}


def _hf_accuracy(references: Sequence[Any], predictions: Sequence[Any], **arguments: Any) -> dict[str, Any]:
    del arguments
    return {"accuracy": sum(a == b for a, b in zip(references, predictions, strict=True)) / len(references)}


TEXT_METRICS: dict[str, Callable[..., Any]] = {
    "exact_match": exact_match,
    **dict.fromkeys(("acc", "acc_norm", "f1", "mcc", "bleu", "chrf", "chrf++", "ter", "acc_all", "likelihood"), _pair),
    **dict.fromkeys(("brier_score", "perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"), _pair),
    "bypass": lambda items: None,
}
"""What each metric makes of gold and prediction of one document; corpus metrics keep both."""


def _hf_wer(references: Sequence[Any], predictions: Sequence[Any], **arguments: Any) -> float:
    del arguments
    try:
        from jiwer import wer
    except ImportError:
        raise MissingExtraError.of("jiwer", "text", "the metric 'wer'") from None
    return float(wer(list(references), list(predictions)))


EVALUATE_METRICS: dict[str, Callable[..., Any]] = {
    "wer": _hf_wer,
    "exact_match": exact_match,
    "f1": _hf_f1,
    "accuracy": _hf_accuracy,
}
"""What ``hf_evaluate: true`` means here: the metrics of the ``evaluate`` hub that need no download."""
