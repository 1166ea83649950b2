"""F1 of lists of elements that fall into groups: entities by type, key points."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from proctor.scoring.columns import Columns
from proctor.scoring.global_metric import CountedMetric, Counts, Finished, ratio
from proctor.scoring.metric import Metric
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats

Elements = dict[Any, Counter[Any]]
_MEMORY = 100_000  # pairs of entities, some 20 MB: each instance compares all of its own with all, and names repeat
_KINDS = 4  # numbers of a group in an instance: matched and all, of the prediction and of the reference


class CustomF1(CountedMetric):
    """F1, precision and recall of elements, by group, macro (the mean over groups) and micro.

    Override :meth:`get_element_group` and :meth:`get_element_representation`.

    Attributes:
        groups: Groups to report; ``None`` for those among the references.
        zero_division: The score where there is nothing to divide by.
        report_per_group_scores: Whether to report ``f1_<group>``.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = "f1_micro"
    single_reference_per_prediction: bool = True
    groups: list[Any] | None = None
    zero_division: float = 0.0
    report_per_group_scores: bool = True

    @abstractmethod
    def get_element_group(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the group of an element."""

    @abstractmethod
    def get_element_representation(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return what makes two elements the same."""

    def should_ignore_element(self, element: Any, additional_input: dict[str, Any]) -> bool:
        """Whether an element makes no group."""
        return False

    def matches(self, actual: Counter[Any], total: Counter[Any]) -> int:
        """Return how many of the elements ``actual`` are among ``total``."""
        return sum(min(count, total[key]) for key, count in actual.items())

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return matches and numbers of elements of each instance, by group."""
        rows: list[dict[Any, tuple[float, float, float, float]]] = []
        in_references: dict[Any, None] = {}
        for each, prediction, fields in zip(references, predictions, task_data, strict=True):
            wanted, given = self._grouped(each[0], fields), self._grouped(prediction, fields)
            in_references.update(dict.fromkeys(wanted))
            rows.append({group: self._row(wanted, given, group) for group in {**wanted, **given}})
        order = list(dict.fromkeys(group for row in rows for group in row))
        parts = np.zeros((len(rows), len(order), _KINDS + 2))
        for row, own in zip(parts, rows, strict=True):
            for place, group in enumerate(order):
                if group in own:
                    row[place] = [*own[group], 1.0, 0.0]
        for row, each, fields in zip(parts, references, task_data, strict=True):
            for group in self._grouped(each[0], fields):
                row[order.index(group), -1] = 1.0
        return Counts(parts.reshape(len(rows), -1), lambda sums: self._finish(sums, order))

    def _row(self, wanted: Elements, given: Elements, group: Any) -> tuple[float, float, float, float]:
        gold, found = wanted.get(group, Counter()), given.get(group, Counter())
        return self.matches(found, gold), found.total(), self.matches(gold, found), gold.total()

    def _grouped(self, elements: Any, fields: dict[str, Any]) -> Elements:
        members = elements if isinstance(elements, list) else [elements]
        kept = {
            self.get_element_group(each, fields): None
            for each in members
            if not self.should_ignore_element(each, fields)
        }
        grouped: Elements = {group: Counter() for group in kept}
        for each in members:
            group = self.get_element_group(each, fields)
            if group in grouped:
                grouped[group][self.get_element_representation(each, fields)] += 1
        return grouped

    def _finish(self, sums: Floats, order: list[Any]) -> Finished:
        found, predicted, recalled, gold, seen, referred = sums.reshape(len(sums), len(order), _KINDS + 2).transpose(
            2, 0, 1
        )
        reported = (seen > 0) & (np.isin(np.arange(len(order)), self._chosen(order)) if self.groups else referred > 0)
        precision, recall = ratio(found, predicted, self.zero_division), ratio(recalled, gold, self.zero_division)
        f1 = self._f1(precision, recall)
        scores: Finished = {}
        if self.report_per_group_scores:
            scores.update({f"f1_{group}": np.where(reported[:, i], f1[:, i], np.nan) for i, group in enumerate(order)})
            scores = {name: values for name, values in scores.items() if not np.isnan(values).all()}
        for name, values in (("f1", f1), ("recall", recall), ("precision", precision)):
            total = np.where(reported, values, 0).sum(axis=1)
            scores[f"{name}_macro"] = ratio(total, reported.sum(axis=1), self.zero_division)
        unknown = np.where(reported, 0, predicted).sum(axis=1)
        scores["in_classes_support"] = 1.0 - ratio(unknown, predicted.sum(axis=1))
        all_precision = ratio(found.sum(axis=1), predicted.sum(axis=1), self.zero_division)
        all_recall = ratio(recalled.sum(axis=1), gold.sum(axis=1), self.zero_division)
        scores["f1_micro"] = self._f1(all_precision, all_recall)
        scores["recall_micro"], scores["precision_micro"] = all_recall, all_precision
        return scores

    def _chosen(self, order: list[Any]) -> list[int]:
        return [place for place, group in enumerate(order) if group in (self.groups or ())]

    def _f1(self, precision: Floats, recall: Floats) -> Floats:
        return ratio(2 * precision * recall, precision + recall, self.zero_division)


class NER(CustomF1):
    """F1 of (entity, type) pairs, by type."""

    reads_task_data: ClassVar[bool] = False
    prediction_type: object = list[tuple[str, str]]

    def get_element_group(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the type of the entity."""
        return element[1]

    def get_element_representation(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the pair as text."""
        return str(element)


class KPA(CustomF1):
    """F1 of key points matched to an argument; ``none`` is not a key point."""

    prediction_type: object = str

    def get_element_group(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the key point of the instance."""
        return additional_input["keypoint"]

    def get_element_representation(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the key point of the instance."""
        return additional_input["keypoint"]

    def should_ignore_element(self, element: Any, additional_input: dict[str, Any]) -> bool:
        """Whether the element says that there is no key point."""
        return bool(element == "none")


class CustomF1Fuzzy(CustomF1):
    """F1 of (entity, type) pairs where entities need only be alike.

    Attributes:
        min_score_for_match: Least likeness that counts.
    """

    prediction_type: object = list[tuple[str, str]]
    min_score_for_match: float

    @abstractmethod
    def score(self, val1: str, val2: str) -> float:
        """Return how alike two entities are."""

    def get_element_group(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the type of the entity."""
        return element[1]

    def get_element_representation(self, element: Any, additional_input: dict[str, Any]) -> Any:
        """Return the pair."""
        return tuple(element)

    def matches(self, actual: Counter[Any], total: Counter[Any]) -> int:
        """Return how many elements have one among ``total`` that is like them; the most alike counts."""
        matched = 0
        for key, count in actual.items():
            likeness, best = self.min_score_for_match, None
            for other in total:
                if key[1] == other[1] and (found := self.score(key[0], other[0])) >= likeness:
                    likeness, best = found, other
            if best is not None:
                matched += min(count, total[best])
        return matched


class FuzzyNer(CustomF1Fuzzy):
    """F1 of entities by type, where more than three quarters of the characters must match (``difflib``)."""

    reads_task_data: ClassVar[bool] = False
    min_score_for_match: float = 0.750001

    def score(self, val1: str, val2: str) -> float:
        """Return how alike two texts are, in whole hundredths."""
        return _likeness(val1, val2)


@lru_cache(maxsize=_MEMORY)
def _likeness(first: str, second: str) -> float:
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    return round(100 * SequenceMatcher(None, first, second).ratio()) / 100.0


class MetricBasedNer(CustomF1Fuzzy):
    """F1 of entities by type, where a metric says how alike two entities are.

    Attributes:
        metric: Compares an entity (as prediction) with another (as reference, and as ``ground_truth`` and
            ``reference`` of the task).
    """

    metric: Metric
    min_score_for_match: float = 0.75

    def score(self, val1: str, val2: str) -> float:
        """Return the metric's score."""
        columns = Columns([val1], [[val2]], [{"ground_truth": val2, "reference": val2}])
        return float(self.metric.measure(columns, intervals=False).overall["score"])
