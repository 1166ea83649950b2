"""Metrics and aggregations of task files, by lm-eval's names.

A metric gives each document a value, an aggregation makes one number of the values; the standard error that goes with
it is in :mod:`~proctor.dialects.lm_eval.standard_errors`.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import MissingExtraError, ScoringError, did_you_mean
from proctor.regexes import bounded

Values = Sequence[Any]
Aggregate = Callable[[Values], Any]


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

DEFAULT_METRICS: dict[str, tuple[str, ...]] = {
    "loglikelihood": ("perplexity", "acc"),
    "loglikelihood_rolling": ("word_perplexity", "byte_perplexity", "bits_per_byte"),
    "multiple_choice": ("acc", "acc_norm"),
    "generate_until": ("exact_match",),
}

# -- aggregations -----------------------------------------------------------------------------------------------------


def mean(values: Values) -> Any:
    """Return the arithmetic mean."""
    return sum(values) / len(values)


def median(values: Values) -> Any:
    """Return the middle value, of an even number the upper one."""
    return sorted(values)[len(values) // 2]


def nanmean(values: Values) -> float:
    """Return the mean of the values that are numbers, NaN where none is."""
    numbers = [value for value in values if not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else math.nan


def perplexity(values: Values) -> float:
    """Return e to the negative mean log-likelihood."""
    return math.exp(-mean(values))


def weighted_mean(values: Values) -> float:
    """Return the sum of the first parts by the sum of the second."""
    return float(sum(value for value, _ in values) / sum(weight for _, weight in values))


def weighted_perplexity(values: Values) -> float:
    """Return e to the negative log-likelihood per unit of length."""
    return math.exp(-weighted_mean(values))


def bits_per_byte(values: Values) -> float:
    """Return the negative log-likelihood per byte in bits."""
    return -weighted_mean(values) / math.log(2)


def f1(values: Values) -> float:
    """Return the F1 of class 1, from pairs of gold and prediction."""
    golds, predictions = columns(values)
    _classification("f1")
    from sklearn.metrics import f1_score

    return float(f1_score(golds, predictions))


def matthews_corrcoef(values: Values) -> float:
    """Return the correlation coefficient of Matthews, from pairs of gold and prediction."""
    golds, predictions = columns(values)
    _classification("mcc")
    from sklearn.metrics import matthews_corrcoef as coefficient

    return float(coefficient(golds, predictions))


def _classification(purpose: str) -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtraError.of("scikit-learn", "classification", f"the metric '{purpose}'") from None


def brier_score(values: Values) -> float:
    """Return the mean squared distance of the probabilities from the right answer (Brier, 1950)."""
    total = 0.0
    for gold, chances in values:
        total += sum((chance - (place == gold % len(chances))) ** 2 for place, chance in enumerate(chances))
    return total / len(values)


def _sacrebleu(name: str) -> Any:
    try:
        from sacrebleu.metrics import BLEU, CHRF, TER
    except ImportError:
        raise MissingExtraError.of("sacrebleu", "text", f"the metric '{name}'") from None
    return {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2), "ter": TER}[name]()


def _corpus(name: str) -> Aggregate:
    def score(values: Values) -> float:
        references, predictions = _translations(values)
        return float(_sacrebleu(name).corpus_score(predictions, references).score)

    return score


def _translations(values: Values) -> tuple[list[list[str]], list[str]]:
    golds, predictions = columns(values)
    listed = [[gold] if isinstance(gold, str) else list(gold) for gold in golds]
    texts = [each if isinstance(each, str) else each[0] for each in predictions]
    return [list(column) for column in zip(*listed, strict=False)], texts


def columns(values: Values) -> tuple[list[Any], list[Any]]:
    """Return the golds and the predictions of pairs."""
    return [each[0] for each in values], [each[1] for each in values]


def bypass(values: Values) -> int:
    """Return 999: answers are recorded, not scored."""
    del values
    return 999


AGGREGATIONS: dict[str, Aggregate] = {
    "mean": mean,
    "median": median,
    "nanmean": nanmean,
    "perplexity": perplexity,
    "weighted_perplexity": weighted_perplexity,
    "bits_per_byte": bits_per_byte,
    "f1": f1,
    "matthews_corrcoef": matthews_corrcoef,
    "brier_score": brier_score,
    "bleu": _corpus("bleu"),
    "chrf": _corpus("chrf"),
    "chrf++": _corpus("chrf++"),
    "ter": _corpus("ter"),
    "bypass": bypass,
}
"""Aggregations by name."""


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
    if spec not in AGGREGATIONS:
        raise ScoringError(
            f"there is no aggregation '{spec}'",
            why=f"there are {', '.join(AGGREGATIONS)}",
            hint=did_you_mean(str(spec), AGGREGATIONS),
        )
    return AGGREGATIONS[spec]


# -- metrics of generated text ----------------------------------------------------------------------------------------


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
    _classification("f1")
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
