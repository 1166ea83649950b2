"""Checks the parts of foreign files that are relied on: numbers, lists, objects; the rest of them is free."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import msgspec

from proctor.errors import DataError, Location

Free = dict[str, Any]
"""An object of which only the names are known to be texts."""


def check(value: object, shape: type, kind: str, path: Path, line: int = 0) -> None:
    """Check that a value has a shape.

    Args:
        value: What a file says.
        shape: A class of this module.
        kind: What the file is, for the message.
        path: The file.
        line: The line that says it, where the file has one value a line.

    Raises:
        DataError: It does not; with the path of the first part that differs.
    """
    try:
        msgspec.convert(value, shape)
    except (msgspec.ValidationError, OverflowError) as error:
        what, _, place = str(error).partition(" - at ")
        where = place.strip("`") or "$"
        raise DataError(f"this is not {kind}: {where}", location=Location(str(path), line), why=what) from None


def check_lines(lines: Sequence[object], shape: type, kind: str, path: Path) -> None:
    """Check each value of a file of lines; as :func:`check`."""
    for number, line in enumerate(lines, start=1):
        check(line, shape, kind, path, number)


class Message(TypedDict, total=False):
    """A turn of a chat."""

    role: str | None
    content: Any


# -- inspect ----------------------------------------------------------------------------------------------------------


class InspectMetric(TypedDict, total=False):
    """A number of a log."""

    value: Any


class InspectScore(TypedDict, total=False):
    """The numbers of a scorer."""

    name: Any
    metrics: dict[str, InspectMetric] | None


class InspectResults(TypedDict, total=False):
    """The numbers of a log."""

    scores: list[InspectScore] | None


class InspectTask(TypedDict, total=False):
    """The task of a log."""

    task: Any
    model_generate_config: Free | None


class InspectLog(TypedDict):
    """A log without its samples."""

    eval: InspectTask
    results: NotRequired[InspectResults | None]


class InspectMark(TypedDict, total=False):
    """A scorer's mark of a sample."""

    value: Any
    answer: Any


class InspectChoice(TypedDict, total=False):
    """One of a model's answers."""

    message: Message | None


class InspectOutput(TypedDict, total=False):
    """A model's answers."""

    choices: list[InspectChoice] | None


class InspectSample(TypedDict, total=False):
    """A sample of a log."""

    id: int | str | None
    epoch: int
    messages: list[Message] | None
    scores: dict[str, InspectMark] | None
    metadata: Free | None
    choices: list[str] | None
    output: InspectOutput | None
    error: Free | None


# -- lm-eval, Unitxt -----------------------------------------------------------------------------------


class LmEvalLine(TypedDict):
    """A line of ``samples_*.jsonl``."""

    doc_id: Any
    resps: Any
    arguments: NotRequired[list[Any] | Free | None]


class PredictionLine(TypedDict):
    """A prediction of OpenCompass or AISBench."""

    prediction: Any
    id: NotRequired[int | str | None]


class UnitxtSavedLine(TypedDict):
    """An instance that Unitxt's command saved: scores and fields of the task side by side."""

    source: Any
    prediction: Any
    references: NotRequired[list[Any] | None]


class UnitxtLine(TypedDict):
    """An instance of Unitxt's results."""

    source: Any
    prediction: Any
    references: NotRequired[list[Any] | None]
    score: NotRequired[Free | None]


# -- Every Eval Ever --------------------------------------------------------------------------------------------------


class RecordInterval(TypedDict, total=False):
    """A confidence interval."""

    lower: float
    upper: float


class RecordError(TypedDict, total=False):
    """A standard error."""

    value: float | None


class RecordUncertainty(TypedDict, total=False):
    """The uncertainty of a score."""

    num_samples: int | None
    confidence_interval: RecordInterval | None
    standard_error: RecordError | None


class RecordScore(TypedDict):
    """A score."""

    score: float
    uncertainty: NotRequired[RecordUncertainty | None]


class RecordMetric(TypedDict, total=False):
    """The metric of a score."""

    metric_id: Any
    metric_name: Any
    metric_unit: Any
    additional_details: Free | None


class RecordResult(TypedDict):
    """A result of a record."""

    metric_config: RecordMetric
    score_details: RecordScore
    evaluation_name: NotRequired[Any]
    evaluation_result_id: NotRequired[str | None]


class Record(TypedDict):
    """A record."""

    evaluation_results: list[RecordResult]
    model_info: NotRequired[Free | None]
    eval_library: NotRequired[Free | None]


class RecordMark(TypedDict):
    """The mark of an instance."""

    score: float


class RecordInput(TypedDict, total=False):
    """The input of an instance."""

    reference: list[Any] | None
    choices: list[str] | None


class RecordOutput(TypedDict, total=False):
    """The output for an instance."""

    raw: list[str] | None


class RecordLine(TypedDict):
    """An instance of a record."""

    evaluation: RecordMark
    evaluation_result_id: NotRequired[str | None]
    input: NotRequired[RecordInput | None]
    output: NotRequired[RecordOutput | None]
    answer_attribution: NotRequired[list[Free] | None]
    metadata: NotRequired[Free | None]
    messages: NotRequired[list[Message] | None]
    token_usage: NotRequired[Free | None]
