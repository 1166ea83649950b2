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
from proctor.scoring.columns import Columns, ConstantColumn, rows_of, to_columns
from proctor.scoring.flat_scores import COUNT, MetricScores, bounds_of, merged, read_flat
from proctor.scoring.instance_metric import InstanceMetric
from proctor.scoring.metric import UNPREFIXED, Metric, Scores, failed, failure_of
from proctor.scoring.scores import Score, Unit

STREAM = "all_data"


class MetricPipeline(Metric):
    """Fits a metric to a task: steps before it work on predictions, references and task data, steps after on scores.

    Attributes:
        main_score: The score of ``metric`` that becomes the main score.
        preprocess_steps: Operators on rows with ``prediction``, ``references`` and ``task_data``.
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

    @property
    def unit(self) -> Unit | None:  # type: ignore[override]
        """The unit of the metric."""
        return self.metric.unit

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]
        """Whether more is better."""
        return self.metric.higher_is_better

    @property
    def declared_main(self) -> Score | None:
        """The metric's main score without its value; ``None`` where the pipeline's is another, or is changed."""
        is_same = self.main_score == self.metric.main_score and not self.postprocess_steps
        return self.metric.declared_main if is_same else None

    def verify(self) -> None:
        """Check that the main score is named."""
        super().verify()
        if not self.main_score:
            raise ValidationError(f"{self.name} needs a main_score")

    def _refusals(self, columns: Columns) -> list[tuple[int, Failure]]:
        return failed(columns)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        prepared = self._prepared(columns)
        found = self.metric.measure(prepared, intervals=intervals, instances=instances or bool(self.postprocess_steps))
        if found.failure is not None or not found.overall.get(COUNT, 1):  # there are no scores to work on
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
            found.scores = read_flat(found.overall, found.scores)
        blank = dict.fromkeys(kept[0]["instance"]) if kept else {}
        found.instances = to_columns(
            (blank if isinstance(row, Failure) else row["score"]["instance"] for row in done), len(done)
        )

    def _main(self) -> str:
        return self.main_score if self.main_score in UNPREFIXED else self.metric.score_prefix + self.main_score

    def _without_scores(self, found: MetricScores) -> MetricScores:
        sheet = self.sheet(0)
        sheet.count()
        sheet.put(main := self._main(), math.nan)
        sheet.name_main(main)
        return sheet.measured(found.failures, found.failure)

    def _put_main(self, found: MetricScores) -> None:
        main = self._main_of(found)
        if main is None:
            why = f"it has {', '.join(found.overall)}"
            raise ScoringError(f"{self.name} has no score '{self._main()}'", why=why)
        found.main = main.name
        found.overall.update(score=main.value, score_name=main.name, **bounds_of(main, "score"))
        if main.name in found.instances:
            found.instances["score"] = found.instances[main.name]
            found.instances["score_name"] = ConstantColumn(main.name, len(found.instances[main.name]))

    def _main_of(self, found: MetricScores) -> Score | None:
        main = self._main()
        if main == "score" and (inner := found.score(found.main)) is not None:  # whatever the inner metric calls so
            found.scores.append(replace(inner, name=main))
        return found.score(main)


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

    @property
    def unit(self) -> Unit | None:  # type: ignore[override]
        """The unit that all metrics have; a mean of shares is a share, another sum of them need not be."""
        units = {metric.unit for metric in self.metrics}
        return units.pop() if len(units) == 1 and self.weights is None else None

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
        members: list[MetricScores] = []
        parts: dict[str, Sequence[Any]] = {}
        failures: dict[int, Failure] = {}
        for metric in self.metrics:
            found = metric.measure(columns, intervals=intervals)
            members.append(found)
            parts.update(found.instances)
            failures.update(found.failures)
            announced, main = metric.score_prefix + metric.main_score, found.main
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
        own.scores = [*(score for found in members for score in found.scores), *own.scores]
        own.overall = merged([*(found.overall for found in members), own.overall])
        own.instances = {**{name: part for name, part in parts.items() if name not in UNPREFIXED}, **own.instances}
        own.failures = {**own.failures, **failures}
        return own

    def _ensembled(self, scores: Scores, position: int, failures: dict[int, Failure]) -> Any:
        try:
            return self.ensemble({"score": {"instance": scores}})
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
            failures[position] = failure_of(error)
            return failures[position]

    def compute(self, references: list[Any], prediction: object, task_data: dict[str, Any]) -> dict[str, Any]:
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
