"""The samples of a task's split, as an exam opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from random import Random

from proctor.data import hub
from proctor.data.streams import MultiStream
from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.hub_yaml.samples import sample_of, with_choices_shuffled
from proctor.effects import Author
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.recipes.selection import Opened, Row, Selection
from proctor.settings import settings


def dataset_of(task: HubTask, author: Author | None) -> hub.Dataset:
    """Return what to load; the config ``default`` is what a dataset has that names none."""
    name = None if task.config == "default" else task.config
    return hub.Dataset(task.dataset, name, revision=task.revision, author=author)


class HubRows:
    """The samples of a task.

    Args:
        name: The exam's, for messages.
        task: The task.
        author: Who wrote it.
        seed: Of the order of choices; ``None`` for ``settings.seed``.
    """

    def __init__(self, name: str, task: HubTask, author: Author | None, seed: int | None) -> None:
        self._name, self._task, self._author, self._seed = name, task, author, seed

    @cached_property
    def _held(self) -> Sequence[Row]:
        return hub.held_rows(dataset_of(self._task, self._author), self._task.split)

    def open(self, selection: Selection) -> Opened:
        """Return the samples of the split.

        Raises:
            DataError: The data cannot be loaded, or has no such split.
        """
        del selection
        return Opened(_Samples(self._name, self._task, self._held, self._seed), partial(len, self._held))

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows as they are loaded, and the samples that are made of them."""
        split = self._task.split
        yield "the dataset is loaded", _stream(split, lambda: map(dict, self._held))
        samples = _Samples(self._name, self._task, self._held, self._seed)
        shuffled = ", choices in a drawn order" if self._task.shuffle_choices else ""
        usable = lambda: (dict(each) for each in samples if not isinstance(each, Failure))  # noqa: E731
        yield f"field_spec makes samples{shuffled}", _stream(split, usable)


def _stream(split: str, make: Callable[[], Iterator[dict[str, object]]]) -> MultiStream:
    return MultiStream.from_generators({split: make})


class _Samples:
    """Samples in order, a failure where a row cannot be used; they may be iterated again."""

    def __init__(self, name: str, task: HubTask, rows: Sequence[Row], seed: int | None) -> None:
        self._name, self._task, self._rows = name, task, rows
        self._seed = int(settings.seed) if seed is None else seed

    def __iter__(self) -> Iterator[Row | Failure]:
        stream = Random(self._seed)  # one for all rows, as inspect's datasets shuffle choices
        for number, row in enumerate(self._rows):
            try:
                sample = sample_of(row, self._task.fields)
                yield with_choices_shuffled(sample, stream) if self._task.shuffle_choices else sample
            except ProctorError as error:
                yield Failure("row", str(error.within(f"{self._name}[{number}]")), retryable=False)
