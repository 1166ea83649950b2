"""Metrics made of metrics: with steps around them, or several weighted together."""
# ruff: noqa: ARG002 - what subclasses override names all it is given

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from proctor.data.operator import StreamingOperator
from proctor.data.streams import ListStream, MultiStream
from proctor.errors import ScoringError, ValidationError
from proctor.ir import Failure
from proctor.scoring.columns import rows_of, to_columns
from proctor.scoring.grade import Columns
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.metric import UNPREFIXED, Metric, MetricScores, Scores, failed, failure_of

STREAM = "all_data"


class MetricPipeline(Metric):
    """Fits a metric to a task: steps before it work on predictions, references and task data, steps after on scores.

    Attributes:
        main_score: The score of ``metric`` that becomes the main score.
        preprocess_steps: Operators on rows with ``prediction``, ``references`` and ``task_data``.
        metric: The metric.
        postprocess_steps: Operators on rows that also have ``score/instance`` and ``score/global``.
        postpreprocess_steps: An old name of ``postprocess_steps``.
    """

    main_score: str = ""
    preprocess_steps: list[StreamingOperator] = Field(default_factory=list)
    postprocess_steps: list[StreamingOperator] = Field(default_factory=list)
    postpreprocess_steps: list[StreamingOperator] | None = None
    metric: Metric

    def prepare(self) -> None:
        """Hand the prefix down."""
        super().prepare()
        if self.score_prefix:
            self.metric = self.metric.model_copy(update={"score_prefix": self.score_prefix})
        if self.postpreprocess_steps and self.postprocess_steps:
            raise ValidationError("postpreprocess_steps is an old name of postprocess_steps; give one of them")
        if self.postpreprocess_steps:
            self.postprocess_steps = self.postpreprocess_steps

    def verify(self) -> None:
        """Check that the main score is named."""
        super().verify()
        if not self.main_score:
            raise ValidationError(f"{self.name} needs a main_score")

    def _refusals(self, columns: Columns) -> list[tuple[int, Failure]]:
        return failed(columns)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        prepared = self._prepared(columns)
        found = self.metric.evaluate(prepared, intervals=intervals, instances=instances or bool(self.postprocess_steps))
        if found.failure is not None or not found.overall.get("num_of_instances", 1):  # there are no scores to work on
            return self._without_scores(found)
        if self.postprocess_steps:
            self._postprocess(prepared, found)
        self._put_main(found)
        return found

    def _prepared(self, columns: Columns) -> Columns:
        if not self.preprocess_steps:
            return columns
        rows = _through(self.preprocess_steps, _rows(columns), self.name)
        return replace(
            columns,
            predictions=[row if isinstance(row, Failure) else row["prediction"] for row in rows],
            references=[[] if isinstance(row, Failure) else row["references"] for row in rows],
            task_data=[{} if isinstance(row, Failure) else row.get("task_data", {}) for row in rows],
        )

    def _postprocess(self, columns: Columns, found: MetricScores) -> None:
        own = rows_of(found.instances, len(columns))
        rows = [
            {**row, "score": {"instance": scores, "global": dict(found.overall)}}
            for row, scores in zip(_rows(columns), own, strict=True)
        ]
        done = _through(self.postprocess_steps, rows, self.name)
        for position, row in enumerate(done):
            if isinstance(row, Failure):
                found.failures.setdefault(position, row)
        kept = [row["score"] for row in done if not isinstance(row, Failure)]
        if kept:
            found.overall = kept[0]["global"]
        blank = dict.fromkeys(kept[0]["instance"]) if kept else {}
        found.instances = to_columns(
            (blank if isinstance(row, Failure) else row["score"]["instance"] for row in done), len(done)
        )

    def _main(self) -> str:
        return self.main_score if self.main_score in UNPREFIXED else self.metric.score_prefix + self.main_score

    def _without_scores(self, found: MetricScores) -> MetricScores:
        main = self._main()
        overall = {"num_of_instances": 0, main: math.nan, "score": math.nan, "score_name": main}
        return MetricScores(overall, failures=found.failures, failure=found.failure)

    def _put_main(self, found: MetricScores) -> None:
        main = self._main()
        if main not in found.overall:
            raise ScoringError(f"{self.name} has no score '{main}'", why=f"it has {', '.join(found.overall)}")
        found.overall.update(score=found.overall[main], score_name=main)
        for bound in ("ci_low", "ci_high"):
            if f"{main}_{bound}" in found.overall:
                found.overall[f"score_{bound}"] = found.overall[f"{main}_{bound}"]
        if main in found.instances:
            found.instances["score"] = found.instances[main]
            found.instances["score_name"] = [main] * len(found.instances[main])


