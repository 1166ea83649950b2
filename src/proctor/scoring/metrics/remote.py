"""A metric that a service computes: predictions and references go out by HTTP, scores come back."""
# ruff: noqa: ARG002 - a metric is asked for what a service gives or does not give

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from proctor.data import web
from proctor.effects import Effect, asking
from proctor.errors import ScoringError, ValidationError
from proctor.foreign_text import parse_json
from proctor.ir import Failure
from proctor.scoring.columns import Columns, to_columns
from proctor.scoring.composed import MetricPipeline
from proctor.scoring.flat_scores import MAIN_BOUNDS, MetricScores, main_of, read_flat
from proctor.scoring.metric import Metric
from proctor.secrets import keep

_INPUTS = "additional_inputs"


class RemoteMetric(Metric):
    """Asks a service of Unitxt's kind for the scores: ``POST endpoint/metric_name``.

    The scores are the service's, with its intervals or without any, and are not looked into.

    Attributes:
        endpoint: The address of the service.
        metric_name: The metric's name there.
        api_key: Sent as a bearer token.
    """

    reads_task_data: ClassVar[bool] = False

    main_score: str = ""
    endpoint: str
    metric_name: str
    api_key: str | None = None
    data_classification_policy: list[str] | None = ["public", "proprietary"]

    def prepare(self) -> None:
        """Name the score after the metric, where nobody says how it is called."""
        super().prepare()
        keep(self.api_key)
        self.main_score = self.main_score or self.metric_name.rpartition(".")[2]

    def verify(self) -> None:
        """Check the address."""
        super().verify()
        if not self.endpoint.startswith(("http://", "https://")):
            raise ValidationError(f"'{self.endpoint}' is not an address of a web service", path="$.endpoint")

    @staticmethod
    def wrap_inner_metric_pipeline_metric(
        metric_pipeline: MetricPipeline, remote_metrics_endpoint: str
    ) -> MetricPipeline:
        """Return a copy of a pipeline whose metric is computed by a service; the steps around it run here.

        Raises:
            ValidationError: The metric has no name in a catalog, by which the service could know it.
        """
        inner = metric_pipeline.metric
        if inner.artifact_id is None:
            raise ValidationError(
                f"the metric of {metric_pipeline.name} has no name that a service could know",
                hint="save it in a catalog, and name it in the pipeline",
            )
        found = copy.deepcopy(metric_pipeline)
        found.metric = RemoteMetric(
            main_score=inner.main_score, metric_name=inner.artifact_id, endpoint=remote_metrics_endpoint
        )
        return found

    def get_metric_url(self) -> str:
        """Return the address of the metric."""
        return f"{self.endpoint}/{self.metric_name}"

    def effects(self) -> Iterable[Effect]:
        """Asking the service."""
        return asking(self.get_metric_url(), type(self).__name__)

    def _measure(self, columns: Columns, *, intervals: bool, instances: bool) -> MetricScores:
        if not len(columns):
            return self.nothing(Failure("metric", "there is nothing to send", retryable=False))
        rows, told = self._scores(self._reply(columns), len(columns))
        bounds = {name: told[name] for name in MAIN_BOUNDS if name in told}
        overall = {**self.prefixed({name: value for name, value in told.items() if name not in bounds}), **bounds}
        scores = [replace(each, n=len(columns), metric=self.name) for each in read_flat(overall)]
        return MetricScores(
            scores,
            main_of(overall).name,
            instances=dict(to_columns(map(self.prefixed, rows), len(rows))),
            overall=overall,
        )

    def _reply(self, columns: Columns) -> Any:
        more: Sequence[Mapping[str, Any]] = columns.rows or [{}] * len(columns)
        told = [
            {"prediction": prediction, "references": list(references), _INPUTS: row.get(_INPUTS) or {}}
            for prediction, references, row in zip(columns.predictions, columns.references, more, strict=True)
        ]
        body = json.dumps({"instance_inputs": told}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        self.act()
        with web.opened(self.get_metric_url(), self.author, self.name, headers=headers, body=body) as response:
            return parse_json(web.read(response))

    def _scores(self, reply: Any, count: int) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, Any]]:
        """Return the scores of instances and of all of them.

        Raises:
            ScoringError: The service answers something else.
        """
        told: Mapping[str, Any] = reply if isinstance(reply, dict) else {}
        rows, overall = told.get("instances_scores"), told.get("global_score")
        is_list = isinstance(rows, list) and len(rows) == count and all(isinstance(each, dict) for each in rows)
        if is_list and isinstance(overall, dict) and "score" in overall:
            return rows or [], overall
        raise ScoringError(
            f"{self.get_metric_url()} answers no scores",
            why=f"it answers {str(reply)[:200]!r}",
            hint=f"an answer has global_score with 'score', and instances_scores of {count} instances",
        )
