"""Pictures and sounds of documents, as prompts carry them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal

from proctor.errors import DataError
from proctor.ir import Media
from proctor.safe_python.plain import held


def media_of(kind: Literal["image", "audio"], found: Any) -> list[Media]:
    """Return what ``doc_to_image`` or ``doc_to_audio`` found: one, several, or none."""
    seen = held(found)
    if seen is None:
        return []
    return [Media(kind, _source(kind, each)) for each in (seen if isinstance(seen, list) else [seen])]


def _source(kind: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        content, path = value.get("bytes"), value.get("path")
        if content:
            return _data_url(f"{kind}/{'png' if kind == 'image' else 'wav'}", bytes(content))
        if path:
            return str(path)
    if isinstance(value, bytes):
        return _data_url(f"{kind}/{'png' if kind == 'image' else 'wav'}", value)
    if hasattr(value, "save"):
        file = BytesIO()
        value.save(file, format="PNG")
        return _data_url("image/png", file.getvalue())
    raise DataError(
        f"a {kind} is {type(value).__name__}, which cannot be sent",
        hint="give a path, a URL, bytes, or a picture",
    )


def _data_url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
