"""Values of any library as JSON-like data, the same bytes for the same values."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

import msgspec


def jsonable(value: object) -> Any:
    """Return ``value`` as None, bool, int, float, str, list or dict.

    Numbers that JSON does not know (NaN, infinities) become ``None``, numpy values become Python's, sets are
    sorted, bytes become base64, artifacts their fields, and what is not data at all (a picture) becomes the name of its
    type.
    """
    if value is None or isinstance(value, (bool, str, int, float)):
        return _scalar(value)
    if isinstance(value, msgspec.Struct):
        return jsonable(msgspec.to_builtins(value, enc_hook=jsonable))
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted((jsonable(item) for item in value), key=repr)
    return _other(value)


def _other(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return b64encode(value).decode()
    if isinstance(value, Sequence):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    is_artifact = hasattr(value, "type_name") and hasattr(value, "to_dict")  # criteria that a row holds
    return jsonable(value.to_dict()) if is_artifact else f"<{type(value).__name__}>"


def _scalar(value: str | float | None) -> str | float | None:
    """Return the value itself, subclasses (an enumeration's member, a numpy float) as their base."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if math.isfinite(value) else None


def _hook(value: Any) -> Any:
    if value is None:  # as a key
        raise TypeError
    return jsonable(value)


_VALUES = msgspec.json.Encoder(enc_hook=_hook, order="deterministic")


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON in UTF-8, without the line end.

    The record's own keys stay in order; below, keys and sets are sorted, so that equal records give equal bytes.
    """
    try:
        return _VALUES.encode(_shape(tuple(record))(*record.values()))
    except (UnicodeEncodeError, TypeError, ValueError):
        fields = [b'"%s":%s' % (name.encode(), _value(value)) for name, value in record.items()]
        return b"{%s}" % b",".join(fields)


def to_lines(records: Sequence[tuple[tuple[str, ...], Sequence[Any]]]) -> bytes:
    """Return records as lines with their ends, as :func:`to_line` does one by one, which takes longer.

    Args:
        records: The names of each record and its values; nearly always the names are those of the record before.
    """
    try:
        return _VALUES.encode_lines([_shape(names)(*values) for names, values in records])
    except (UnicodeEncodeError, TypeError, ValueError):
        lines = [to_line(dict(zip(names, values, strict=True))) for names, values in records]
        return b"".join([line + b"\n" for line in lines])


@lru_cache(maxsize=256)
def _shape(names: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return a struct of fields with these names: structs keep their order where dicts are sorted."""
    places = {f"field_{place}": name for place, name in enumerate(names)}
    return msgspec.defstruct("Record", [(place, Any) for place in places], rename=places, gc=False)


def _value(value: Any) -> bytes:
    try:
        return _VALUES.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError):  # lone surrogates, keys that are not text, strange floats
        return json.dumps(jsonable(value), allow_nan=False, separators=(",", ":"), sort_keys=True).encode()


def to_document(value: object) -> bytes:
    """Return indented JSON with sorted keys and a final line end."""
    text = json.dumps(jsonable(value), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return (text + "\n").encode("utf-8", "backslashreplace")
