"""``unitxt.metric_utils``: an evaluation as the recipe that Unitxt makes of it.

Here :func:`proctor.evaluate` does all of it at once; these give its rows as a stream.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from proctor.artifacts import Artifact, fetch_artifact
from proctor.data.instance_operators import FlattenInstances
from proctor.data.operator import InstanceOperator
from proctor.data.streams import ListStream, MultiStream
from proctor.errors import ValidationError
from proctor.guests.unitxt.score_streams import DEFAULT_STREAM_NAME
from proctor.results.evaluate import SUBSET_DEPTH, EvaluationResults, post_process
from proctor.running.evaluate import evaluate
from proctor.templates import Template

Row = dict[str, Any]


class DeleteTargetPrefix(InstanceOperator):
    """Takes what a template's ``target_prefix`` says off the front of predictions."""

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        data, said = instance["task_data"], instance.get("prediction")
        template = fetch_artifact(data["metadata"]["template"]) if "metadata" in data else None
        prefix = template.target_prefix if isinstance(template, Template) else ""
        if not prefix or not isinstance(said, str):
            return instance
        return {**instance, "prediction": re.sub(rf"^\s*{re.escape(prefix.format(**data))}\s*", "", said)}


class PostProcessRecipe(Artifact):
    """Applies the processors of rows to predictions for them."""

    def __call__(
        self,
        predictions: Sequence[Any] | None = None,
        references: Sequence[Row] = (),
        split_name: str = DEFAULT_STREAM_NAME,
    ) -> MultiStream:
        """Return a stream of the rows, each with ``prediction``, ``raw_prediction`` and ``processed_prediction``."""
        said = [None] * len(references) if predictions is None else list(predictions)
        processed = post_process(said, references)
        rows = [
            {**row, "raw_prediction": raw, "prediction": done, "processed_prediction": done}
            for row, raw, done in zip(references, said, processed, strict=True)
        ]
        return MultiStream({split_name: ListStream(rows)})


class MetricRecipe(Artifact):
    """Evaluates predictions.

    Attributes:
        calc_confidence_intervals: Whether scores have intervals.
        subset_depth: How much of a subset's path counts: 2.
    """

    calc_confidence_intervals: bool = True
    subset_depth: int = SUBSET_DEPTH

    def verify(self) -> None:
        """Check the depth.

        Raises:
            ValidationError: It is not that of all evaluations.
        """
        super().verify()
        if self.subset_depth != SUBSET_DEPTH:
            raise ValidationError(
                f"subset_depth={self.subset_depth} is not honoured",
                path="$.subset_depth",
                why=f"benchmarks are scored {SUBSET_DEPTH} levels deep",
            )

    def __call__(
        self,
        predictions: Sequence[Any] | None = None,
        references: Sequence[Row] = (),
        split_name: str = DEFAULT_STREAM_NAME,
    ) -> MultiStream:
        """Return a stream of the rows, each with its prediction and ``score``."""
        found = evaluate(predictions, references, calc_confidence_intervals=self.calc_confidence_intervals)
        return MultiStream({split_name: ListStream(list(found))})


def computed(
    predictions: Sequence[Any],
    references: Sequence[Row],
    flatten: bool = False,
    split_name: str = DEFAULT_STREAM_NAME,
    calc_confidence_intervals: bool = True,
) -> EvaluationResults:
    """Evaluate predictions: ``_compute`` there.

    Args:
        predictions: One for each row.
        references: The rows.
        flatten: Give each row's nested fields names of their own (``score/global/score``).
        split_name: What the rows are called in errors.
        calc_confidence_intervals: Whether scores have intervals.
    """
    found = evaluate(predictions, references, calc_confidence_intervals=calc_confidence_intervals)
    if not flatten:
        return found
    rows = FlattenInstances()(MultiStream({split_name: ListStream(list(found))}))[split_name]
    return EvaluationResults(list(rows))


def processed(
    predictions: Sequence[Any], references: Sequence[Row], split_name: str = DEFAULT_STREAM_NAME
) -> list[Any]:
    """Return predictions as the processors of rows leave them: ``_inference_post_process`` there."""
    rows = PostProcessRecipe()(predictions, references, split_name)[split_name]
    return [row["processed_prediction"] for row in rows]
