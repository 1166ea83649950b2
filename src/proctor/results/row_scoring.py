"""Metrics on rows that no recipe made: a data frame, or a list of dicts.

Rows have what the metrics read: ``prediction`` and ``references``, or fields that a pipeline of a metric copies there
(``answer``, ``contexts``, ``ground_truths`` …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from proctor.errors import ScoringError
from proctor.scoring.columns import columns_of_rows
from proctor.scoring.metric import Metric
from proctor.scoring.pipeline import apply_metrics

if TYPE_CHECKING:
    from pandas import DataFrame

Rows = list[dict[str, Any]]


def evaluate_frame(
    dataset: DataFrame | Sequence[Mapping[str, Any]], metric_names: Sequence[str | Metric], *, intervals: bool = False
) -> tuple[Any, Any]:
    """Score rows by metrics.

    Args:
        dataset: The rows.
        metric_names: Metrics, or their catalog names.
        intervals: Whether to compute confidence intervals.

    Returns:
        The rows with a column for each metric, and the global scores by metric: two data frames for a data frame, a
        list and a dict for a list. A row that a metric cannot score has ``None``.

    Raises:
        ScoringError: There is no row.
        ProctorError: A metric cannot be had, or a package is missing.
    """
    if not isinstance(dataset, Sequence):
        from pandas import DataFrame

        rows, scores = evaluate_rows(dataset.to_dict("records"), metric_names, intervals=intervals)
        return DataFrame(rows), DataFrame(scores)
    return evaluate_rows(dataset, metric_names, intervals=intervals)


def evaluate_rows(
    rows: Sequence[Mapping[str, Any]], metric_names: Sequence[str | Metric], *, intervals: bool = False
) -> tuple[Rows, dict[str, dict[str, Any]]]:
    """Return the rows with a score for each metric, and the global scores by metric.

    Raises:
        ScoringError: There is no row.
    """
    if not rows:
        raise ScoringError("there is no row to score")
    found: Rows = [dict(row) for row in rows]
    scores: dict[str, dict[str, Any]] = {}
    columns = columns_of_rows(rows)
    for metric in metric_names:
        name = metric if isinstance(metric, str) else metric.name
        grade = apply_metrics(columns, [metric], intervals=intervals)
        scores[name] = grade.scores
        main = grade.instance_scores.get("score", [None] * len(found))
        for row, score in zip(found, main, strict=True):
            row[name] = score
    return found, scores
