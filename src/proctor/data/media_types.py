"""Media types of pictures, sounds and films by their first bytes: names of files and columns are often wrong."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final

USUAL: Final[Mapping[str, str]] = {"image": "image/jpeg", "video": "video/mp4", "audio": "audio/wav"}
"""What each kind is taken for where its bytes are of no known format."""

_SIGNS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"\x89PNG"), "image/png"),
    (re.compile(rb"GIF8"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"RIFF....AVI ", re.DOTALL), "video/x-msvideo"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"....ftypM4A", re.DOTALL), "audio/mp4"),
    (re.compile(rb"....ftyp", re.DOTALL), "video/mp4"),
    (re.compile(rb"\x1aE\xdf\xa3"), "video/webm"),
    (re.compile(rb"ID3|\xff[\xfb\xf3\xf2]"), "audio/mpeg"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"OggS"), "audio/ogg"),
)
_START: Final = 24
"""Bytes, or characters of base 64 (18 bytes), that are looked at: the longest sign has 12 bytes."""


def media_type(kind: str, content: bytes | str, otherwise: str | None = None) -> str:
    """Return the media type of a picture, a sound or a film.

    Args:
        kind: ``image``, ``audio`` or ``video``; bytes that are of another kind count as unknown.
        content: Its bytes, or base 64; the first are enough.
        otherwise: Returned where its bytes are of no known format; the usual format of the kind by itself.
    """
    start = content[:_START]
    if isinstance(start, str):
        try:
            start = base64.b64decode(start, validate=True)
        except binascii.Error:
            start = b""
    known = next((name for sign, name in _SIGNS if sign.match(start)), "")
    return known if known.startswith(f"{kind}/") else otherwise or USUAL[kind]


def data_url(kind: str, content: bytes, otherwise: str | None = None) -> str:
    """Return a picture, a sound or a film as a data URL; arguments as for :func:`media_type`."""
    return f"data:{media_type(kind, content, otherwise)};base64,{base64.b64encode(content).decode('ascii')}"
