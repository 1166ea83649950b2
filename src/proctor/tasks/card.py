"""TaskCard: where the data of a task comes from."""

from __future__ import annotations

from typing import Any

from proctor.artifacts.artifact import Artifact
from proctor.data.loaders import Loader
from proctor.data.operator import StreamingOperator
from proctor.data.streams import MultiStream
from proctor.tasks.task import Task


class TaskCard(Artifact):
    """A task with its data.

    Attributes:
        loader: Where rows come from.
        preprocess_steps: Operators that give rows the fields of the task.
        task: The schema that rows then have.
        templates: The templates that fit: a list, a dict by name, one artifact that holds several, or its catalog name.
        sampler: How demos are picked where the recipe does not say.
    """

    loader: Loader
    preprocess_steps: list[StreamingOperator] | None = None
    task: Task
    templates: Artifact | dict[str, Any] | list[Any] | None = None
    sampler: Artifact | None = None

    def rows(self) -> MultiStream:
        """Return the loaded rows, before preprocessing."""
        return self.loader()

    def standardized(self, streams: MultiStream) -> MultiStream:
        """Return streams after the preprocessing steps."""
        for operator in self.preprocess_steps or []:
            streams = operator(streams)
        return streams


class ICLCard(TaskCard):
    """The oldest name of :class:`TaskCard`."""
