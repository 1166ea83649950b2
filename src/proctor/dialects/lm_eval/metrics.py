"""Metrics and aggregations of task files, by lm-eval's names.

A metric gives each document a value, an aggregation makes one number of the values, and a standard error goes with it:
in closed form for means, from 100,000 bootstrap resamples (100 for corpus metrics of translation) otherwise. The
resamples are lm-eval's own, number for number; they are drawn in blocks, which is a few hundred times faster.
"""

from __future__ import annotations

import math
import random
import string
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.functions import guarded
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import MissingExtraError, ScoringError, did_you_mean
from proctor.regexes import bounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values = Sequence[Any]
Aggregate = Callable[[Values], Any]

BOOTSTRAP_RESAMPLES = 100_000
CORPUS_RESAMPLES = 100
NO_ERROR = "N/A"


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
    golds, predictions = _columns(values)
    _classification("f1")
    from sklearn.metrics import f1_score

    return float(f1_score(golds, predictions))


def matthews_corrcoef(values: Values) -> float:
    """Return the correlation coefficient of Matthews, from pairs of gold and prediction."""
    golds, predictions = _columns(values)
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
    golds, predictions = _columns(values)
    listed = [[gold] if isinstance(gold, str) else list(gold) for gold in golds]
    texts = [each if isinstance(each, str) else each[0] for each in predictions]
    return [list(column) for column in zip(*listed, strict=False)], texts


def _columns(values: Values) -> tuple[list[Any], list[Any]]:
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


# -- standard errors --------------------------------------------------------------------------------------------------


def sample_deviation(values: Values) -> float:
    """Return the standard deviation with Bessel's correction."""
    middle = mean(values)
    return math.sqrt(sum((value - middle) ** 2 for value in values) / (len(values) - 1))


def mean_error(values: Values) -> float:
    """Return the standard error of the mean."""
    return sample_deviation(values) / math.sqrt(len(values))


def standard_error(metric: str, aggregate: Aggregate, values: Values, resamples: int) -> float | str:
    """Return the standard error of an aggregate; ``"N/A"`` where lm-eval knows none."""
    if resamples <= 0 or len(values) == 1:
        return NO_ERROR
    if aggregate is mean:
        return mean_error(values)
    name = next((each for each, function in AGGREGATIONS.items() if function is aggregate), "")
    if name not in _REPLICATES:
        return NO_ERROR
    count = min(resamples, CORPUS_RESAMPLES) if metric in {"bleu", "chrf", "chrf++", "ter"} else resamples
    return sample_deviation(bootstrap(name, values, count))


def bootstrap(name: str, values: Values, count: int) -> list[float]:
    """Return an aggregation's values on resamples: lm-eval's, in blocks of a thousand, each seeded by its number."""
    size = min(1000, count)
    replicate = _REPLICATES[name](values)
    return [
        each
        for block in range(count // size)
        for part in _indices(block, size, len(values))
        for each in replicate(part)
    ]


def _indices(seed: int, rows: int, columns: int) -> Iterator[NDArray[np.intp]]:
    """Yield the positions that ``random.Random(seed).choices`` draws, some resamples at a time."""
    import numpy as np

    _, state, _ = random.Random(seed).getstate()
    generator = np.random.RandomState()
    generator.set_state(("MT19937", np.array(state[:-1], dtype=np.uint32), state[-1], 0, 0.0))
    step = max(1, 2_000_000 // columns)
    for start in range(0, rows, step):
        number = min(step, rows - start)
        yield (generator.random_sample(number * columns) * columns).astype(np.intp).reshape(number, columns)


Replicate = Callable[[Any], list[float]]


def _mean_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    return lambda indices: array[indices].mean(axis=1).tolist()


def _nanmean_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    known = ~np.isnan(array)
    filled = np.where(known, array, 0.0)
    return lambda indices: (filled[indices].sum(axis=1) / known[indices].sum(axis=1)).tolist()


def _median_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    middle = len(values) // 2
    return lambda indices: np.partition(array[indices], middle, axis=1)[:, middle].tolist()


def _perplexity_replicates(values: Values) -> Replicate:
    import numpy as np

    array = np.asarray(values, dtype=float)
    return lambda indices: np.exp(-array[indices].mean(axis=1)).tolist()


def _pair_counts(values: Values) -> tuple[Any, int]:
    import numpy as np

    golds, predictions = _columns(values)
    classes = sorted({*map(int, golds), *map(int, predictions)})
    place = {each: number for number, each in enumerate(classes)}
    pairs = np.array([place[int(g)] * len(classes) + place[int(p)] for g, p in zip(golds, predictions, strict=True)])
    return pairs, len(classes)


def _confusions(pairs: Any, classes: int, indices: Any) -> Any:
    import numpy as np

    rows = len(indices)
    shifted = pairs[indices] + (np.arange(rows) * classes * classes)[:, None]
    counts = np.bincount(shifted.ravel(), minlength=rows * classes * classes)
    return counts.reshape(rows, classes, classes).astype(float)


def _f1_replicates(values: Values) -> Replicate:
    import numpy as np

    golds, predictions = _columns(values)
    pairs = np.array([2 * (int(g) == 1) + (int(p) == 1) for g, p in zip(golds, predictions, strict=True)])

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, 2, indices)
        hits, wrong = table[:, 1, 1], table[:, 0, 1] + table[:, 1, 0]
        total = 2 * hits + wrong
        return np.divide(2 * hits, total, out=np.zeros_like(total), where=total > 0).tolist()  # type: ignore[no-any-return]

    return replicate


def _matthews_replicates(values: Values) -> Replicate:
    """Replicates of the multi-class coefficient (Gorodkin, 2004)."""
    import numpy as np

    pairs, classes = _pair_counts(values)

    def replicate(indices: Any) -> list[float]:
        table = _confusions(pairs, classes, indices)
        golds, guesses, total = table.sum(axis=2), table.sum(axis=1), float(indices.shape[1])
        right = np.trace(table, axis1=1, axis2=2)
        above = right * total - (golds * guesses).sum(axis=1)
        below = (total**2 - (guesses**2).sum(axis=1)) * (total**2 - (golds**2).sum(axis=1))
        return np.divide(above, np.sqrt(below), out=np.zeros_like(above), where=below > 0).tolist()  # type: ignore[no-any-return]

    return replicate


def _corpus_replicates(name: str) -> Callable[[Values], Replicate]:
    def make(values: Values) -> Replicate:
        score = AGGREGATIONS[name]
        return lambda indices: [score([values[place] for place in row]) for row in indices.tolist()]

    return make


_REPLICATES: dict[str, Callable[[Values], Replicate]] = {
    "mean": _mean_replicates,
    "median": _median_replicates,
    "nanmean": _nanmean_replicates,
    "perplexity": _perplexity_replicates,
    "f1": _f1_replicates,
    "matthews_corrcoef": _matthews_replicates,
    "bleu": _corpus_replicates("bleu"),
    "chrf": _corpus_replicates("chrf"),
    "chrf++": _corpus_replicates("chrf++"),
    "ter": _corpus_replicates("ter"),
}

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