def _rows(columns: Columns) -> list[dict[str, Any]]:
    rows = columns.rows or [{}] * len(columns)
    columns_of_rows = zip(rows, columns.predictions, columns.references, columns.all_fields(), strict=True)
    return [
        {**row, "prediction": prediction, "references": references, "task_data": dict(fields)}
        for row, prediction, references, fields in columns_of_rows
    ]


def _through(steps: Iterable[StreamingOperator], rows: list[dict[str, Any]], name: str) -> list[Any]:
    """Return rows after steps; where one fails, each row is tried alone, and a failure stands for one that cannot."""
    steps = list(steps)
    try:
        return _run(steps, rows, name)
    except Exception as error:  # noqa: BLE001 - the reason becomes a value; one by one shows whose it is
        whole = failure_of(error, f"step of {name}")
    if len(rows) == 1:
        return [whole]
    done: list[Any] = []
    for row in rows:
        try:
            done += _run(steps, [row], name)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
            done.append(failure_of(error, f"step of {name}"))
    return done


def _run(steps: Iterable[StreamingOperator], rows: list[dict[str, Any]], name: str) -> list[Any]:
    streams = MultiStream({STREAM: ListStream(rows)})
    for step in steps:
        streams = step(streams)
    done = list(streams[STREAM])
    if len(done) != len(rows):
        raise ScoringError(f"a step of {name} changed the number of instances")
    return done


class MetricsEnsemble(InstanceMetric):
    """Several metrics, weighted together.

    The scores of each are reported too, under ``ensemble_0_``, ``ensemble_1_`` …

    Attributes:
        metrics: The metrics.
        weights: The weight of each; equal ones where it is ``None``.
    """

    main_score: str = "ensemble_score"
    reduction_map: dict[str, Any] = {"mean": ["ensemble_score"]}
    metrics: list[Metric]
    weights: list[float] | None = None

    def prepare(self) -> None:
        """Give each metric its prefix."""
        super().prepare()
        self.metrics = [
            _prefixed(metric, self.get_prefix_name(position)) for position, metric in enumerate(self.metrics)
        ]

    def verify(self) -> None:
        """Check that there are as many weights as metrics."""
        super().verify()
        if self.weights is not None and len(self.weights) != len(self.metrics):
            raise ValidationError(f"{len(self.weights)} weights are given for {len(self.metrics)} metrics")

    @staticmethod
    def get_prefix_name(i: int) -> str:
        """Return the prefix of a metric's scores."""
        return f"ensemble_{i}_"

    def ensemble(self, instance: Mapping[str, Any]) -> float:
        """Return the score of an instance from ``instance["score"]["instance"]``, the scores of the metrics."""
        scores = instance["score"]["instance"]
        weights = self.weights or [1 / len(self.metrics)] * len(self.metrics)
        return sum(
            float(scores[self.get_prefix_name(position) + metric.main_score]) * weight
            for position, (metric, weight) in enumerate(zip(self.metrics, weights, strict=True))
        )

    def _refusals(self, columns: Columns) -> list[tuple[int, Failure]]:
        return failed(columns)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        overall: Scores = {}
        parts: dict[str, Sequence[Any]] = {}
        failures: dict[int, Failure] = {}
        for metric in self.metrics:
            found = metric.evaluate(columns, intervals=intervals)
            overall.update(found.overall)
            parts.update(found.instances)
            failures.update(found.failures)
            announced, main = metric.score_prefix + metric.main_score, found.overall.get("score_name")
            if announced not in found.instances and main in found.instances:
                parts[announced] = found.instances[main]  # a judge names its score after its criteria
        ensembled = []
        for position, scores in enumerate(rows_of(parts, len(columns))):
            lost = position in failures
            value = Failure("member", "a metric failed") if lost else self._ensembled(scores, position, failures)
            ensembled.append(value)
        own = super()._measure(
            Columns(ensembled, columns.references, columns.task_data), intervals=intervals, instances=instances
        )
        for name in ("score_ci_low", "score_ci_high"):
            overall.pop(name, None)
        own.overall = {**overall, **own.overall}
        own.instances = {**{name: part for name, part in parts.items() if name not in UNPREFIXED}, **own.instances}
        own.failures = {**own.failures, **failures}
        return own

    def _ensembled(self, scores: Scores, position: int, failures: dict[int, Failure]) -> Any:
        try:
            return self.ensemble({"score": {"instance": scores}})
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
            failures[position] = failure_of(error)
            return failures[position]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the ensemble's score, which stands in the place of the prediction."""
        if isinstance(prediction, Failure):
            raise ScoringError(prediction.message)
        return {self.main_score: prediction}


def _prefixed(metric: Metric, prefix: str) -> Metric:
    copy = metric.model_copy(update={"score_prefix": prefix})
    inner = getattr(copy, "metric", None)
    if isinstance(copy, MetricPipeline) and isinstance(inner, Metric):
        copy = copy.model_copy(update={"metric": inner.model_copy(update={"score_prefix": prefix})})
    return copy
