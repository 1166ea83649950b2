"""Aggregations: from the values of rows to one number, with its standard error as lm-eval has it, and its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from proctor.errors import ScoringError, did_you_mean, needed
from proctor.statistics.bounded import within
from proctor.statistics.confusion import matthews_of_labels
from proctor.statistics.distributions import t_quantile
from proctor.statistics.intervals import mean_interval, resampled_interval
from proctor.statistics.standard_errors import (
    REPLICATES,
    Replicate,
    bootstrap,
    left_out,
    mean_error,
    ratio_error,
    sample_deviation,
)

Values = Sequence[Any]
Aggregate = Callable[[Values], Any]

BOOTSTRAP_RESAMPLES = 100_000  # lm-eval's bootstrap_iters, number for number
CORPUS_RESAMPLES = 100  # lm-eval's, for each costs a whole BLEU, chrF or TER of a corpus
NO_ERROR = "N/A"
"""What stands in the place of a standard error where lm-eval knows none."""


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
    need_scikit_learn("f1")
    from sklearn.metrics import f1_score

    return float(f1_score(golds, predictions))


def matthews_corrcoef(values: Values) -> float:
    """Return the correlation coefficient of Matthews, from pairs of gold and prediction."""
    return matthews_of_labels(*columns(values))


def need_scikit_learn(purpose: str) -> None:
    """Raise unless scikit-learn is installed.

    Raises:
        MissingExtraError: It is not; the error names what needs it.
    """
    with needed("scikit-learn", "classification", f"the metric '{purpose}'"):
        import sklearn  # noqa: F401


def brier_score(values: Values) -> float:
    """Return the mean squared distance of the probabilities from the right answer (Brier, 1950)."""
    return float(mean(_brier_scores(values)))


def _brier_scores(values: Values) -> list[float]:
    return [
        sum((chance - (place == gold % len(chances))) ** 2 for place, chance in enumerate(chances))
        for gold, chances in values
    ]


def _corpus(name: str) -> Aggregate:
    def score(values: Values) -> float:
        from proctor.scoring.metrics.text_packages import sacrebleu_scorer  # most exams translate nothing

        references, predictions = _translations(values)
        return float(sacrebleu_scorer(name, f"the metric '{name}'").corpus_score(predictions, references).score)

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


def find_aggregation(name: object) -> Aggregate:
    """Return an aggregation by name; a function is one.

    Raises:
        ScoringError: There is no such aggregation.
    """
    if callable(name):
        return name
    if name not in AGGREGATIONS:
        raise ScoringError(
            f"there is no aggregation '{name}'",
            why=f"there are {', '.join(AGGREGATIONS)}",
            hint=did_you_mean(str(name), AGGREGATIONS),
        )
    return AGGREGATIONS[str(name)]


_OF_A_CORPUS = ("bleu", "chrf", "chrf++", "ter")


def standard_error(metric: str, aggregate: Aggregate, values: Values, resamples: int) -> float | str:
    """Return the standard error of an aggregate; ``"N/A"`` where lm-eval knows none."""
    if resamples <= 0 or len(values) == 1:
        return NO_ERROR
    if aggregate is mean:
        return mean_error(values)
    found = _resampled(metric, aggregate, values, resamples)
    return NO_ERROR if found is None else sample_deviation(found.drawn)


class _Resampled(NamedTuple):
    """Aggregates of resamples, and what makes them of rows of indices."""

    drawn: list[float]
    replicate: Replicate


def _resampled(metric: str, aggregate: Aggregate, values: Values, resamples: int) -> _Resampled | None:
    name = _name_of(aggregate)
    if name in _OF_A_CORPUS:
        replicate: Replicate = lambda indices: [aggregate([values[place] for place in row]) for row in indices.tolist()]  # noqa: E731
    elif name in REPLICATES:
        replicate = REPLICATES[name](values)
    else:
        return None
    count = min(resamples, CORPUS_RESAMPLES) if metric in _OF_A_CORPUS else resamples
    return _Resampled(bootstrap(replicate, len(values), count), replicate)


def _name_of(aggregate: Aggregate) -> str:
    return next((each for each, function in AGGREGATIONS.items() if function is aggregate), "")


class Aggregated(NamedTuple):
    """An aggregate. Its error is ``"N/A"`` where lm-eval knows none; its bounds are ``None`` where none are known."""

    value: Any
    error: float | str
    low: float | None = None
    high: float | None = None


def aggregated(metric: str, aggregate: Aggregate, values: Values, resamples: int) -> Aggregated:
    """Return the aggregate of values with its standard error and its interval.

    A mean has that of :func:`~proctor.statistics.intervals.mean_interval`; a ratio of sums that of its linearisation;
    an aggregate that lm-eval resamples BCa bounds of the same resamples, and scores of a corpus, of which there are but
    a hundred, Student's within their scale.

    Args:
        metric: Name of the metric; the bootstrap of corpus metrics draws fewer resamples.
        aggregate: What makes one number of the values.
        values: One per row.
        resamples: Bootstrap resamples behind a standard error, where it has no closed form.
    """
    value = number(aggregate(values))
    if not isinstance(value, int | float) or math.isnan(value):
        return Aggregated(value, standard_error(metric, aggregate, values, resamples))
    if aggregate is mean or aggregate is brier_score or aggregate in _RATIOS or resamples <= 0 or len(values) == 1:
        return Aggregated(value, standard_error(metric, aggregate, values, resamples), *_closed(aggregate, values))
    found = _resampled(metric, aggregate, values, resamples)
    if found is None:
        return Aggregated(value, NO_ERROR)
    error = sample_deviation(found.drawn)
    if _name_of(aggregate) in _OF_A_CORPUS:
        freedom = len(values) - 1  # resamples vary by the sample's own variance, which lacks n / (n - 1)
        margin = t_quantile(_UPPER, freedom) * error * math.sqrt(len(values) / freedom)
        whole = math.inf if aggregate is AGGREGATIONS["ter"] else 100.0
        bounds = (max(value - margin, 0.0), min(value + margin, whole)) if error else _UNKNOWN
    else:
        bounds = resampled_interval(found.drawn, value, left_out(found.replicate, len(values))) or _UNKNOWN
        if aggregate is f1:
            bounds = within(*(bounds if bounds[0] is not None else (value, value)), value, len(values))
    return Aggregated(value, error, *bounds)


_UPPER = 0.975
_UNKNOWN = (None, None)
_RATIOS: Mapping[Aggregate, Callable[[float], float]] = {
    weighted_perplexity: lambda ratio: math.exp(-ratio),
    bits_per_byte: lambda ratio: -ratio / math.log(2),
}
"""What becomes of a ratio of sums."""


def _closed(aggregate: Aggregate, values: Values) -> tuple[float | None, float | None]:
    """Return the bounds of a mean or a ratio."""
    if aggregate is mean:
        return mean_interval(values) or _UNKNOWN
    if aggregate is brier_score:
        return mean_interval(_brier_scores(values), 2.0) or _UNKNOWN
    if aggregate not in _RATIOS or len(values) == 1 or not (error := ratio_error(values)):
        return _UNKNOWN
    margin, ratio = t_quantile(_UPPER, len(values) - 1) * error, weighted_mean(values)
    one, other = (_RATIOS[aggregate](each) for each in (ratio - margin, ratio + margin))
    return min(one, other), max(one, other)


def number(value: object) -> Any:
    """Return a score of NumPy as a plain Python number; other values as they are."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "size", 2) == 1 else value
