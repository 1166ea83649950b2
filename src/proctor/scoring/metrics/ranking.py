"""Metrics of rankings and retrieval."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np

from proctor.errors import MissingFieldError, ScoringError
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats
from proctor.statistics.resampling import nan_mean


class Retrieved(NamedTuple):
    """A ranking against its references, from rank 1 on.

    Attributes:
        relevant: Whether each retrieved item is a reference.
        hits: How many references are among the first items.
        wanted: How many references there are.
    """

    relevant: list[bool]
    hits: list[int]
    wanted: int


class RetrievalMetric(InstanceMetric):
    """Base of metrics of a ranked list of ids against a list of right ids."""

    reads_task_data: ClassVar[bool] = False
    prediction_type: object = list[str] | list[int]
    single_reference_per_prediction: bool = True

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of an instance."""
        wanted = set(references[0])
        relevant = [each in wanted for each in prediction]
        return self.rank_scores(Retrieved(relevant, list(accumulate(map(int, relevant))), len(wanted)))

    @abstractmethod
    def rank_scores(self, retrieved: Retrieved) -> dict[str, Any]:
        """Return the scores of a ranking."""


class MRR(RetrievalMetric):
    """Mean reciprocal rank of the first right item; 0 where there is none."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "mrr"
    reduction_map: dict[str, Any] = {"mean": ["mrr"]}
    ci_scores: list[str] | None = ["mrr"]

    def rank_scores(self, retrieved: Retrieved) -> dict[str, Any]:
        """Return the reciprocal rank."""
        return {self.main_score: 1 / (retrieved.relevant.index(True) + 1) if True in retrieved.relevant else 0}


class MAP(RetrievalMetric):
    """Mean average precision: of the precisions at the ranks of right items."""

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "map"
    reduction_map: dict[str, Any] = {"mean": ["map"]}
    ci_scores: list[str] | None = ["map"]

    def rank_scores(self, retrieved: Retrieved) -> dict[str, Any]:
        """Return the average precision."""
        precisions = [
            hits / rank for rank, (right, hits) in enumerate(zip(*retrieved[:2], strict=True), start=1) if right
        ]
        return {self.main_score: sum(precisions) / len(precisions) if precisions else 0}


class RetrievalAtK(RetrievalMetric):
    """Precision, recall and match among the first items.

    Attributes:
        k_list: Numbers of first items; the main score is the match at the first of them.
    """

    unit: ClassVar[Unit | None] = "share"
    k_list: list[int]
    main_score: str = ""
    reduction_map: dict[str, Any] = {}

    def prepare(self) -> None:
        """Name the scores."""
        super().prepare()
        names = [self.score_name(measure, k) for measure in ("precision", "recall", "match") for k in self.k_list]
        self.main_score = self.score_name("match", self.k_list[0])
        self.ci_scores = names
        self.reduction_map = {"mean": names}

    @staticmethod
    def score_name(measure: str, k: int) -> str:
        """Return the name of a score."""
        return f"{measure}_at_{k}"

    def rank_scores(self, retrieved: Retrieved) -> dict[str, Any]:
        """Return the scores at each number."""
        scores: dict[str, Any] = {}
        for measure in ("precision", "recall", "match"):
            for k in self.k_list:
                scores[self.score_name(measure, k)] = _at(measure, retrieved, min(k, len(retrieved.hits)))
        return scores


def _at(measure: str, retrieved: Retrieved, rank: int) -> float:
    if not rank:
        return 0.0
    hits = retrieved.hits[rank - 1]
    if measure == "precision":
        return hits / rank
    if measure == "recall":
        return hits / retrieved.wanted if retrieved.wanted else 0
    return 1.0 if hits else 0.0


class NDCG(GlobalMetric):
    """Normalised discounted cumulative gain of predicted relevances, by query, ties averaged; the mean over queries.

    A query with one document says nothing and is left out. A prediction of ``None`` ranks last.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "nDCG"
    prediction_type: object = float | None
    single_reference_per_prediction: bool = True

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the score of a sample."""
        queries: dict[Any, tuple[list[Any], list[Any]]] = {}
        for prediction, each, fields in zip(predictions, references, task_data, strict=True):
            given, gold = queries.setdefault(fields.get("query"), ([], []))
            given.append(prediction)
            gold.append(each[0])
        scores = [_ranked_gain(given, gold) for given, gold in queries.values() if len(gold) > 1]
        return {self.main_score: nan_mean(scores)}


def _ranked_gain(given: list[Any], gold: list[Any]) -> float:
    if None in given:
        present = [value for value in given if value is not None]
        if len(present) <= 1:
            return 0.0
        given = [0 if value is None else 1 + (value - min(present)) for value in given]
    return ndcg(np.array(given, dtype=np.float64), np.array(gold, dtype=np.float64))


def ndcg(given: Floats, gold: Floats) -> float:
    """Return nDCG of one ranking; equal predictions share the mean of their gains (McSherry & Najork 2008)."""
    if (gold < 0).any():
        raise ScoringError("relevances of nDCG are not negative")
    discounts = 1 / np.log2(np.arange(2, len(gold) + 2))
    ideal = float(np.sort(gold)[::-1] @ discounts)
    if not ideal:
        return 0.0
    _, place, counts = np.unique(-given, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=gold) / counts
    ends = np.cumsum(counts)
    sums = np.concatenate([[0.0], np.cumsum(discounts)])
    return float(means @ (sums[ends] - sums[ends - counts])) / ideal


class RerankRecall(GlobalMetric):
    """The share of the right passages of a query among those with the highest scores, by query.

    Ties are broken by passage id, the higher first, as trec_eval does.

    Attributes:
        query_id_field: Field of the task with the query's id.
        passage_id_field: Field of the task with the passage's id.
        at_k: Numbers of first passages.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "recall_at_5"
    n_resamples: int | None = None
    query_id_field: str = "query_id"
    passage_id_field: str = "passage_id"
    at_k: list[int] = [1, 2, 5]

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        queries: dict[Any, dict[str, tuple[float, int]]] = {}
        for each, prediction, fields in zip(references, predictions, task_data, strict=True):
            for name in (self.query_id_field, self.passage_id_field):
                if name not in fields:
                    raise MissingFieldError(f"the task data has no field '{name}'")
            passages = queries.setdefault(fields[self.query_id_field], {})
            passages[str(fields[self.passage_id_field])] = (_as_score(prediction), int(each[0]))
        return {f"recall_at_{k}": nan_mean([_recall(each, k) for each in queries.values()]) for k in self.at_k}


def _as_score(prediction: Any) -> float:
    try:
        return float(np.float32(float(prediction)))
    except (TypeError, ValueError):
        return math.nan


def _recall(passages: dict[str, tuple[float, int]], k: int) -> float:
    lowest = -math.inf
    ranked = sorted(
        passages.items(), key=lambda item: (lowest if math.isnan(item[1][0]) else item[1][0], item[0]), reverse=True
    )
    right = [relevance > 0 for _, (_, relevance) in ranked]
    return sum(right[:k]) / sum(right) if any(right) else 0.0
