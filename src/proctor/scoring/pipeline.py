"""From raw predictions to a grade: processors, then metrics by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, overload

from proctor.artifacts import Artifact
from proctor.errors import ProctorError, ScoringError
from proctor.scoring.columns import Columns
from proctor.scoring.grades import Grade
from proctor.scoring.grading.composition import composed, measure
from proctor.scoring.grading.protocols import MetricNames, Scorer, Unavailable
from proctor.scoring.metric import Metric
from proctor.scoring.metric_table import fetch_metric
from proctor.scoring.text.processor_steps import ProcessorSource, process
from proctor.tasks.task import check_taken


class MetricsList(Artifact):
    """Several metrics that stand for one name in a task's list of metrics."""

    items: list[Metric] = []

    def __iter__(self) -> Iterator[Metric]:  # type: ignore[override]
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, position: int) -> Metric:
        return self.items[position]


def expand_metrics(sources: Sequence[str | Mapping[str, Any] | Artifact]) -> list[Metric]:
    """Return the metrics that names, queries, JSON and lists mean, in order.

    Raises:
        ScoringError: Something in the list is not a metric.
        ArtifactError: Something cannot be had.
    """
    metrics: list[Metric] = []
    for source in sources:
        found = fetch_metric(source)
        if isinstance(found, MetricsList):
            metrics.extend(found.items)
        elif isinstance(found, Metric):
            metrics.append(found)
        else:
            raise ScoringError(f"'{source}' is a {type(found).__name__}, not a metric")
    return metrics


MetricSource = str | Mapping[str, Any] | Artifact


def grade(
    columns: Columns,
    metrics: Sequence[MetricSource],
    postprocessors: Sequence[ProcessorSource] = (),
    *,
    intervals: bool = True,
    instances: bool = True,
) -> Grade:
    """Process predictions and references, then apply metrics.

    Args:
        columns: Raw predictions and references.
        metrics: Metrics, or their catalog names, queries or JSON. The first one owns ``score`` and ``score_name``.
        postprocessors: Processors, in order.
        intervals: Whether to compute confidence intervals.
        instances: Whether instance scores are wanted.

    Raises:
        ScoringError: The columns have different lengths, or there is no instance.
        ProctorError: An artifact cannot be had, or a package is missing.
    """
    check_lengths(columns)
    processed = process(columns, postprocessors)
    return apply_metrics(processed, metrics, raw=columns.predictions, intervals=intervals, instances=instances)


def check_lengths(columns: Columns) -> None:
    """Check that there is something to score, and the same number of everything.

    Raises:
        ScoringError: There is not.
    """
    wanted = len(columns.references)
    for name, column in (
        ("predictions", columns.predictions),
        ("task_data", columns.task_data),
        ("responses", columns.responses),
    ):
        if len(column) != wanted and (column or name == "predictions"):
            raise ScoringError(
                f"there are {len(column)} {name} for {wanted} instances",
                hint="pass one prediction for each instance, in the order of the dataset",
            )
    if not wanted:
        raise ScoringError("there is no instance to score", hint="check the split and its limits")


def apply_metrics(
    columns: Columns,
    metrics: Sequence[MetricSource],
    *,
    raw: Sequence[Any] = (),
    intervals: bool = True,
    instances: bool = True,
) -> Grade:
    """Apply metrics to processed columns; the first one owns ``score`` and ``score_name``.

    Scores of the same name: the metric listed first wins, as it is computed last.

    Raises:
        ScoringError: No metric is given.
    """
    scorers = expand_metrics(metrics)
    if not scorers:
        raise ScoringError("no metric is given", hint="name metrics in the task, the recipe or the call")
    marks = measure(columns, scorers, intervals=intervals, instances=instances)
    result = composed(marks, MetricNames(), len(columns))
    result.predictions = raw
    result.processed_predictions, result.processed_references = columns.predictions, columns.references
    return result


class MetricScorers(Sequence[Scorer]):
    """The metrics that a recipe or a config names, looked up when somebody first asks for them.

    Args:
        sources: Metrics, or their catalog names, queries or JSON.
        predicted: The type of what they score.
    """

    def __init__(self, sources: Sequence[MetricSource], predicted: Any = Any) -> None:
        self._sources, self._predicted = list(sources), predicted

    @cached_property
    def metrics(self) -> Sequence[Scorer]:
        """The metrics; in place of one that cannot be had, or does not take what is predicted, what says why."""
        found: list[Scorer] = []
        for source in self._sources:
            try:
                members = expand_metrics([source])
                for each in members:
                    check_taken(self._predicted, each, each.name)
                found += members
            except ProctorError as error:
                found.append(Unavailable(str(source), error))
        return found

    @property
    def leading(self) -> int:
        """How many metrics the first source stands for."""
        try:
            return len(expand_metrics(self._sources[:1]))
        except ProctorError:  # which `check` tells
            return 1

    @overload
    def __getitem__(self, index: int) -> Scorer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Scorer]: ...
    def __getitem__(self, index: int | slice) -> Scorer | Sequence[Scorer]:
        return self.metrics[index]

    def __len__(self) -> int:
        return len(self.metrics)
