"""A metric in the place of a model: for exams whose question is how well a metric judges.

::

    engine = MetricInferenceEngine(metric="metrics.llm_as_judge.direct…", prediction_field="answer")
    judged = engine.infer(dataset)        # a dict of scores for each row
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from proctor.engines.engine import Engine
from proctor.engines.inference import OnFailure, Predictions, Row
from proctor.errors import EngineError, MissingFieldError
from proctor.foreign_text import parse_json
from proctor.ir import Failure
from proctor.scoring.columns import Columns, rows_of
from proctor.scoring.metric import Metric


class MetricInferenceEngine(Engine):
    """Predicts what a metric says of each instance: its instance scores, as a dict.

    Attributes:
        metric: The metric, or its name in a catalog.
        prediction_field: Field of the task that holds what the metric is to judge; ``None`` for metrics that look at
            the task and the references only.
    """

    can_generate: ClassVar[bool] = False

    metric: Metric
    prediction_field: str | None = None

    @property
    def label(self) -> str:
        """The name of the metric."""
        return self.metric.name

    def infer(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the metric's instance scores for each row; ``None`` for rows that failed, where failures are kept.

        Args:
            dataset: Rows with ``references`` and ``task_data``.
            return_meta_data: Makes no difference: a metric counts no tokens.
            on_failure: ``raise`` or ``keep``.

        Raises:
            MissingFieldError: A row's task has no ``prediction_field``.
            EngineError: A row, or the whole metric, failed.
        """
        del return_meta_data
        rows = list(dataset)
        tasks = [_task_data(row) for row in rows]
        columns = Columns(
            [self._prediction(task) for task in tasks], [list(row.get("references") or ()) for row in rows], tasks
        )
        found = self.metric.measure(columns, intervals=False)
        failures = dict.fromkeys(range(len(rows)), found.failure) if found.failure else found.failures
        if failures and on_failure == "raise":
            raise _failed(self.label, failures, len(rows))
        scores = rows_of(found.instances, len(rows)) if not found.failure else [{}] * len(rows)
        judged = [None if index in failures else dict(own) for index, own in enumerate(scores)]
        return Predictions(judged, {"inference_type": self.type_name(), "model_name": self.label})

    def _prediction(self, task: Mapping[str, Any]) -> Any:
        if self.prediction_field is None:
            return ""
        if self.prediction_field not in task:
            raise MissingFieldError(
                f"the task has no field '{self.prediction_field}'",
                why=f"its fields are {', '.join(task)}",
                hint="name the field that the metric judges as prediction_field",
            )
        return task[self.prediction_field]


def _task_data(row: Row) -> Mapping[str, Any]:
    found = row.get("task_data") or {}
    data: Mapping[str, Any] = parse_json(found) if isinstance(found, str) else found
    return data


def _failed(label: str, failures: Mapping[int, Failure], count: int) -> EngineError:
    first = min(failures)
    return EngineError(
        f"{len(failures)} of {count} instances could not be judged by {label}",
        why=f"instance {first}: {failures[first].message}",
        hint="on_failure='keep' returns None for them",
    )
