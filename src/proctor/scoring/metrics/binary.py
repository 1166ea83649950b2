"""Metrics of two classes: a score against a threshold, the best threshold, ROC, Matthews' correlation."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from proctor.errors import ScoringError
from proctor.scoring.global_metric import CountedMetric, Counts, Finished, GlobalMetric, ratio
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats
from proctor.statistics.confusion import matthews

_CLASSES = 2  # the area under the curve is of one class against one other


def _gold(references: list[list[Any]]) -> Floats:
    gold = np.array([float(each[0]) for each in references])
    if not np.isin(gold, (0.0, 1.0)).all():
        raise ScoringError("references of a binary metric are 0 or 1")
    return gold


class F1Binary(CountedMetric):
    """F1, precision and recall of predictions above a threshold, of the class 1 and (``…_neg``) of the class 0.

    Attributes:
        threshold: A prediction above it is of class 1.
        average: ``None``, or ``binary`` for the scores of class 1 only.
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1_binary"
    prediction_type: object = float | int
    single_reference_per_prediction: bool = True
    process_single_instances: bool = False
    ci_scores: list[str] | None = ["f1_binary", "f1_binary_neg"]
    threshold: float = 0.5
    average: str | None = None
    metric: str = "f1"

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return the confusion of each instance."""
        gold = _gold(references)
        given = (np.array(predictions, dtype=np.float64) > self.threshold).astype(np.float64)
        cells = np.stack([gold * given, (1 - gold) * given, gold * (1 - given), (1 - gold) * (1 - given)], axis=1)
        return Counts(cells, self._finish)

    def _finish(self, sums: Floats) -> Finished:
        hits, false, missed, passed = sums.T
        scores = {**_binary_scores(hits, false, missed, ""), **_binary_scores(passed, missed, false, "_neg")}
        order = ("f1_binary", "recall_binary", "precision_binary")
        suffixes = ("", "_neg") if self.average is None else ("",)
        return {name + suffix: scores[name + suffix] for name in order for suffix in suffixes}


def _binary_scores(hits: Floats, false: Floats, missed: Floats, suffix: str) -> Finished:
    return {
        f"f1_binary{suffix}": ratio(2 * hits, 2 * hits + false + missed),
        f"recall_binary{suffix}": ratio(hits, hits + missed),
        f"precision_binary{suffix}": ratio(hits, hits + false),
    }


class F1BinaryPosOnly(F1Binary):
    """F1, precision and recall of the class 1."""

    average: str | None = "binary"
    ci_scores: list[str] | None = ["f1_binary"]


class RecallBinary(F1Binary):
    """Recall of the class 1; F1 and precision beside it."""

    main_score: str = "recall_binary"
    metric: str = "recall"


class PrecisionBinary(F1Binary):
    """Precision of the class 1; F1 and recall beside it."""

    main_score: str = "precision_binary"
    metric: str = "precision"


class BinaryMaxF1(GlobalMetric):
    """F1 at the threshold (of three decimals) where it is best, for the class 1 and the class 0."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    raw_scores: ClassVar[frozenset[str]] = frozenset({"best_thr_maxf1", "best_thr_maxf1_neg"})
    main_score: str = "max_f1_binary"
    prediction_type: object = float | int
    single_reference_per_prediction: bool = True
    process_single_instances: bool = False
    ci_scores: list[str] | None = ["max_f1_binary", "max_f1_binary_neg"]

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        gold = _gold(references)
        thresholds, scores = _scores_by_threshold(np.array(predictions, dtype=np.float64), gold)
        best, best_negative = int(np.argmax(scores["f1_binary"])), int(np.argmax(scores["f1_binary_neg"]))
        return {
            "max_f1_binary": float(scores["f1_binary"][best]),
            "best_thr_maxf1": float(thresholds[best]),
            "max_f1_binary_neg": float(scores["f1_binary_neg"][best_negative]),
            "best_thr_maxf1_neg": float(thresholds[best_negative]),
            "recall_at_max_f1": float(scores["recall_binary"][best]),
            "recall_at_max_f1_neg": float(scores["recall_binary_neg"][best_negative]),
            "precision_at_max_f1": float(scores["precision_binary"][best]),
            "precision_at_max_f1_neg": float(scores["precision_binary_neg"][best_negative]),
        }


