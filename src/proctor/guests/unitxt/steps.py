"""Steps of Unitxt's evaluation, for programs that put them together themselves.

The steps of recipes are :mod:`proctor.recipes.steps`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typing_extensions import override

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.operator import StreamOperator
from proctor.data.streams import ListStream, MultiStream, Stream
from proctor.errors import DataError, ScoringError
from proctor.guests.unitxt.score_streams import DEFAULT_STREAM_NAME, EmptyPrediction
from proctor.scoring.columns import Columns, rows_of
from proctor.scoring.metric import Metric
from proctor.scoring.pipeline import apply_metrics

Row = dict[str, Any]


class ApplyMetric(StreamOperator):
    """Scores a stream with the metrics that its first row names.

    Attributes:
        metric_field: The field of the metrics.
        calc_confidence_intervals: Whether scores have intervals.
    """

    metric_field: str
    calc_confidence_intervals: bool

    @override
    def process(self, stream: Stream, stream_name: str | None = None) -> Iterator[Row]:
        rows = [dict(row) for row in stream]
        if not rows:
            return
        names = rows[0].get(self.metric_field) or ()
        metrics = [self._metric(name) for name in ([names] if isinstance(names, str) else names)]
        if not metrics:
            raise ScoringError(f"Missing metric names in field '{self.metric_field}' and instance of number 0")
        given, references = [row.get("prediction") for row in rows], [row.get("references") or [] for row in rows]
        columns = Columns(given, references, [row.get("task_data") or {} for row in rows])
        grade = apply_metrics(columns, metrics, intervals=self.calc_confidence_intervals)
        for row, instance in zip(rows, rows_of(grade.instance_scores, len(columns)), strict=True):
            yield {**row, "score": {"global": dict(grade.scores), "instance": dict(instance)}}

    def _metric(self, name: Any) -> Any:
        found = name if isinstance(name, Artifact) else fetch_artifact(name)
        if not isinstance(found, Metric) and not hasattr(found, "items"):
            raise ScoringError(f"'{name}' is not a metric", why=f"it is {type(found).__name__}")
        return found


class FromPredictionsAndOriginalData(Artifact):
    """Makes a stream of predictions and the rows that they are for."""

    def __call__(
        self,
        predictions: Sequence[Any] | None = None,
        references: Sequence[Row] = (),
        split_name: str = DEFAULT_STREAM_NAME,
    ) -> MultiStream:
        """Return one stream of rows, each with its ``prediction``.

        Args:
            predictions: One for each row; empty ones where there are none.
            references: The rows.
            split_name: The name of the stream.

        Raises:
            DataError: What is given are not rows, or there are other numbers of predictions than rows.
        """
        if not all(isinstance(row, dict) for row in references):
            raise DataError("the data to evaluate are not rows", hint="give one split of a dataset")
        said = [EmptyPrediction()] * len(references) if predictions is None else predictions
        if len(said) != len(references):
            raise DataError(f"there are {len(said)} predictions for {len(references)} rows")
        rows = [{**row, "prediction": each} for each, row in zip(said, references, strict=True)]
        return MultiStream({split_name: ListStream(rows)})
