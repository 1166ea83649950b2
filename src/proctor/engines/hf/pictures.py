"""Prompts with pictures, for models that read them: what a processor makes of messages.

A picture comes as ``{"type": "image_url", "image_url": {"url": …}}`` or ``{"type": "image", "image": …}``, from a data
URL, a path, a web address, bytes, or a PIL image.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data import web
from proctor.data.bounds import check_picture
from proctor.data.images import picture_of
from proctor.effects import Effect, asking, author_of_rows, reading, refusals
from proctor.engines.encoder import Encoder, Ids, RefusedError
from proctor.errors import DataError, NotAllowedError, needed
from proctor.ir import Message, media_in
from proctor.settings import settings

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_BYTES = 50_000_000  # ten times what services take; a wrong address could send for ever
_PICTURES = frozenset({"image", "image_url"})


def has_pictures(messages: Sequence[Message]) -> bool:
    """Return whether any message holds a picture."""
    return any(
        isinstance(part, Mapping) and part.get("type") in _PICTURES
        for message in messages
        if isinstance(message.get("content"), (list, tuple))
        for part in message["content"]
    )


def encode_pictures(processor: Any, encoder: Encoder, messages: Sequence[Message]) -> tuple[Ids, dict[str, Any]]:
    """Return the ids of a prompt with pictures, and the tensors that go with them.

    Raises:
        RefusedError: A picture cannot be read, or the model's chat template does not take the messages.
    """
    pictures: list[Image] = []
    plain = [_without_pictures(message, pictures) for message in messages]
    text = encoder.render_chat(plain, processor)
    try:
        encoded = processor(images=pictures, text=text, return_tensors="pt")
    except (ValueError, TypeError, IndexError) as error:
        raise RefusedError("engine", f"the model does not take these pictures: {error}") from None
    ids: Ids = encoded.pop("input_ids")[0].tolist()
    encoded.pop("attention_mask", None)
    return ids, dict(encoded)


def _without_pictures(message: Message, pictures: list[Image]) -> Message:
    """Return a message in which pictures are placeholders, and collect them in reading order."""
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content}]}
    parts: list[Any] = []
    for part in content or ():
        if isinstance(part, Mapping) and part.get("type") in _PICTURES:
            pictures.append(open_picture(_source_of(part)))
            parts.append({"type": "image"})
        elif isinstance(part, Mapping) and media_in(part) is not None:
            raise RefusedError("engine", f"the prompt holds {part['type']}, and only pictures are read here")
        else:
            parts.append(part)
    return {**message, "content": parts}


def _source_of(part: Mapping[str, Any]) -> Any:
    if part["type"] == "image":
        return next((part[key] for key in ("image", "url", "path") if part.get(key) is not None), None)
    inner = part.get("image_url")
    return inner.get("url") if isinstance(inner, Mapping) else inner


def open_picture(source: object) -> Image:
    """Return a picture as RGB.

    Raises:
        RefusedError: It cannot be read.
        MissingExtraError: Pillow is not installed.
    """
    with needed("pillow", "media", "reading a picture"):
        from PIL import Image, UnidentifiedImageError
    try:
        picture = source if isinstance(source, Image.Image) else picture_of(_bytes_of(source))
        check_picture(picture.size)
        return picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, binascii.Error, DataError) as error:
        raise RefusedError("engine", f"a picture cannot be read: {error}") from None


def _bytes_of(source: Any) -> bytes:
    if isinstance(source, bytes):
        return source
    text = str(source)
    if text.startswith("data:"):
        return base64.b64decode(text.partition(",")[2], validate=True)
    if text.startswith(("http://", "https://")):
        return _download(text)
    _check(reading(text.removeprefix("file://"), author_of_rows(), "a picture of a row"))
    return Path(text.removeprefix("file://")).read_bytes()


def _download(address: str) -> bytes:
    if settings.offline:
        raise RefusedError("engine", f"the picture {address} is on the web, and settings.offline is on")
    try:
        _check(asking(address, "a picture of a row"))
        with web.opened(address, author_of_rows(), "a picture of a row") as answer:
            return web.read(answer, MAX_BYTES)
    except (OSError, DataError, NotAllowedError) as error:
        reason = getattr(error, "reason", None) or str(error)
        raise RefusedError("engine", f"the picture {address} cannot be read: {reason}") from None


def _check(effects: Sequence[Effect]) -> None:
    """Refuse what a row names and nobody allowed: that one instance fails."""
    if author_of_rows() is not None and (refused := refusals(effects)):
        raise RefusedError("engine", f"{refused[0].what}; {refused[0].hint}")
