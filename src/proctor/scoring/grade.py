"""What scoring takes and gives: columns in, scores out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.ir import Failure, Response
from proctor.scoring.columns import LazyColumn


@dataclass(frozen=True, slots=True)
class Columns:
    """What metrics see, one entry per instance. Columns may be lazy sequences; most metrics touch only two.

    Attributes:
        predictions: What is scored. Before processors the raw answer, after them the task's ``prediction_type``. A
            :class:`~proctor.ir.Failure` stands where there is no prediction.
        references: Acceptable answers of each instance.
        task_data: Fields of the task, with ``metadata``.
        responses: The responses behind each prediction, where a model was asked here.
        classes: Data classification of each instance (``public``, ``proprietary`` …), where it is known.
        rows: Further fields beside these, where instances are rows that no task made.
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    task_data: Sequence[Mapping[str, Any]] = ()
    responses: Sequence[Sequence[Response]] = ()
    classes: Sequence[Sequence[str]] = ()
    rows: Sequence[Mapping[str, Any]] = ()

    def __len__(self) -> int:
        return len(self.predictions)

    def select(self, positions: Sequence[int]) -> Columns:
        """Return the instances at ``positions``; the same columns where that is all of them."""
        if len(positions) == len(self):
            return self
        wanted = set(positions)
        if list(positions) != sorted(wanted):
            return self._picked(lambda column: [column[i] for i in positions])
        return self._picked(lambda column: [entry for i, entry in enumerate(column) if i in wanted])

    def _picked(self, pick: Callable[[Sequence[Any]], Sequence[Any]]) -> Columns:
        return Columns(
            pick(self.predictions),
            pick(self.references),
            LazyColumn(lambda: pick(self.task_data), len(pick(self.references))) if self.task_data else (),
            pick(self.responses) if self.responses else (),
            pick(self.classes) if self.classes else (),
            pick(self.rows) if self.rows else (),
        )

    def all_fields(self) -> Sequence[Mapping[str, Any]]:
        """Return the task data of every instance."""
        return self.task_data or [{}] * len(self)


@dataclass(slots=True)
class Grade:
    """Scores of a set of instances. Columns have one entry per instance, in order.

    Attributes:
        scores: Global scores: ``score``, ``score_name``, ``score_ci_low``, ``score_ci_high``, every metric's own scores
            with their ``…_ci_low``/``…_ci_high``, and ``num_of_instances`` (those that were scored; with
            ``num_of_failures`` beside it where some were not).
        instance_scores: Scores by name, each a column; an entry is ``None`` where the instance failed, and
            :data:`~proctor.scoring.columns.ABSENT` where the instance does not have that score.
        predictions: What the model answered, raw.
        processed_predictions: After processors.
        processed_references: References after processors.
        failures: Position and reason of every instance that could not be scored.
        metric_failures: Metric and reason, of every metric that could not be computed.
    """

    scores: dict[str, Any]
    instance_scores: dict[str, Sequence[Any]] = field(default_factory=dict)
    predictions: Sequence[Any] = ()
    processed_predictions: Sequence[Any] = ()
    processed_references: Sequence[Sequence[Any]] = ()
    failures: dict[int, Failure] = field(default_factory=dict)
    metric_failures: dict[str, Failure] = field(default_factory=dict)
