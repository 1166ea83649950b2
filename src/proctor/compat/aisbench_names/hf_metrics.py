"""The metrics that AISBench keeps beside its evaluators (``icl_evaluator.hf_metrics``), each with ``compute``.

They compute with the packages that upstream's call (scikit-learn, ``rouge_score``, ``sacrebleu``), which are imported
when a program asks for them, and may be replaced in this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from proctor.errors import DataError, MissingExtraError
from proctor.scoring.metrics.question_answering import Squad as _Squad

_PACKAGES: Mapping[str, tuple[str, str, str]] = {
    "accuracy_score": ("sklearn.metrics:accuracy_score", "scikit-learn", "classification"),
    "rouge_scorer": ("rouge_score.rouge_scorer:", "rouge-score", "text"),
    "scoring": ("rouge_score.scoring:", "rouge-score", "text"),
    "scb": ("sacrebleu:", "sacrebleu", "text"),
}
"""Where names of other packages are: module and attribute, package, extra."""
_ROUGE_TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def __getattr__(name: str) -> Any:
    if name not in _PACKAGES:
        raise AttributeError(name)
    place, package, extra = _PACKAGES[name]
    home, _, attribute = place.partition(":")
    try:
        module = import_module(home)
    except ImportError as error:
        raise MissingExtraError.of(package, extra, f"'{name}' of hf_metrics") from error
    return getattr(module, attribute) if attribute else module


def _now(name: str) -> Any:
    """Return what a name of this module means now: what a program has put in its place, or the package's."""
    return getattr(sys.modules[__name__], name)


class Metric:
    """A metric over all predictions at once."""

    def compute(self, **columns: Any) -> dict[str, Any]:
        """Return scores by name; what a metric takes is what :meth:`_compute` of it does."""
        return self._compute(**columns)

    def _compute(self, **columns: Any) -> dict[str, Any]:
        raise NotImplementedError


class Accuracy(Metric):
    """The share of labels that are right."""

    def _compute(  # type: ignore[override]
        self,
        predictions: Sequence[Any],
        references: Sequence[Any],
        normalize: bool = True,
        sample_weight: Sequence[float] | None = None,
    ) -> dict[str, Any]:
        found = _now("accuracy_score")(references, predictions, normalize=normalize, sample_weight=sample_weight)
        return {"accuracy": float(found)}


class Tokenizer:
    """A function as a tokenizer of ``rouge_score``.

    Args:
        tokenizer_func: Cuts a text into words.
    """

    def __init__(self, tokenizer_func: Callable[[str], list[str]]) -> None:
        self.tokenizer_func = tokenizer_func

    def tokenize(self, text: str) -> list[str]:
        """Return the words of a text."""
        return self.tokenizer_func(text)


class Rouge(Metric):
    """ROUGE of ``rouge_score``: F-measures between 0 and 1."""

    def _compute(  # type: ignore[override]
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        rouge_types: Sequence[str] | None = None,
        use_aggregator: bool = True,
        use_stemmer: bool = False,
        tokenizer: Callable[[str], list[str]] | None = None,
    ) -> dict[str, Any]:
        scorer = _now("rouge_scorer").RougeScorer(
            rouge_types=list(rouge_types or _ROUGE_TYPES),
            use_stemmer=use_stemmer,
            tokenizer=None if tokenizer is None else Tokenizer(tokenizer),
        )
        score = scorer.score_multi if isinstance(references[0], list) else scorer.score
        rows = [score(gold, given) for gold, given in zip(references, predictions, strict=False)]
        if not use_aggregator:
            return {name: [row[name].fmeasure for row in rows] for name in rows[0]}
        bootstrap = _now("scoring").BootstrapAggregator()
        for row in rows:
            bootstrap.add_scores(row)
        return {name: each.mid.fmeasure for name, each in bootstrap.aggregate().items()}


class Sacrebleu(Metric):
    """Corpus BLEU of ``sacrebleu`` with its counts."""

    def _compute(  # type: ignore[override]
        self,
        predictions: Sequence[str],
        references: Sequence[Any],
        tokenize: str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        listed = [[each] if isinstance(each, str) else list(each) for each in references]
        if any(len(each) != len(listed[0]) for each in listed):
            raise DataError(
                "BLEU needs the same number of references for each prediction",
                why=f"there are {sorted({len(each) for each in listed})}",
            )
        streams = [list(each) for each in zip(*listed, strict=True)]
        told = {**options, "tokenize": tokenize} if tokenize else options
        found = _now("scb").corpus_bleu(predictions, streams, **told)
        names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        return {name: getattr(found, name) for name in names}


class Squad(Metric):
    """SQuAD's exact match and F1, in percent."""

    def _compute(  # type: ignore[override]
        self, predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        given = {each["id"]: each for each in predictions}
        metric, rows = _Squad(), []
        for gold in references:
            said = given.get(gold["id"], {"prediction_text": ""})
            rows.append(metric.compute([[dict(gold)]], [dict(said)], [{}]))
        return {name: 100.0 * sum(float(row[name]) for row in rows) / len(rows) for name in ("exact_match", "f1")}


METRICS: Mapping[str, type[Metric]] = {"accuracy": Accuracy, "rouge": Rouge, "sacrebleu": Sacrebleu, "squad": Squad}
"""Metrics by the names that :class:`HuggingfaceEvaluator` takes."""
