"""``unitxt.dataclass``: how classes of artifacts declare their fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field as PydanticField
from pydantic_core import PydanticUndefined

from proctor.artifacts import NON_POSITIONAL
from proctor.errors import ValidationError, did_you_mean

_KINDS = ("final", "abstract", "internal", "init", "also_positional", "required")
_WITHOUT_EFFECT = frozenset({"name", "type", "origin_cls", "metadata"})
"""What a declaration says of itself: the annotation and the class say it."""


def Field(  # noqa: N802 - the name that programs import
    default: Any = PydanticUndefined, default_factory: Callable[[], Any] | None = None, **others: Any
) -> Any:
    """Return the declaration of a field: a default, or a function that makes one; with ``required``, neither counts.

    Raises:
        TypeError: A keyword that no declaration has.
    """
    for name in others.keys() - {*_KINDS, *_WITHOUT_EFFECT}:
        hint = did_you_mean(name, {*_KINDS, "default", "default_factory"})
        raise TypeError(f"the declaration of a field has no '{name}'{'; ' * bool(hint)}{hint}")
    kinds = {name: value for name, value in others.items() if name in _KINDS}
    if kinds.get("required"):
        default, default_factory = PydanticUndefined, None
    given = {} if default is PydanticUndefined else {"default": default}
    if default_factory is not None:
        given = {"default_factory": default_factory}
    declared = PydanticField(**given, json_schema_extra={"unitxt": kinds})
    if kinds.get("also_positional") is False:
        declared.metadata.append(NON_POSITIONAL)
    return declared


def RequiredField(default: Any = PydanticUndefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that has to be given."""
    return Field(default, **{**others, "required": True})


def OptionalField(default: Any = PydanticUndefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field with a default.

    Raises:
        ValidationError: It has none.
    """
    if default is PydanticUndefined and others.get("default_factory") is None:
        raise ValidationError("an optional field has no default", hint="give 'default' or 'default_factory'")
    return Field(default, **others)


def NonPositionalField(default: Any = PydanticUndefined, **others: Any) -> Any:  # noqa: N802
    """Return the declaration of a field that is given by name only."""
    return Field(default, **{**others, "also_positional": False})
