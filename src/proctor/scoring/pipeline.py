"""From raw predictions to a grade: processors, then metrics."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import (
    FieldOperator,
    InstanceFieldOperator,
    InstanceOperator,
    MultiStreamOperator,
    SequentialMixin,
)
from proctor.data.streams import ListStream, MultiStream
from proctor.errors import ScoringError
from proctor.ir import Failure
from proctor.scoring.grade import Columns, Grade
from proctor.scoring.metric import Metric, MetricScores, failure_of
from proctor.scoring.metrics_list import expand_metrics
from proctor.scoring.processors import PostProcess

MetricSource = str | Mapping[str, Any] | Metric
ProcessorSource = str | Mapping[str, Any] | Artifact
STREAM = "all_data"


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


def grade_each(
    columns: Columns,
    metrics: Sequence[MetricSource],
    processors: Sequence[Sequence[ProcessorSource]],
    *,
    intervals: bool = True,
    instances: bool = True,
) -> Grade:
    """Grade as :func:`grade` does, with processors of each instance's own.

    Args:
        columns: Raw predictions and references.
        metrics: Metrics for all instances.
        processors: The processors of each instance; instances with equal lists are processed together.
        intervals: Whether to compute confidence intervals.
        instances: Whether instance scores are wanted.

    Raises:
        ScoringError: The columns have different lengths, or there is no instance.
    """
    check_lengths(columns)
    processed = process_each(columns, processors)
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


# -- processors -----------------------------------------------------------------------------------------------


def process(columns: Columns, postprocessors: Sequence[ProcessorSource]) -> Columns:
    """Return columns after processors; a value that one cannot process becomes a failure with the reason."""
    for source in postprocessors:
        for operator in _flatten(fetch_artifact(source)):
            columns = _apply(operator, columns)
    return columns


def process_each(columns: Columns, processors: Sequence[Sequence[ProcessorSource]]) -> Columns:
    """Return columns after the processors of each instance."""
    if len(processors) != len(columns):
        raise ScoringError(f"there are {len(processors)} lists of processors for {len(columns)} instances")
    sets = _same_processors(processors)
    if len(sets) == 1:
        return process(columns, sets[0][0])
    predictions, references = list(columns.predictions), list(columns.references)
    for chosen, positions in sets:
        done = process(columns.select(positions), chosen)
        for position, prediction, reference in zip(positions, done.predictions, done.references, strict=True):
            predictions[position], references[position] = prediction, reference
    return replace(columns, predictions=predictions, references=references)


def _same_processors(
    processors: Sequence[Sequence[ProcessorSource]],
) -> list[tuple[Sequence[ProcessorSource], array[int]]]:
    """Return each distinct list of processors with the positions that have it."""
    sets: dict[tuple[str, ...], tuple[Sequence[ProcessorSource], array[int]]] = {}
    last: Sequence[ProcessorSource] | None = None
    positions = array("q")
    for position, each in enumerate(processors):
        if each is not last:
            key = tuple(map(_identity, each or ()))
            positions = sets.setdefault(key, (each or (), array("q")))[1]
            last = each
        positions.append(position)
    return list(sets.values())


def _identity(source: ProcessorSource) -> str:
    if isinstance(source, str):
        return source
    if isinstance(source, Artifact):
        return source.artifact_id or source.to_json()
    return json.dumps(source, sort_keys=True, default=str)


def _flatten(operator: Artifact) -> list[Artifact]:
    if isinstance(operator, SequentialMixin):
        return [inner for step in operator.active_steps() for inner in _flatten(step)]
    return [operator]


def _apply(operator: Artifact, columns: Columns) -> Columns:
    if isinstance(operator, InstanceFieldOperator) and operator.field is None and operator.field_to_field is None:
        operator = PostProcess(operator=operator)  # an operator on values, without a field of its own: on everything
    if isinstance(operator, PostProcess):
        return _post_process(operator, columns)
    rows = [
        {"prediction": prediction, "references": references, "task_data": fields}
        for prediction, references, fields in zip(
            columns.predictions, columns.references, columns.all_fields(), strict=True
        )
    ]
    if isinstance(operator, InstanceOperator):
        step = operator.bind(STREAM)
        outcome = [_safely(step, row, operator) for row in rows]
    elif isinstance(operator, MultiStreamOperator):
        outcome = list(operator(MultiStream({STREAM: ListStream(rows)}))[STREAM])
        if len(outcome) != len(rows):
            raise ScoringError(f"the processor {operator!r} changed the number of instances")
    else:
        raise ScoringError(f"{operator!r} is no processor")
    return replace(
        columns,
        predictions=[each if isinstance(each, Failure) else each["prediction"] for each in outcome],
        references=[
            columns.references[position] if isinstance(each, Failure) else each["references"]
            for position, each in enumerate(outcome)
        ],
    )


def _safely(step: Any, row: dict[str, Any], operator: Artifact) -> Any:
    if isinstance(row["prediction"], Failure):
        return row["prediction"]
    try:
        return step(row)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
        return failure_of(error, f"processor {operator.artifact_id or type(operator).__name__}")


def _post_process(operator: PostProcess, columns: Columns) -> Columns:
    convert = operator.converter()
    name = f"processor {operator.artifact_id or type(operator.operator).__name__}"
    predictions: Sequence[Any] = columns.predictions
    references: Sequence[Any] = columns.references
    rows: Sequence[dict[str, Any]] = [{}] * len(columns)
    if _sees_the_row(operator.operator):
        rows = [{"task_data": fields} for fields in columns.all_fields()]
    if operator.process_prediction:
        predictions = [_convert(convert, value, row, name) for value, row in zip(predictions, rows, strict=True)]
    if operator.process_references:
        references = [
            values if isinstance(values, Failure) else _convert_all(convert, values, row, name)
            for values, row in zip(references, rows, strict=True)
        ]
    return replace(columns, predictions=predictions, references=references)


def _sees_the_row(operator: InstanceFieldOperator) -> bool:
    return type(operator).process_instance_value is not FieldOperator.process_instance_value


def _convert(convert: Any, value: Any, row: dict[str, Any], name: str) -> Any:
    if isinstance(value, Failure):
        return value
    try:
        return convert(value, row)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
        failure = failure_of(error, name)
    if value is None:
        return Failure("no_prediction", "there is no prediction (None)", retryable=False)
    if not isinstance(value, str):
        what = f"{name} cannot read a prediction of type {type(value).__name__} ({failure.message})"
        return Failure("wrong_type", what, retryable=False)
    return failure


def _convert_all(convert: Any, values: Any, row: dict[str, Any], name: str) -> Any:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        what = f"the references are of type {type(values).__name__}, not a list"
        return Failure("wrong_type", what, retryable=False)
    try:
        return [convert(value, row) for value in values]
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
        return failure_of(error, name)


# -- metrics --------------------------------------------------------------------------------------------------


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
    chosen = expand_metrics(metrics)
    if not chosen:
        raise ScoringError("no metric is given", hint="name metrics in the task, the recipe or the call")
    result = Grade({}, {}, raw, columns.predictions, columns.references)
    for metric in reversed(chosen):
        _add(result, metric, metric.evaluate(columns, intervals=intervals, instances=instances))
    if failed := len(result.failures):
        result.scores["num_of_failures"] = failed
    if result.metric_failures:
        reasons = {name: failure.message for name, failure in result.metric_failures.items()}
        result.scores["metric_failures"] = reasons
    return result


def _add(result: Grade, metric: Metric, found: MetricScores) -> None:
    result.scores.update(found.overall)
    for bound in ("score_ci_low", "score_ci_high"):
        if bound not in found.overall:
            result.scores.pop(bound, None)
    result.instance_scores.update(found.instances)
    result.failures.update(found.failures)
    if found.failure is not None:
        result.metric_failures[metric.name] = found.failure
