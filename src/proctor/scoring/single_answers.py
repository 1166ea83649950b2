"""Metrics of one row: what each makes of gold and prediction, before an aggregation makes one number of all rows."""
# ruff: noqa: ARG001 - metrics are called with all there is

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from typing import Any

from proctor.errors import needed
from proctor.regexes import bounded
from proctor.scoring.aggregations import need_scikit_learn
from proctor.scoring.distances import AROUND, without_around

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
    is_ours = tuple(regexes_to_ignore or ()) == AROUND

    def clean(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if is_ours:
            value = without_around(value)
        for pattern in () if is_ours else regexes_to_ignore or ():
            value = bounded(pattern).sub("", value)
        value = value.lower() if ignore_case else value
        value = value.translate(_PUNCTUATION) if ignore_punctuation else value
        return value.translate(_DIGITS) if ignore_numbers else value

    pairs: Iterable[tuple[Any, Any]] = zip(predictions, references, strict=True)
    if regexes_to_ignore or ignore_case or ignore_punctuation or ignore_numbers:
        pairs = ((clean(given), clean(wanted)) for given, wanted in pairs)
    equal = [given == wanted for given, wanted in pairs]
    return {"exact_match": sum(equal) / len(equal)}


def pair(items: Sequence[Any]) -> Any:
    """Return gold and prediction as they are, for an aggregation over the whole corpus."""
    return items


def nothing(items: Sequence[Any]) -> None:
    """Return nothing: answers are recorded, not scored."""


def f1_of_labels(references: Sequence[Any], predictions: Sequence[Any], **arguments: Any) -> dict[str, Any]:
    """Return the F1 of labels (``evaluate``'s ``f1``).

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """
    need_scikit_learn("f1")
    from sklearn.metrics import f1_score

    score = f1_score(references, predictions, **arguments)
    return {"f1": float(score) if getattr(score, "size", 1) == 1 else score}


def accuracy(
    references: Sequence[Any],
    predictions: Sequence[Any],
    normalize: bool = True,
    sample_weight: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return the share of predictions that equal their reference (``evaluate``'s ``accuracy``).

    Args:
        references: What is right.
        predictions: What was answered.
        normalize: Without it, the number of those predictions.
        sample_weight: How much each counts.
    """
    weights = [1] * len(references) if sample_weight is None else list(sample_weight)
    right = [weight * (a == b) for weight, a, b in zip(weights, references, predictions, strict=True)]
    return {"accuracy": sum(right) / (sum(weights) if normalize else 1)}


def word_error_rate(references: Sequence[Any], predictions: Sequence[Any], **arguments: Any) -> float:
    """Return the share of words that are wrong.

    Raises:
        MissingExtraError: jiwer is not installed.
    """
    with needed("jiwer", "text", "the metric 'wer'"):
        from jiwer import wer
    return float(wer(list(references), list(predictions)))


# -- of rolling likelihoods -------------------------------------------------------------------------------------------


def by_words(likelihood: float, text: str) -> tuple[float, int]:
    """Return the likelihood of a text with the number of its words."""
    return likelihood, len(re.split(r"\s+", text))


def by_bytes(likelihood: float, text: str) -> tuple[float, int]:
    """Return the likelihood of a text with the number of its bytes in UTF-8."""
    return likelihood, len(text.encode())


def alone(likelihood: float, text: str) -> float:
    """Return the likelihood of a text as it is."""
    return likelihood
