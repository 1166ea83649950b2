"""From raw predictions to a grade: processors, then metrics."""

# ruff: noqa: ARG002 - what stands for something that cannot be had takes what that would

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, overload

from proctor.artifacts import Artifact
from proctor.data.operator import (
    FieldOperator,
    InstanceFieldOperator,
    InstanceOperator,
    MultiStreamOperator,
    SequentialMixin,
)
from proctor.data.streams import ListStream, MultiStream
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.ir.question import Question
from proctor.scoring.grade import Columns, Grade, Measured
from proctor.scoring.grading import MetricNames, Need, Scope, Scorer, Step
from proctor.scoring.measuring import composed, measure
from proctor.scoring.metric import failure_of
from proctor.scoring.metrics_list import expand_metrics
from proctor.scoring.processor_functions import fetch_processor
from proctor.scoring.processors import PostProcess
from proctor.tasks.task import check_taken

MetricSource = str | Mapping[str, Any] | Artifact
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


class Processor:
    """An operator of the catalog as a step between readings and what is scored.

    Args:
        operator: The operator, not a sequence of operators.

    Raises:
        ScoringError: It is not an operator.
    """

    def __init__(self, operator: Artifact) -> None:
        if not isinstance(operator, InstanceOperator | MultiStreamOperator):
            called = operator.artifact_id or operator.to_json()
            raise ScoringError(
                f"'{called}' is a {type(operator).__name__}, not a processor",
                hint="name operators in postprocessors, and metrics in metrics",
            )
        if (
            isinstance(operator, InstanceFieldOperator) and operator.field is None and operator.field_to_field is None
        ):  # an operator on values, without a field of its own: on everything
            operator = PostProcess(operator=operator)
        self._operator: InstanceOperator | MultiStreamOperator = operator

    @property
    def function(self) -> Artifact:
        """The operator itself, for whoever describes by value what an exam is made of."""
        return self._operator

    @property
    def name(self) -> str:
        """How messages call it."""
        return self._operator.artifact_id or type(self._operator).__name__

    @property
    def scope(self) -> Scope:
        """A text function may take all repeats; an operator on streams sees everything at once, all others a row."""
        if isinstance(self._operator, PostProcess) and getattr(self._operator.operator, "scope", "") == "repeats":
            return "repeats"
        return "row" if isinstance(self._operator, InstanceOperator | PostProcess) else "column"

    def process(self, columns: Columns) -> Columns:
        """Return columns after the operator; a value that it cannot process becomes a failure with the reason."""
        return self._compiled(columns)

    @cached_property
    def _compiled(self) -> Callable[[Columns], Columns]:
        operator = self._operator
        if isinstance(operator, PostProcess):
            return _post_processing(operator)
        if isinstance(operator, InstanceOperator):
            return partial(_each_row, operator.bind(STREAM), f"processor {self.name}")
        return partial(_whole_stream, operator)


def processor_steps(sources: Sequence[ProcessorSource]) -> tuple[Processor, ...]:
    """Return the steps that processors stand for: names, queries, JSON or artifacts, in order.

    Raises:
        ArtifactError: One cannot be had.
        ScoringError: One is not a processor.
    """
    return tuple(Processor(operator) for source in sources for operator in _flatten(fetch_processor(source)))


