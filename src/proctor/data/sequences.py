"""Operators that run other operators in order; import these names from :mod:`proctor.data.operator`."""

from __future__ import annotations

from pydantic import Field
from typing_extensions import override

from proctor.artifacts import Artifact
from proctor.data.operator_bases import MultiStreamOperator, SourceOperator, StreamingOperator
from proctor.data.streams import MultiStream
from proctor.errors import ValidationError


class SequentialMixin(Artifact):
    """Steps, one after the other.

    Attributes:
        steps: The operators.
        max_steps: Stop after so many.
    """

    max_steps: int | None = None
    steps: list[StreamingOperator] = Field(default_factory=list)

    def num_steps(self) -> int:
        """Return the number of steps."""
        return len(self.steps)

    def active_steps(self) -> list[StreamingOperator]:
        """Return the steps that run."""
        return self.steps[: self.max_steps]


class SequentialOperator(SequentialMixin, MultiStreamOperator):
    """Operators, one after the other; instance operators that follow each other run in one loop."""

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        for operator in self.active_steps():
            multi_stream = operator(multi_stream)
        return multi_stream


class SourceSequentialOperator(SequentialMixin, SourceOperator):
    """Operators, one after the other; the first one makes the streams."""

    @override
    def process(self) -> MultiStream:
        steps = self.active_steps()
        if not steps:
            raise ValidationError(f"{self.label()} has no steps")
        streams: MultiStream = steps[0]()
        for operator in steps[1:]:
            streams = operator(streams)
        return streams