def _scores_by_threshold(given: Floats, gold: Floats) -> tuple[Floats, Finished]:
    """Return thresholds, lowest first, with the scores when predictions at or above each are of class 1."""
    thresholds = np.unique(np.round(given, 3))
    order = np.argsort(given, kind="stable")
    hits_below = np.concatenate([[0.0], np.cumsum(gold[order])])
    below = np.searchsorted(given[order], thresholds, side="left")
    missed = hits_below[below]
    hits = hits_below[-1] - missed
    false = len(given) - below - hits
    passed = below - missed
    return thresholds, {**_binary_scores(hits, false, missed, ""), **_binary_scores(passed, missed, false, "_neg")}


class BinaryAccuracy(InstanceMetric):
    """Accuracy of predictions above a threshold."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "accuracy_binary"
    prediction_type: object = float | int
    single_reference_per_prediction: bool = True
    reduction_map: dict[str, Any] = {"mean": ["accuracy_binary"]}
    ci_scores: list[str] | None = ["accuracy_binary"]
    threshold: float = 0.5

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        gold = _gold([references])[0]
        return {self.main_score: float((prediction > self.threshold) == bool(gold))}


class BinaryMaxAccuracy(GlobalMetric):
    """Accuracy at the threshold where it is best."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "max_accuracy_binary"
    prediction_type: object = float | int
    single_reference_per_prediction: bool = True
    process_single_instances: bool = False

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        given = np.array(predictions, dtype=np.float64)
        gold = np.array([int(each[0]) for each in references]) == 1
        thresholds, starts = np.unique(np.sort(given), return_index=True)
        ones_below = np.concatenate([[0], np.cumsum(gold[np.argsort(given, kind="stable")])])
        beyond = 1.0 if thresholds[-1] < 1 else float(thresholds[-1]) + 0.01
        thresholds, below = np.append(thresholds, beyond), np.append(starts, len(given))
        right = (ones_below[-1] - ones_below[below]) + (below - ones_below[below])
        best = int(np.argmax(right))
        return {self.main_score: float(right[best]) / len(given), "best_thr_max_acc": float(thresholds[best])}


class RocAuc(GlobalMetric):
    """Area under the ROC curve: the chance that a 1 scores above a 0, ties half."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "roc_auc"
    prediction_type: object = float
    single_reference_per_prediction: bool = True
    process_single_instances: bool = False

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the score of a sample; NaN where it has one class only."""
        given = np.array(predictions, dtype=np.float64)
        if np.isnan(given).any():
            raise ScoringError("a prediction is NaN", hint="a processor could not read a number from an answer")
        gold = np.array([float(each[0]) for each in references])
        classes = np.unique(gold)
        if len(classes) > _CLASSES or not set(classes) <= {-1.0, 0.0, 1.0}:
            raise ScoringError("references of roc_auc are 0 or 1")
        positive = gold == 1.0
        ones, zeros = int(positive.sum()), int((~positive).sum())
        if not ones or not zeros:
            return {self.main_score: float("nan")}
        rank_sum = float(ranks(given)[positive].sum())
        return {self.main_score: (rank_sum - ones * (ones + 1) / 2) / (ones * zeros)}


def ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2.0)[place]


class MatthewsCorrelation(CountedMetric):
    """Matthews' correlation coefficient of labels, for two classes or more (Gorodkin 2004); 0 where undefined."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    main_score: str = "matthews_correlation"
    prediction_type: object = str
    single_reference_per_prediction: bool = True

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return predicted and gold labels and hits of each instance."""
        gold = [each[0] for each in references]
        place = {label: position for position, label in enumerate(dict.fromkeys([*gold, *predictions]))}
        identity = np.eye(len(place))
        wanted, given = (identity[[place[label] for label in labels]] for labels in (gold, predictions))
        hits = (wanted * given).sum(axis=1, keepdims=True)
        return Counts(np.concatenate([wanted, given, hits], axis=1), self._finish)

    @staticmethod
    def _finish(sums: Floats) -> Finished:
        width = (sums.shape[1] - 1) // 2
        wanted, given, hits = sums[:, :width], sums[:, width:-1], sums[:, -1]
        return {"matthews_correlation": matthews(hits, wanted, given)}
