"""Decoding defaults: an engine decides where a request leaves something open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from proctor.errors import ValidationError
from proctor.ir import Decoding

_DEFAULT = Decoding()


_SEVERAL = ("n", "num_return_sequences", "best_of", "candidate_count")
"""With what services and transformers are asked for several answers to one request."""


def refuse_several(parameters: Mapping[str, Any] | None, field: str) -> None:
    """Refuse parameters that ask for several answers, of which all but the first would be thrown away.

    Args:
        parameters: What goes to a server or a library as it is.
        field: The field of the engine that says them.

    Raises:
        ValidationError: One does.
    """
    for name in _SEVERAL:
        if (value := (parameters or {}).get(name)) not in (None, 1):
            raise ValidationError(
                f"{field} asks for {name}={value}: several answers to one request, of which one would be graded",
                path=f"$.{field}.{name}",
                hint=f"--repeats {value} asks so often, and grades every answer",
            )


def with_defaults(decoding: Decoding, defaults: Mapping[str, Any]) -> Decoding:
    """Return ``decoding`` with every field that it leaves at its default taken from ``defaults``, where that is set.

    So an exam's own stop strings and limits win, and ``--model-args temperature=0.7`` reaches exams that say nothing
    about temperature. ``extra`` is merged key by key; the request's keys win, and its ``temperature`` of 0 means that 0
    is what somebody said.
    """
    if decoding.extra.get("temperature") == 0:
        defaults = {**defaults, "temperature": None}
        others = {name: value for name, value in decoding.extra.items() if name != "temperature"}
        decoding = structs.replace(decoding, temperature=0.0, extra=others)
    changes: dict[str, Any] = {}
    for name, value in defaults.items():
        if value is None or name == "extra":
            continue
        if getattr(decoding, name) == getattr(_DEFAULT, name):
            changes[name] = value
    if extra := defaults.get("extra"):
        changes["extra"] = {**extra, **decoding.extra}
    return structs.replace(decoding, **changes) if changes else decoding
