"""From a row of a dataset to a sample: the question, the right answers, choices and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from string import ascii_uppercase
from typing import Any

from proctor.dialects.hub_yaml.config import FieldSpec, HubTask
from proctor.errors import DataError, did_you_mean
from proctor.ir import Failure
from proctor.scoring.lettered_answers import letter_of, place_of
from proctor.settings import settings

LITERAL = "literal:"
Row = Mapping[str, Any]
_ROLES = ("system", "user", "assistant")


def sample_of(row: Row, fields: FieldSpec) -> dict[str, Any]:
    """Return a sample: ``input``, ``target``, ``choices`` and ``metadata``.

    Raises:
        DataError: The row lacks a column, or a column holds what a sample cannot be made of.
    """
    return {
        "input": _input(row, fields),
        "target": _target(row, fields),
        "choices": _choices(row, fields),
        "metadata": {name: _column(row, name) for name in fields.metadata},
    }


def _column(row: Row, name: str) -> Any:
    if name not in row:
        why = f"the columns are {', '.join(map(str, row))}"
        raise DataError(f"the row has no column '{name}'", why=why, hint=did_you_mean(name, row))
    return row[name]


def _input(row: Row, fields: FieldSpec) -> Any:
    value = _column(row, fields.input)
    image = _column(row, fields.input_image) if fields.input_image else None
    if image not in (None, ""):
        if not isinstance(value, str) or not isinstance(image, str):
            raise DataError(f"the column '{fields.input_image}' has to hold addresses of images (data: …)")
        parts = [{"type": "text", "text": value}, {"type": "image_url", "image_url": {"url": image}}]
        return [{"role": "user", "content": parts}]
    if isinstance(value, str) or _is_messages(value):
        return value
    kind = type(value).__name__
    raise DataError(f"the column '{fields.input}' holds a {kind}", why="a question is a text, or a list of messages")


def _is_messages(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, Mapping) and each.get("role") in _ROLES and isinstance(each.get("content"), str)
            for each in value
        )
    )


def _target(row: Row, fields: FieldSpec) -> str:
    if fields.target.startswith(LITERAL):
        return fields.target.removeprefix(LITERAL)
    value = _column(row, fields.target)
    if value is None or value != value:  # noqa: PLR0124 - NaN
        raise DataError(f"the column '{fields.target}' has no answer in this row")
    if isinstance(value, int) and fields.choices is not None:
        if not 0 <= value < len(ascii_uppercase):
            raise DataError(f"the column '{fields.target}' is {value}", why="positions of choices are 0 to 25")
        return ascii_uppercase[value]
    return str(value)


def _choices(row: Row, fields: FieldSpec) -> list[str]:
    if fields.choices is None:
        return []
    if isinstance(fields.choices, str):
        found = _column(row, fields.choices)
    else:
        found = [_column(row, name) for name in fields.choices]
    if found is not None and not isinstance(found, list):
        found = list(found) if hasattr(found, "tolist") else found
    if not isinstance(found, list | None) or not all(isinstance(each, str) for each in found or ()):
        raise DataError(f"the choices of the row are {found!r}"[:200], why="choices are a list of texts")
    return found or []


class Samples:
    """Makes samples of the rows of a task, with choices in a drawn order where the task says so.

    Args:
        task: The task.
        rows: All its rows: one stream draws for all of them, in order, as inspect's datasets do.
        seed: Of the order; ``None`` for ``settings.seed``.
    """

    def __init__(self, task: HubTask, rows: Iterable[Row | Failure], seed: int | None) -> None:
        self._fields = task.fields
        self._orders: list[tuple[int, ...]] | None = None
        if task.shuffle_choices:
            stream = Random(int(settings.seed) if seed is None else seed)
            self._orders = [_order(row, task.fields, stream) for row in rows]

    def of(self, place: int, row: Row) -> dict[str, Any]:
        """Return the sample of a row.

        Raises:
            DataError: As :func:`sample_of`; or the target is not one of the choices that were shuffled.
        """
        sample = sample_of(row, self._fields)
        order = () if self._orders is None else self._orders[place]
        if not order:
            return sample
        target = place_of(sample["target"])
        if target not in order:
            raise DataError(f"the target {sample['target']!r} is beyond the {len(order)} choices of the row")
        choices = [sample["choices"][each] for each in order]
        return {**sample, "choices": choices, "target": letter_of(order.index(target))}


def _order(row: Row | Failure, fields: FieldSpec, stream: Random) -> tuple[int, ...]:
    """Return the drawn order of a row's choices; none of a row that cannot be used."""
    if isinstance(row, Failure):
        return ()
    try:
        order = list(range(len(_choices(row, fields))))
    except DataError:
        return ()
    if order:
        stream.shuffle(order)
    return tuple(order)
