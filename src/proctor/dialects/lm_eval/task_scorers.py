"""Scorers over all documents of a task: aggregates of their values, and metrics of other systems."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from proctor.dialects.lm_eval.document_scores import DocumentScorer, Values
from proctor.dialects.lm_eval.metrics import CoreMetric
from proctor.errors import Diagnostic
from proctor.ir import Failure
from proctor.logs import get_logger
from proctor.scoring.answer_values import RowAggregation
from proctor.scoring.assertions import ASSERTIONS
from proctor.scoring.columns import Columns
from proctor.scoring.evaluators.metrics import references_of
from proctor.scoring.grades import Measured
from proctor.scoring.grading.protocols import Need


class DocumentValues:
    """Aggregates the values of documents; a scorer.

    Args:
        scorer: What has scored them.
        aggregation: How.
        warns: Whether to warn of gold answers outside the choices: once for all pipelines.
    """

    needs: frozenset[Need] = frozenset()

    def __init__(self, scorer: DocumentScorer, aggregation: RowAggregation, *, warns: bool) -> None:
        self.name = "metric_list"
        self._scorer = scorer
        self._aggregation = aggregation
        self._warns = warns

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing; the metric list is checked as a whole."""
        yield from ()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the aggregates."""
        failures: dict[int, Failure] = {}
        aggregation = self._aggregation if intervals else replace(self._aggregation, resamples=0)
        found = aggregation.measured(_values(columns.predictions, failures), instances=instances)
        found.failures |= failures
        found.parsed = _Shown(columns.predictions)
        if failures and not found.instances and not found.scores:  # what is wrong with every answer is said once
            found.failure = next(iter(failures.values()))
        if self._warns:
            self._warn_of_golds()
        return found

    def _warn_of_golds(self) -> None:
        count, self._scorer.golds_outside = self._scorer.golds_outside, 0
        if count:
            get_logger().warning(
                "%s: %d documents have a gold answer outside their choices; they count as wrong",
                self._scorer.config.task,
                count,
            )


class RecordedDocuments:
    """Shows what filters made of the answers, and scores nothing; a scorer for ``--predict-only``."""

    name = "predict_only"
    needs: frozenset[Need] = frozenset()

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing: there is nothing that could go wrong."""
        yield from ()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return what was read of each answer, with the reasons where a filter could not read one."""
        del intervals, instances
        failures: dict[int, Failure] = {}
        deque(_values(columns.predictions, failures), maxlen=0)
        return Measured(failures=failures, parsed=_Shown(columns.predictions))


def _values(predictions: Iterable[Any], failures: dict[int, Failure]) -> Iterator[Values | None]:
    """Yield the values of documents; why one has none is put into ``failures``."""
    for place, each in enumerate(predictions):
        if isinstance(each, Failure):
            yield None
            continue
        _, values, failure = each
        if failure is not None:
            failures[place] = failure
        yield values


class _Shown(Sequence[Any]):
    """What is shown of the predictions of a pipeline."""

    def __init__(self, predictions: Sequence[Any]) -> None:
        self._predictions = predictions

    def __len__(self) -> int:
        return len(self._predictions)

    def __iter__(self) -> Iterator[Any]:
        return map(_shown, self._predictions)

    def __getitem__(self, index: Any) -> Any:
        found = self._predictions[index]
        return [_shown(each) for each in found] if isinstance(index, slice) else _shown(found)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _shown(prediction: Any) -> Any:
    return prediction if isinstance(prediction, Failure) else prediction[0]


class CoreScorer:
    """A metric of a catalog or of OpenCompass, on what the filters left; a scorer.

    Args:
        metric: The metric.
        scorer: Knows the right answers.
    """

    def __init__(self, metric: CoreMetric, scorer: DocumentScorer) -> None:
        self._metric = metric
        self._scorer = scorer
        self.name = metric.metric.name
        self.needs: frozenset[Need] = metric.metric.needs | {"fields"}

    def check(self) -> Iterator[Diagnostic]:
        """Yield what the metric misses."""
        yield from self._metric.metric.check()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return the metric's scores, under its own names."""
        metric = self._metric.metric
        shown = list(_Shown(columns.predictions))
        golds = [
            None if isinstance(each, Failure) else self._scorer.gold_text(doc)
            for each, doc in zip(shown, columns.task_data, strict=True)
        ]
        read = replace(columns, predictions=shown, references=references_of(golds, metric.prediction_type))
        found = metric.measure(read, intervals=intervals, instances=instances)
        if found.failure is not None:
            return Measured(failures=found.failures, failure=found.failure)
        scores = [replace(each, higher_is_better=self._metric.higher_is_better) for each in found.scores]
        scores.sort(key=lambda each: each.name != found.main)
        names = {each.name for each in scores} | {ASSERTIONS, *(f"{each.name}_assessment" for each in scores)}
        own = {name: column for name, column in found.instances.items() if name in names}
        return Measured(scores, found.main, own, found.failures)
