"""Accuracy and exact match: is the prediction one of the references?"""

# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.map_reduce import ReductionInstanceMetric
from proctor.scoring.metric import present
from proctor.scoring.reductions import AggregationReduction, MeanReduction
from proctor.scoring.scores import Unit

_MATCHES_MEMORY = 10_000  # pairs of short texts, a few MB: predictions are letters, which come again and again


class AccuracyFast(ReductionInstanceMetric[Any, dict[str, float]]):
    """1 where the prediction, as text, equals a reference, as text; the mean is the accuracy."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "accuracy"
    reduction: AggregationReduction = MeanReduction()  # type: ignore[type-arg]

    def map(self, prediction: Any, references: list[Any], task_data: dict[str, Any]) -> dict[str, float]:
        """Return the score of an instance."""
        text = str(prediction)
        return {self.main_score: float(any(text == str(reference) for reference in present(references)))}


class Accuracy(InstanceMetric):
    """1 where the prediction, as text, equals a reference, as text."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "accuracy"
    reduction_map: dict[str, Any] = {"mean": ["accuracy"]}
    ci_scores: list[str] | None = ["accuracy"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        text = str(prediction)
        return {self.main_score: float(any(text == str(reference) for reference in present(references)))}


class MaxAccuracy(Accuracy):
    """1 where any instance is right."""

    reduction_map: dict[str, Any] = {"max": ["accuracy"]}


class ExactMatchMM(InstanceMetric):
    """Exact match of short answers to visual questions (MMStar): ``A``, ``(A``, ``option A``, ``the answer is A``."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "exact_match_mm"
    reduction_map: dict[str, Any] = {"mean": ["exact_match_mm"]}

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        return {self.main_score: max(_names_option(str(prediction), str(reference)) for reference in references)}


@lru_cache(maxsize=_MATCHES_MEMORY)
def _names_option(prediction: str, answer: str) -> float:
    wanted = answer.lower().strip().replace("\n", " ")
    given = prediction.lower().strip().replace("\n", " ")
    if not given:
        return 0.0
    starts = [given]
    starts += [given[len(words) :] for words in ("(", "option ", "the answer is ") if given.startswith(words)]
    return float(any(start[:1] == wanted for start in starts if start))


class UnsortedListExactMatch(InstanceMetric):
    """1 where prediction and the first reference have the same members, in any order."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    main_score: str = "unsorted_list_exact_match"
    reduction_map: dict[str, Any] = {"mean": ["unsorted_list_exact_match"]}
    ci_scores: list[str] | None = ["unsorted_list_exact_match"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the score of an instance."""
        return {self.main_score: float(sorted(prediction) == sorted(references[0]))}
