"""Metadata of a recipe's rows about format and system prompt, for operators that read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from proctor.artifacts import Artifact
from proctor.data.streams import GeneratorStream, MultiStream, Stream

_OF_ALL = (
    "data_classification_policy", "requirements", "caching", "apply_to_streams", "dont_apply_to_streams",
)  # fmt: skip
"""Fields that every operator of Unitxt's begins with, in the order in which its text has them."""
_OWN = {"demos_as_turns": True}
"""Fields that Unitxt does not have, with the value that says nothing."""
_EMPTY: dict[str, Any] = {"requirements": []}


_POOL = "_demos_pool_"
"""The field in which rows of Unitxt's carry the pool of demos until they are drawn."""


class Described:
    """An artifact as a row has it: its text is Unitxt's, from which orders follow there.

    Args:
        artifact: The format or system prompt.
    """

    __slots__ = ("_text", "demo_format")

    def __init__(self, artifact: Artifact) -> None:
        self._text = unitxt_text(artifact)
        if demo_format := getattr(artifact, "demo_format", None):
            self.demo_format = demo_format

    def __repr__(self) -> str:
        return self._text


def unitxt_text(artifact: Artifact) -> str:
    """Return the text of an artifact as Unitxt prints it: its catalog name, or its class with all fields."""
    if artifact.artifact_id:
        return artifact.artifact_id.partition("[")[0]  # a name stays where other values are given with it
    data = artifact.to_dict()
    meta: dict[str, Any] = {"__title__": None, "__description__": None, "__tags__": {}, "__deprecated_msg__": None}
    fields = {"__type__": artifact.type_name(), **{name: data.get(name, value) for name, value in meta.items()}}
    fields |= {name: getattr(artifact, name, None) or _EMPTY.get(name) for name in _OF_ALL}
    own = {name: getattr(artifact, name) for name in type(artifact).model_fields if name not in fields}
    fields |= {name: value for name, value in own.items() if name not in _OWN or value != _OWN[name]}
    return f"{type(artifact).__name__}({', '.join(f'{name}={value!r}' for name, value in fields.items())})"


def is_read_by(operators: Iterable[Any]) -> bool:
    """Whether one of these operators, or of those inside of them, reads what rows say of their recipe."""
    return any(
        getattr(each, "reads_recipe", False) or is_read_by(getattr(each, "steps", None) or ()) for each in operators
    )


def row_metadata(system_prompt: Artifact, layout: Artifact) -> dict[str, Described]:
    """Return the metadata of rows about the recipe's system prompt and format."""
    return {"system_prompt": Described(system_prompt), "format": Described(layout)}


def refined_with_pool(refiner: Any, name: str, stream: Stream, pool: Iterable[Any] | None) -> Stream:
    """Return what a refiner leaves of a split; an order that follows from the text of rows follows from the pool, too.

    Args:
        refiner: The refiner.
        name: The split.
        stream: The instances of the split.
        pool: The demos to draw from, where there is a pool.
    """
    if pool is None or not is_read_by([refiner]):
        left: Stream = refiner(MultiStream({name: stream}))[name]
        return left
    members = list(pool)

    def telling() -> Iterator[Any]:
        return ({**row, _POOL: members} for row in stream)

    def kept() -> Iterator[Any]:
        rows = refiner(MultiStream({name: GeneratorStream(telling)}))[name]
        return ({key: value for key, value in row.items() if key != _POOL} for row in rows)

    return GeneratorStream(kept)
