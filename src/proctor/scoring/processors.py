"""Processors: operators that turn what a model wrote into a prediction.

Each is a :class:`~proctor.data.operator.FieldOperator`, so it works on any field of a row; :class:`PostProcess` puts
one to work on predictions, references or both. Names and rules are those of the Unitxt ecosystem
(``unitxt.processors``). The processors themselves are in ``text_processors``, ``label_processors``,
``number_processors`` and ``structure_processors``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.data.fields import Row
from proctor.data.operator import InstanceFieldOperator, MultiStreamOperator, StreamOperator
from proctor.data.streams import MultiStream

Converter = Callable[[Any, Row], Any]
INFERENCE_STREAM = "__INFERENCE_STREAM__"


class PostProcess(MultiStreamOperator):
    """Applies an operator on single values to predictions, and to each reference.

    Attributes:
        operator: The operator; its ``field`` plays no part.
        process_prediction: Whether predictions are processed.
        process_references: Whether references are processed.
    """

    operator: InstanceFieldOperator
    process_prediction: bool = True
    process_references: bool = True

    def converter(self) -> Converter:
        """Return the operator as a function of a value and its row."""
        return self.operator._converter()  # noqa: SLF001 - the compiled form of the operator's one rule

    def process(self, multi_stream: MultiStream) -> MultiStream:
        """Return streams with processed ``prediction`` and ``references``."""
        steps: list[StreamOperator] = []
        if self.process_prediction:
            steps.append(self.operator.model_copy(update={"field": "prediction"}))
        if self.process_references:
            update = {
                "field": "references",
                "process_every_value": True,
                "dont_apply_to_streams": [INFERENCE_STREAM],
            }
            steps.append(self.operator.model_copy(update=update))
        for step in steps:
            multi_stream = step(multi_stream)
        return multi_stream
