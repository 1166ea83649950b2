"""What a request leaves open about decoding, an engine decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from proctor.ir import Decoding

_DEFAULT = Decoding()


def with_defaults(decoding: Decoding, defaults: Mapping[str, Any]) -> Decoding:
    """Return ``decoding`` with every field that it leaves at its default taken from ``defaults``, where that is set.

    So an exam's own stop strings and limits win, and ``--model-args temperature=0.7`` reaches exams that say nothing
    about temperature. ``extra`` is merged key by key; the request's keys win.
    """
    changes: dict[str, Any] = {}
    for name, value in defaults.items():
        if value is None or name == "extra":
            continue
        if getattr(decoding, name) == getattr(_DEFAULT, name):
            changes[name] = value
    if extra := defaults.get("extra"):
        changes["extra"] = {**extra, **decoding.extra}
    return structs.replace(decoding, **changes) if changes else decoding
