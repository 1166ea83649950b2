"""Catalog artifacts by value: what names meant when they were used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proctor.artifacts.artifact import Artifact, to_data
from proctor.artifacts.effects_of import parts_of
from proctor.artifacts.fetch import fetch_artifact
from proctor.errors import ProctorError


def held_parts(values: Iterable[Any]) -> dict[str, Any]:
    """Return the named artifacts in values with what is in them, by name.

    Args:
        values: Artifacts, and lists and mappings of them; names that stand there as texts are followed by
            :func:`resolved` first.
    """
    return {part.artifact_id: part.to_dict() for part in parts_of(list(values)) if part.artifact_id}


def resolved(source: object, owner: Artifact | None = None) -> Any:
    """Return the artifact that a name, a query or JSON means; the source itself where nothing can be had.

    Args:
        source: What a list of processors or metrics holds.
        owner: The artifact that holds the list; what it names is fetched on behalf of its author.
    """
    if not isinstance(source, (str, Mapping)):
        return source
    try:
        return fetch_artifact(source) if owner is None else owner.fetched(source)
    except ProctorError:  # whoever grades says so, or knows the name from elsewhere
        return source


def by_value(source: object) -> Any:
    """Return an artifact as JSON-like data with its parts by value; names stay where nothing can be had by them."""
    if isinstance(source, Artifact):
        return _opened(source)
    return to_data(source)


def _opened(value: Any) -> Any:
    if isinstance(value, Artifact):
        given = {name: getattr(value, name) for name in value.model_fields_set}
        return {"__type__": value.type_name(), **{name: _opened(each) for name, each in sorted(given.items())}}
    if isinstance(value, Mapping):
        return {str(name): _opened(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_opened(each) for each in value]
    return to_data(value)
