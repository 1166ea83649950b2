"""Precision, recall and F1 of single and multiple labels, weighted, macro, micro."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from collections.abc import Hashable, Sequence
from types import new_class
from typing import Any, ClassVar

import numpy as np

from proctor.scoring.global_metric import CountedMetric, Counts, Finished, ratio
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats


class LabelMetric(CountedMetric):
    """Base of metrics of labels; the classes are those among the references of a sample.

    Attributes:
        average: ``None`` (the mean of the scores of the classes, each of which is reported), ``macro``, ``micro``,
            ``weighted``.
        metric: ``f1``, ``precision`` or ``recall``.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1_macro"
    average: str | None = None
    metric: str = "f1"
    single_reference_per_prediction: bool = True

    def labels_of(self, value: Any) -> Sequence[Hashable]:
        """Return the labels of a prediction or reference."""
        return [value]

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return hits, predicted and gold labels of each instance."""
        gold = [set(self.labels_of(each[0])) for each in references]
        given = [set(self.labels_of(each)) for each in predictions]
        labels = list(dict.fromkeys(label for each in references for label in self.labels_of(each[0])))
        place = {label: position for position, label in enumerate(labels)}
        parts = np.zeros((len(gold), 3, len(labels)))
        for row, (wanted, found) in enumerate(zip(gold, given, strict=True)):
            for kind, members in enumerate((wanted & found, found, wanted)):
                parts[row, kind, [place[label] for label in members if label in place]] = 1.0
        return Counts(parts.reshape(len(gold), -1), lambda sums: self._finish(sums, labels))

    def _finish(self, sums: Floats, labels: Sequence[Hashable]) -> Finished:
        hits, given, gold = sums.reshape(len(sums), 3, len(labels)).transpose(1, 0, 2)
        present = gold > 0
        each = self._score(hits, given, gold)
        if self.average == "micro":
            main = self._score(*(np.where(present, part, 0).sum(axis=1) for part in (hits, given, gold)))
        elif self.average == "weighted":
            main = ratio((each * gold).sum(axis=1), gold.sum(axis=1))
        else:
            main = np.where(present, each, 0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
        scores = {self.main_score: np.where(present.any(axis=1), main, np.nan)}
        if self.average is None:
            scores.update(
                {
                    f"{self.metric}_{label}": np.where(present[:, i], each[:, i], np.nan)
                    for i, label in enumerate(labels)
                }
            )
        return scores

    def _score(self, hits: Floats, given: Floats, gold: Floats) -> Floats:
        if self.metric == "precision":
            return ratio(hits, given)
        if self.metric == "recall":
            return ratio(hits, gold)
        return ratio(2 * hits, given + gold)


class F1(LabelMetric):
    """The mean of the F1 scores of the classes, and each of them."""

    prediction_type: object = str


class F1Micro(F1):
    """F1 over all instances together."""

    main_score: str = "f1_micro"
    average: str | None = "micro"


class F1Macro(F1):
    """The mean of the F1 scores of the classes."""


class F1Weighted(F1):
    """The mean of the F1 scores of the classes, weighted by how many references each has."""

    main_score: str = "f1_weighted"
    average: str | None = "weighted"


class F1MultiLabel(LabelMetric):
    """The mean of the F1 scores of the classes, where instances have lists of labels."""

    prediction_type: object = list[str]

    def labels_of(self, value: Any) -> Sequence[Hashable]:
        """Return the labels of a prediction or reference."""
        return value  # type: ignore[no-any-return]


class F1MacroMultiLabel(F1MultiLabel):
    """The mean of the F1 scores of the classes, and each of them."""


def _multi_label(name: str, text: str, metric: str, average: str) -> type[F1MultiLabel]:
    """Return a metric of lists of labels."""
    types = {"main_score": str, "metric": str, "average": str | None}
    body = {"main_score": f"{metric}_{average}", "metric": metric, "average": average}
    names = {"__module__": __name__, "__qualname__": name, "__doc__": text, "__annotations__": types}
    return new_class(name, (F1MultiLabel,), exec_body=lambda namespace: namespace.update({**names, **body}))


F1MicroMultiLabel = _multi_label("F1MicroMultiLabel", "F1 over all labels together.", "f1", "micro")
for _metric in ("precision", "recall"):
    for _average, _text in (("macro", f"The mean of the {_metric}s of the classes."), ("micro", "")):
        _name = f"{_metric.title()}{_average.title()}MultiLabel"
        _text = _text or f"{_metric.title()} over all labels together."
        globals()[_name] = _multi_label(_name, _text, _metric, _average)
