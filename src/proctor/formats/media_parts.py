"""Typed parts of chat messages as spans and media."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from proctor.ir import Media, Part, Span

_KINDS: Mapping[str, Literal["image", "audio", "video"]] = {
    "image_url": "image",
    "audio_url": "audio",
    "video_url": "video",
}


def parts_of(content: Any, origin: str) -> Iterator[Part]:
    """Yield the parts of a message: words as spans, pictures, sounds and films as media."""
    if isinstance(content, str):
        if content:
            yield Span(content, origin)
        return
    for part in content:
        kind = str(part.get("type", ""))
        if kind in _KINDS:
            source = part.get(kind)
            yield Media(_KINDS[kind], str(source.get("url", "") if isinstance(source, Mapping) else source), origin)
        elif text := part.get("text", ""):
            yield Span(str(text), origin)
