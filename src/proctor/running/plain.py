"""Values of any library as JSON-like data, the same bytes for the same values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec


def plain(value: Any) -> Any:
    """Return ``value`` as None, bool, int, float, str, list or dict.

    Numbers that JSON does not know (NaN, infinities) become ``None``, numpy values become Python's, sets are
    sorted, and what is no data at all (a picture) becomes the name of its type.
    """
    if value is None or isinstance(value, (bool, str, int, float)):
        return _scalar(value)
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.to_builtins(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [plain(item) for item in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else f"<{type(value).__name__}>"


def _scalar(value: str | float | None) -> str | float | None:
    """Return the value itself, subclasses (an enumeration's member, a numpy float) as their base."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else None


_LINES = msgspec.json.Encoder(enc_hook=plain)


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON in UTF-8, without the line end; keys stay in order."""
    try:
        return _LINES.encode(record)
    except (UnicodeEncodeError, TypeError, ValueError):  # lone surrogates, keys that are no text, strange floats
        return json.dumps(plain(record), allow_nan=False, separators=(",", ":")).encode()


def to_document(value: Any) -> bytes:
    """Return indented JSON with sorted keys and a final line end."""
    text = json.dumps(plain(value), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return (text + "\n").encode("utf-8", "backslashreplace")
