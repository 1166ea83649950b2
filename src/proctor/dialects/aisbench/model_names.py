"""Unique names of a config's models, under which results are filed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.values import location_of, model_abbr_of
from proctor.errors import Diagnostic, ValidationError


def named_models(models: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return models by their names; one that is listed twice is one.

    Raises:
        ValidationError: Different models have one name: one of them would not be asked, or overwrite the other.
    """
    if found := list(model_name_problems(models)):
        raise ValidationError(found)
    return {model_abbr_of(each): each for each in models}


def model_name_problems(models: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Yield models that have the name of a different one before them."""
    first: dict[str, Mapping[str, Any]] = {}
    for each in models:
        before = first.setdefault(abbr := model_abbr_of(each), each)
        if before != each:
            place = location_of(before)
            why = f"the other is at {place}" if place is not None else "results are filed under it"
            hint = "abbr='…', another for each"
            yield Diagnostic(f"different models have the name '{abbr}'", location_of(each), "$.abbr", why, hint)
