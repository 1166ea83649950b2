"""The helpers of ``unitxt.test_utils``, which programs and test modules for Unitxt call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from proctor.errors import ScoringError
from proctor.scoring.columns import ABSENT, Columns
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.grades import Grade
from proctor.scoring.metric import Metric
from proctor.scoring.pipeline import apply_metrics
from proctor.settings import settings
from proctor.testing.cards import temporary_catalog

RESAMPLES = 3
"""Bootstrap resamples of global metrics in ``test_metric``, as there: expected intervals were written down with it."""


@contextmanager
def temp_catalog() -> Iterator[str]:
    """Register an empty catalog for a block of code; its folder is what ``catalog_path`` takes."""
    with temporary_catalog() as catalog:
        yield str(catalog.folder)


def round_floats(obj: Any, precision: int = 2, recursive: bool = True) -> Any:
    """Return a value with its numbers rounded; those inside of containers to two digits."""
    if isinstance(obj, float):
        return round(obj, precision)
    if isinstance(obj, dict) and recursive:
        return {key: round_floats(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)) and recursive:
        return [round_floats(value) for value in obj]
    return obj


def dict_equal(dict1: Any, dict2: Any) -> bool:
    """Whether two dicts are the same JSON."""
    return _text(dict1) == _text(dict2)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def apply_metric(
    metric: Metric,
    predictions: list[Any],
    references: list[list[Any]],
    task_data: list[dict[str, Any]] | None = None,
    perform_validations_in_apply_metric: bool = True,
) -> list[dict[str, Any]]:
    """Return evaluation rows: each with its prediction, references, and instance and global scores.

    Raises:
        AssertionError: The lists do not fit each other; not checked on request.
        ValueError: A prediction or reference is not of the metric's type, or the metric fails on it.
    """
    if perform_validations_in_apply_metric:
        _check(isinstance(metric, Metric), "metric must be a Metric")
        _check(isinstance(predictions, list), "predictions must be a list")
        _check(all(isinstance(each, list) for each in references), "references must be a list of lists")
        _check(len(references) == len(predictions), "there are as many references as predictions")
        _check(task_data is None or len(task_data) == len(references), "there are as many task_data as references")
    columns = Columns(predictions, references, task_data or [{}] * len(predictions))
    grade = apply_metrics(columns, [metric])
    failed = [*grade.failures.values(), *grade.metric_failures.values()]
    if failed:
        raise MetricFailedError(
            f"{type(metric).__name__} could not score everything", why=failed[0].message, path=metric.artifact_id or ""
        )
    return _scored_rows(columns, grade)


def _scored_rows(columns: Columns, grade: Grade) -> list[dict[str, Any]]:
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


class MetricFailedError(ScoringError, AssertionError):
    """A metric that could not score everything it was given; Unitxt's raise either of the two."""


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def test_metric(
    metric: Metric,
    predictions: list[Any],
    references: list[list[Any]],
    instance_targets: list[dict[str, Any]],
    global_target: dict[str, Any],
    task_data: list[dict[str, Any]] | None = None,
    score_keys_to_ignore: Sequence[str] | None = None,
) -> bool | None:
    """Check all scores of a metric, rounded to two digits; ``None`` where ``settings.test_metric_disable`` says so.

    Raises:
        AssertionError: Everything that differs, at once.
    """
    if settings.test_metric_disable:
        return None
    if isinstance(metric, GlobalMetric) and metric.n_resamples:
        metric = metric.model_copy()
        metric.n_resamples = RESAMPLES
    rows = apply_metric(metric, predictions, references, task_data)
    check_scores(
        global_target,
        instance_targets,
        rows[0]["score"]["global"],
        [row["score"]["instance"] for row in rows],
        score_keys_to_ignore,
    )
    return True


def check_scores(
    global_target: Mapping[str, Any],
    instance_targets: Sequence[Mapping[str, Any]],
    global_outputs: Mapping[str, Any],
    instance_outputs: Sequence[Mapping[str, Any]],
    score_keys_to_ignore: Sequence[str] | None = None,
) -> None:
    """Check scores against those expected, rounded to two digits.

    Raises:
        AssertionError: Everything that differs, at once.
    """
    ignored = set(score_keys_to_ignore or ())
    problems = _differs("global", global_target, global_outputs, ignored)
    if len(instance_outputs) != len(instance_targets):
        problems.append(f"there are {len(instance_outputs)} instances, {len(instance_targets)} are expected")
    else:
        pairs = zip(instance_targets, instance_outputs, strict=True)
        for number, (target, found) in enumerate(pairs):
            problems += _differs(f"instance {number}", target, found, ignored)
    if problems:
        raise AssertionError("\n".join(problems))


def _differs(where: str, target: Mapping[str, Any], found: Mapping[str, Any], ignored: set[str]) -> list[str]:
    wanted, got = (
        {key: value for key, value in each.items() if key not in ignored}
        for each in (target, round_floats(dict(found)))
    )
    return [] if dict_equal(wanted, got) else [f"{where} score must be equal, got {_text(got)} =/= {_text(wanted)}"]


test_metric.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it
