"""Pictures in chat messages: paths and PIL images become data URLs of bounded size."""

from __future__ import annotations

import base64
import io
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.images import picture_of
from proctor.effects import author_of_rows, reading, refusals
from proctor.engines.http.retrying_client import CallError
from proctor.errors import DataError, needed
from proctor.ir import Message

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS_A_SIDE = 2048
"""Larger pictures are scaled down: services scale them down anyway, or refuse them."""
MAX_BYTES = 5_000_000
"""Most bytes of a picture file that is sent as it is: Anthropic, the strictest of the services, takes 5 MB."""


def split_data_url(url: str) -> tuple[str, str]:
    """Return the media type and the base64 data of a data URL; raise :class:`CallError` where it is not one."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise CallError.of("engine", f"this picture is not a base64 data URL: {url[:60]}")
    return head[len("data:") : -len(";base64")], data


def with_inline_media(messages: Sequence[Message]) -> Sequence[Message]:
    """Return messages in which pictures given as paths or PIL images are data URLs; others are returned as they are.

    Raises:
        CallError: A picture cannot be read.
    """
    for message in messages:
        if isinstance(message.get("content"), list):
            return [_inline(each) for each in messages]
    return messages


def _inline(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_part(part) for part in content]}


def _part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    if part.get("type") == "image_url":
        inner = part["image_url"]
        source = inner["url"] if isinstance(inner, Mapping) else inner
        more = {key: value for key, value in inner.items() if key != "url"} if isinstance(inner, Mapping) else {}
        return {"type": "image_url", "image_url": {**more, "url": image_url(source)}}
    if part.get("type") == "image" and "image" in part:
        return {"type": "image_url", "image_url": {"url": image_url(part["image"])}}
    return part


def image_url(source: object) -> str:
    """Return a picture as a URL that any server can read.

    Args:
        source: An http(s) URL or a data URL (returned as it is), a path, bytes, or a PIL image. A file of at most
            5 MB is sent as it is; anything else is scaled to at most 2048 pixels a side.

    Raises:
        CallError: The picture cannot be read.
    """
    if isinstance(source, str) and source.startswith(("http://", "https://", "data:")):
        return source
    if isinstance(source, (str, Path)):
        path = Path(str(source).removeprefix("file://"))
        if (who := author_of_rows()) is not None and (refused := refusals(reading(path, who, "a picture of a row"))):
            raise CallError.of("engine", f"{refused[0].what}; {refused[0].hint}")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CallError.of("engine", f"the picture '{path}' cannot be read: {error.strerror}") from None
        media_type = mimetypes.guess_type(path.name)[0]
        if media_type in ("image/png", "image/jpeg", "image/webp", "image/gif") and len(content) <= MAX_BYTES:
            return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
        source = content
    return _encode(_open(source))


def _open(source: Any) -> Image:
    with needed("pillow", "media", "reading a picture"):
        from PIL import Image, UnidentifiedImageError
    if isinstance(source, Image.Image):
        return source
    try:
        image = picture_of(source)
    except (UnidentifiedImageError, Image.DecompressionBombError, TypeError, OSError, DataError) as error:
        raise CallError.of("engine", f"a picture cannot be read: {error}") from None
    return image


def _encode(image: Image) -> str:
    image = image.copy()
    image.thumbnail((MAX_PIXELS_A_SIDE, MAX_PIXELS_A_SIDE))
    opaque = image.mode in ("RGB", "L")
    buffer = io.BytesIO()
    if opaque and (image.format == "JPEG" or image.width * image.height > MAX_PIXELS_A_SIDE**2 // 4):
        image.save(buffer, "JPEG", quality=92)
        return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    (image if image.mode in ("RGB", "RGBA", "L", "LA", "P") else image.convert("RGB")).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
