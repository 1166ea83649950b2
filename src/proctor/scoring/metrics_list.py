"""Lists of metrics under one name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.artifacts import Artifact
from proctor.errors import ScoringError
from proctor.scoring.metric import Metric
from proctor.scoring.metric_table import fetch_metric


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
