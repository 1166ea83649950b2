"""A check for metrics, as the tutorials use it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.scoring.columns import ABSENT, Columns
from proctor.scoring.grades import Grade
from proctor.scoring.metric import Metric
from proctor.scoring.pipeline import apply_metrics

DIGITS = 2
"""Scores are compared after rounding to this many digits."""


def apply_metric(
    metric: Metric,
    predictions: Sequence[Any],
    references: Sequence[Sequence[Any]],
    task_data: Sequence[Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Return evaluation rows: each with its prediction, references, and instance and global scores."""
    columns = Columns(list(predictions), list(references), list(task_data or [{}] * len(predictions)))
    return scored_rows(columns, apply_metrics(columns, [metric]))


def scored_rows(columns: Columns, grade: Grade) -> list[dict[str, Any]]:
    """Return a grade as evaluation rows."""
    return [
        {
            "prediction": prediction,
            "references": list(answers),
            "score": {
                "global": grade.scores,
                "instance": {
                    name: column[place] for name, column in grade.instance_scores.items() if column[place] is not ABSENT
                },
            },
        }
        for place, (prediction, answers) in enumerate(zip(columns.predictions, columns.references, strict=True))
    ]


def test_metric(
    metric: Metric,
    predictions: Sequence[Any],
    references: Sequence[Sequence[Any]],
    instance_targets: Sequence[Mapping[str, Any]],
    global_target: Mapping[str, Any],
    task_data: Sequence[Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """Check the scores of a metric; return them as evaluation rows.

    Args:
        metric: The metric.
        predictions, references, task_data: What it judges.
        instance_targets: The scores expected of each instance.
        global_target: The scores expected of all together, with their intervals.

    Raises:
        AssertionError: Everything that differs, at once.
    """
    rows = apply_metric(metric, predictions, references, task_data)
    overall = rows[0]["score"]["global"] if rows else {}
    problems = _differences("global", global_target, overall)
    for place, wanted in enumerate(instance_targets):
        problems += _differences(f"instance {place}", wanted, rows[place]["score"]["instance"])
    if problems:
        raise AssertionError("\n".join(problems))
    return rows


test_metric.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it


def _differences(where: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    return [
        f"{where}: {name} is {found.get(name)!r}, expected {value!r}"
        for name, value in wanted.items()
        if not _same(value, found.get(name))
    ]


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, (int, float)) and isinstance(found, (int, float)):
        if math.isnan(wanted) or math.isnan(found):
            return math.isnan(wanted) and math.isnan(found)
        return round(float(wanted), DIGITS) == round(float(found), DIGITS)
    return bool(wanted == found)