class Processors(Sequence[Step]):
    """The processors that a recipe or a config names, looked up when somebody first asks for them.

    Args:
        sources: Names, queries, JSON or artifacts, in order.
    """

    def __init__(self, sources: Sequence[ProcessorSource]) -> None:
        self._sources = list(sources)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps; in place of one that cannot be had, what says why."""
        found: list[Step] = []
        for source in self._sources:
            try:
                found += processor_steps([source])
            except ProctorError as error:
                found.append(Unavailable(str(source), error))
        return tuple(found)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)


class ProcessorsOfEach:
    """The processors of each question, where its template brings them; equal lists give the same steps.

    Args:
        sources: All that the templates name, to be checked before anybody is asked.
    """

    def __init__(self, sources: Sequence[ProcessorSource] = ()) -> None:
        self._all = list(sources)
        self._known: dict[tuple[str, ...], tuple[Processor, ...]] = {}
        self._last: tuple[Sequence[ProcessorSource] | None, tuple[Processor, ...]] = (None, ())

    def __call__(self, question: Question) -> tuple[Processor, ...]:
        """Return the steps of a question."""
        if question.processors is not self._last[0]:
            key = tuple(map(_identity, question.processors or ()))
            if key not in self._known:
                self._known[key] = processor_steps(question.processors or ())
            self._last = (question.processors, self._known[key])
        return self._last[1]

    def check(self) -> Iterator[Diagnostic]:
        """Yield why a processor cannot be had."""
        for step in Processors(self._all):
            if isinstance(step, Unavailable):
                yield from step.check()


def process(columns: Columns, postprocessors: Sequence[ProcessorSource]) -> Columns:
    """Return columns after processors; a value that one cannot process becomes a failure with the reason."""
    for step in processor_steps(postprocessors):
        columns = step.process(columns)
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


def _each_row(step: Callable[[dict[str, Any]], Any], name: str, columns: Columns) -> Columns:
    return _with_rows(columns, [_safely(step, row, name) for row in _rows(columns)])


def _whole_stream(operator: MultiStreamOperator, columns: Columns) -> Columns:
    rows = _rows(columns)
    outcome = list(operator(MultiStream({STREAM: ListStream(rows)}))[STREAM])
    if len(outcome) != len(rows):
        raise ScoringError(f"the processor {operator!r} changed the number of instances")
    return _with_rows(columns, outcome)


def _rows(columns: Columns) -> list[dict[str, Any]]:
    return [
        {"prediction": prediction, "references": references, "task_data": fields}
        for prediction, references, fields in zip(
            columns.predictions, columns.references, columns.all_fields(), strict=True
        )
    ]


def _with_rows(columns: Columns, rows: Sequence[Any]) -> Columns:
    return replace(
        columns,
        predictions=[each if isinstance(each, Failure) else each["prediction"] for each in rows],
        references=[
            columns.references[position] if isinstance(each, Failure) else each["references"]
            for position, each in enumerate(rows)
        ],
    )


def _safely(step: Callable[[dict[str, Any]], Any], row: dict[str, Any], name: str) -> Any:
    if isinstance(row["prediction"], Failure):
        return row["prediction"]
    try:
        return step(row)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
        return failure_of(error, name)


def _post_processing(operator: PostProcess) -> Callable[[Columns], Columns]:
    convert = operator.converter()
    name = f"processor {operator.artifact_id or type(operator.operator).__name__}"
    sees_the_row = _sees_the_row(operator.operator)

    def process(columns: Columns) -> Columns:
        predictions: Sequence[Any] = columns.predictions
        references: Sequence[Any] = columns.references
        rows: Sequence[dict[str, Any]] = [{}] * len(columns)
        if sees_the_row:
            rows = [{"task_data": fields} for fields in columns.all_fields()]
        if operator.process_prediction:
            predictions = [_convert(convert, value, row, name) for value, row in zip(predictions, rows, strict=True)]
        if operator.process_references:
            references = [
                values if isinstance(values, Failure) else _convert_all(convert, values, row, name)
                for values, row in zip(references, rows, strict=True)
            ]
        return replace(columns, predictions=predictions, references=references)

    return process


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


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Stands for a metric or processor that cannot be had.

    Attributes:
        name: What somebody wrote.
        error: Why it cannot be had.
    """

    name: str
    error: ProctorError

    @property
    def needs(self) -> frozenset[Need]:
        """Nothing."""
        return frozenset()

    @property
    def scope(self) -> Scope:
        """It looks at nothing."""
        return "row"

    def check(self) -> Iterator[Diagnostic]:
        """Yield why there is no such thing."""
        yield from self.error.diagnostics

    def process(self, columns: Columns) -> Columns:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        raise self.error

    def measure(self, columns: Columns, **wanted: bool) -> Measured:
        """Raise the reason.

        Raises:
            ProctorError: Always.
        """
        raise self.error
