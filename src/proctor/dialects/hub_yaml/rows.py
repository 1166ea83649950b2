"""The rows of a task's split, as an exam opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial

from proctor.data import hub
from proctor.data.streams import MultiStream
from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.hub_yaml.samples import Samples
from proctor.effects import Author
from proctor.errors import ProctorError
from proctor.recipes.selection import Opened, Row, Selection


def dataset_of(task: HubTask, author: Author | None) -> hub.Dataset:
    """Return what to load; the config ``default`` is what a dataset has that names none."""
    name = None if task.config == "default" else task.config
    return hub.Dataset(task.dataset, name, revision=task.revision, author=author)


class HubRows:
    """The rows of a task.

    Args:
        task: The task.
        author: Who wrote it.
        seed: Of the order of choices; ``None`` for ``settings.seed``.
    """

    def __init__(self, task: HubTask, author: Author | None, seed: int | None) -> None:
        self._task, self._author, self._seed = task, author, seed

    @cached_property
    def _held(self) -> Sequence[Row]:
        return hub.held_rows(dataset_of(self._task, self._author), self._task.split)

    def open(self, selection: Selection) -> Opened:
        """Return the rows of the split.

        Raises:
            DataError: The data cannot be loaded, or has no such split.
        """
        del selection
        return Opened(self._held, partial(len, self._held))

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows as they are loaded, and the samples that are made of them."""
        split = self._task.split
        yield "the dataset is loaded", _stream(split, lambda: map(dict, self._held))
        shuffled = ", choices in a drawn order" if self._task.shuffle_choices else ""
        yield f"field_spec makes samples{shuffled}", _stream(split, self._usable)

    def _usable(self) -> Iterator[dict[str, object]]:
        samples = Samples(self._task, self._held, self._seed)
        for place, row in enumerate(self._held):
            try:
                yield samples.of(place, row)
            except ProctorError:  # an instance that fails, with its reason, when it is asked about
                continue


def _stream(split: str, make: Callable[[], Iterator[dict[str, object]]]) -> MultiStream:
    return MultiStream.from_generators({split: make})
