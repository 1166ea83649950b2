"""Processors as steps between readings and what is scored: operators of the catalog on whole columns."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
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
from proctor.scoring.columns import Columns
from proctor.scoring.grading.protocols import Scope, Step, Unavailable
from proctor.scoring.metric import failure_of
from proctor.scoring.text.how_read import as_they_are, each_of
from proctor.scoring.text.processors import PostProcess, fetch_processor

ProcessorSource = str | Mapping[str, Any] | Artifact
STREAM = "all_data"


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
    sees_the_row = type(operator.operator).process_instance_value is not FieldOperator.process_instance_value

    def process(columns: Columns) -> Columns:
        predictions: Sequence[Any] = columns.predictions
        references: Sequence[Any] = columns.references
        rows: Sequence[dict[str, Any]] = [{}] * len(columns)
        if sees_the_row:
            rows = [{"task_data": fields} for fields in columns.all_fields()]
        if operator.process_prediction:
            read = zip(each_of(predictions), rows, strict=True)
            predictions = [_convert(convert, value, row, name) for value, row in read]
        if operator.process_references:
            with as_they_are():
                references = [
                    values if isinstance(values, Failure) else _convert_all(convert, values, row, name)
                    for values, row in zip(references, rows, strict=True)
                ]
        return replace(columns, predictions=predictions, references=references)

    return process


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
