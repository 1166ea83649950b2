"""TaskCard: where the data of a task comes from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from proctor.artifacts.artifact import Artifact
from proctor.data.loaders import Loader
from proctor.data.operator import StreamingOperator
from proctor.data.streams import MultiStream
from proctor.errors import DataError
from proctor.tasks.task import Task


class TaskCard(Artifact):
    """A task with its data.

    Attributes:
        loader: Where rows come from; ``None`` where a program gives the rows.
        preprocess_steps: Operators that give rows the fields of the task.
        task: The schema that rows then have.
        templates: The templates that fit: a list, a dict by name, one artifact that holds several, or its catalog name.
        sampler: How demos are picked where the recipe does not say.
    """

    loader: Loader | None = None
    preprocess_steps: list[StreamingOperator] | None = None
    task: Task
    templates: Annotated[Artifact | dict[str, Artifact] | list[Artifact] | None, Field(union_mode="left_to_right")] = (
        None
    )
    sampler: Artifact | None = None

    @property
    def is_without_sampler(self) -> bool:
        """Whether the card says that there is none, instead of leaving the choice open."""
        return self.sampler is None and "sampler" in self.model_fields_set

    def rows(self) -> MultiStream:
        """Return the loaded rows, before preprocessing.

        Raises:
            DataError: The card has no loader.
        """
        if self.loader is None:
            raise DataError("the card has no loader", path=self.artifact_id or "", hint="give it one, or pass rows")
        return self.loader()


class ICLCard(TaskCard):
    """The oldest name of :class:`TaskCard`."""
