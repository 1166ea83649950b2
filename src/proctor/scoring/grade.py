"""What scoring takes and gives: columns in, scores out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.ir import Failure, Response


@dataclass(frozen=True, slots=True)
class Columns:
    """What metrics see, one entry per instance. Columns may be lazy sequences; most metrics touch only two.

    Attributes:
        predictions: What is scored. Before processors the raw answer, after them the task's ``prediction_type``. A
            :class:`~proctor.ir.Failure` stands where there is no prediction.
        references: Acceptable answers of each instance.
        task_data: Fields of the task, with ``metadata``.
        responses: The responses behind each prediction, where a model was asked here.
    """

    predictions: Sequence[Any]
    references: Sequence[Sequence[Any]]
    task_data: Sequence[Mapping[str, Any]] = ()
    responses: Sequence[Sequence[Response]] = ()

    def __len__(self) -> int:
        return len(self.predictions)


@dataclass(slots=True)
class Grade:
    """Scores of a set of instances. Columns have one entry per instance, in order.

    Attributes:
        scores: Global scores: ``score``, ``score_name``, ``score_ci_low``, ``score_ci_high``, every metric's own scores
            with their ``…_ci_low``/``…_ci_high``, and ``num_of_instances``.
        instance_scores: Scores by name, each a column; an entry is ``None`` where the instance failed.
        predictions: What the model answered, raw.
        processed_predictions: After processors.
        processed_references: References after processors.
        failures: Position and reason of every instance that could not be scored.
    """

    scores: dict[str, Any]
    instance_scores: dict[str, Sequence[Any]] = field(default_factory=dict)
    predictions: Sequence[Any] = ()
    processed_predictions: Sequence[Any] = ()
    processed_references: Sequence[Sequence[Any]] = ()
    failures: dict[int, Failure] = field(default_factory=dict)
