"""Evaluators that AISBench and OpenCompass build on the package ``evaluate``, for programs that derive from them.

A class as it is scores as exams do. One that a program has derived, with a ``_preprocess`` or ``_postprocess`` of its
own, computes its metric between these two.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.compat.aisbench_names.hf_metrics import METRICS, Metric
from proctor.errors import MissingExtraError
from proctor.scoring.text_distance import levenshtein
from proctor.statistics.confusion import matthews_of_labels

_LOADER = "evaluate.loading"
"""The module whose function ``evaluate.load`` is, where no program has replaced it."""
_HOOKS = ("_preprocess", "_postprocess")
_STATES = {"input contaminated": "input contamination", "input-and-label contaminated": "input-and-label contamination"}


class _Matthews(Metric):
    def _compute(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:  # type: ignore[override]
        labels = ([str(each) for each in column] for column in (references, predictions))
        return {"matthews_correlation": matthews_of_labels(*labels)}


def _replaced_loader() -> Any:
    """Return what a program has put in the place of ``evaluate.load``; ``None`` where it has not."""
    found = getattr(sys.modules.get("evaluate"), "load", None)
    home = getattr(found, "__module__", "")
    return None if found is None or home == _LOADER or home.startswith("proctor.") else found


def _metric(name: str) -> Any:
    if (load := _replaced_loader()) is not None:
        return load(name)
    if own := {**METRICS, "matthews_correlation": _Matthews}.get(name):
        return own()
    try:
        return import_module("evaluate").load(name)
    except ImportError as error:
        raise MissingExtraError.of("evaluate", "compat", f"the metric '{name}'") from error


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Give drawing in this block a seed, and what comes after it the state from before."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002 - what metrics draw from
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


class HuggingfaceEvaluator(BaseEvaluator):
    """An evaluator by a metric of the package ``evaluate``.

    Args:
        metric: Its name: ``accuracy``, ``rouge``, ``sacrebleu``, ``squad``, ``matthews_correlation``; others
            are loaded by ``evaluate``.
        seed: Of what it draws.
    """

    metric: str
    seed: int = 0
    called = _HOOKS

    def __init__(self, *listed: Any, metric: str = "", seed: int = 0, **named: Any) -> None:
        if self.kind is None and listed:  # its own class: the metric comes first
            metric, *listed_after = listed
            seed, listed = (listed_after[0], tuple(listed_after[1:])) if listed_after else (seed, ())
        super().__init__(*listed, **named)
        if metric:
            self.metric = metric
        self.seed = seed

    def _arguments(self) -> dict[str, Any]:
        return {name: value for name, value in super()._arguments().items() if name not in ("metric", "seed")}

    def _preprocess(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        """Return what the metric computes with."""
        return {"predictions": predictions, "references": references}

    def _postprocess(self, scores: dict[str, Any]) -> Any:
        """Return scores of what the metric computed."""
        return scores

    def _is_own(self) -> bool:
        """Whether the class is as it is here, with nothing of a program's around it."""
        kind = next((each for each in type(self).__mro__ if vars(each).get("kind") is not None), None)
        untouched = kind is not None and all(getattr(type(self), hook) is getattr(kind, hook) for hook in _HOOKS)
        return untouched and self.metric == getattr(kind, "metric", None) and _replaced_loader() is None

    def score(self, predictions: Sequence[Any], references: Sequence[Any], *others: Any, **columns: Any) -> Any:
        """Return scores by name.

        Args:
            predictions: After their post-processors.
            references: The right answers.
            *others: The rows, and further columns.
            **columns: Further columns of the answers.

        Raises:
            MissingExtraError: The metric is one of a package that is not installed.
            ScoringError: There is nothing to score.
        """
        if self._is_own():
            return super().score(predictions, references, *others, **columns)
        if len(predictions) != len(references):
            return {"error": f"{len(predictions)} predictions and {len(references)} references have different length"}
        with _seeded(self.seed):
            return self._postprocess(_metric(self.metric).compute(**self._preprocess(predictions, references)))


class _Labels(HuggingfaceEvaluator):
    metric = "accuracy"

    def _preprocess(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        numbers = {text: place for place, text in enumerate(dict.fromkeys(map(str, [*references, *predictions])))}
        given, gold = ([numbers[str(each)] for each in column] for column in (predictions, references))
        return {"predictions": given, "references": gold}

    def _postprocess(self, scores: dict[str, Any]) -> Any:
        return {**scores, self.metric: scores[self.metric] * 100}


class _Contaminated(_Labels):
    def score(self, predictions: Sequence[Any], references: Sequence[Any], *others: Any, **columns: Any) -> Any:
        if self._is_own():
            return super().score(predictions, references, *others, **columns)
        rows = [row["is_clean"] for row in columns.get("test_set", others[0] if others else ())]
        found: dict[str, Any] = {}
        for name, state in {"clean": "clean", **_STATES}.items():
            places = [place for place, each in enumerate(rows) if each == state]
            given, gold = ([column[place] for place in places] for column in (predictions, references))
            found |= {f"{key} - {name}": value for key, value in super().score(given, gold).items()}
        return found


class _Rouge(HuggingfaceEvaluator):
    metric = "rouge"

    def _postprocess(self, scores: dict[str, Any]) -> Any:
        return {name: 100 * value for name, value in scores.items()}


class _Bleu(HuggingfaceEvaluator):
    metric = "sacrebleu"


class _FloresBleu(_Bleu):
    def _preprocess(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        return {"predictions": predictions, "references": references, "tokenize": "flores200"}


class _Correlation(_Labels):
    metric = "matthews_correlation"


class _FirstLines(HuggingfaceEvaluator):
    metric = "squad"

    def _preprocess(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        given = [{"prediction_text": text.split("\n")[0], "id": str(place)} for place, text in enumerate(predictions)]
        gold = [
            {"answers": {"answer_start": [0], "text": [text]}, "id": str(place)}
            for place, text in enumerate(references)
        ]
        return {"predictions": given, "references": gold}

    def _postprocess(self, scores: dict[str, Any]) -> Any:
        return scores["f1"]


class _Nearest(_Labels):
    def _preprocess(self, predictions: Sequence[Any], references: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        given = []
        for text, gold in zip(predictions, references, strict=True):
            listed = [[each] if isinstance(each, str) else each for each in gold["candidates"]]
            distances = [min(levenshtein(text, each) for each in group) for group in listed]
            given.append(distances.index(min(distances)))
        return {"predictions": given, "references": [gold["label"] for gold in references]}


BASES: Mapping[str, type[HuggingfaceEvaluator]] = {
    "AccEvaluator": _Labels,
    "AccContaminationEvaluator": _Contaminated,
    "RougeEvaluator": _Rouge,
    "BleuEvaluator": _Bleu,
    "BleuFloresEvaluator": _FloresBleu,
    "MccEvaluator": _Correlation,
    "SquadEvaluator": _FirstLines,
    "EDAccEvaluator": _Nearest,
}
"""What evaluators of that family derive from."""
