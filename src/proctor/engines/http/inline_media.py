"""Pictures, sounds and films in chat messages: files and PIL images become data URLs of bounded size."""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.images import picture_of
from proctor.data.media_types import USUAL, data_url, media_type
from proctor.effects import author_of_rows, reading, refusals
from proctor.engines.http.retrying_client import CallError
from proctor.errors import DataError, needed
from proctor.ir import Message, Prompt

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS_A_SIDE = 2048
"""Larger pictures are scaled down: services scale them down anyway, or refuse them."""
MAX_BYTES = 5_000_000
"""Most bytes of a picture file that is sent as it is: Anthropic, the strictest of the services, takes 5 MB."""
MAX_BYTES_OF_FILMS = 50_000_000
"""Most bytes of a sound or a film that is sent: in base 64 they fill what servers read at most of a request."""


def split_data_url(url: str) -> tuple[str, str]:
    """Return the media type and the base64 data of a data URL; raise :class:`CallError` where it is not one."""
    head, comma, data = url.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise CallError.of("engine", f"this picture is not a base64 data URL: {url[:60]}")
    return head[len("data:") :].partition(";")[0], data


def types_of_parts(messages: Sequence[Message]) -> set[str]:
    """Return the types of the parts of messages; nothing for messages that are text."""
    contents = [content for message in messages if isinstance(content := message.get("content"), list)]
    return {str(part.get("type")) for content in contents for part in content if isinstance(part, Mapping)}


def with_inline_media(messages: Sequence[Message], *, films: bool = True) -> Sequence[Message]:
    """Return messages in which what is given as a path or a PIL image is a data URL; others are returned as they are.

    Args:
        messages: The messages.
        films: Whether sounds and films, too. Those at ``file://…`` stay: a server on this machine reads them itself.

    Raises:
        CallError: A file cannot be read.
    """
    for message in messages:
        if isinstance(message.get("content"), list):
            return [_inline(each, films=films) for each in messages]
    return messages


def _inline(message: Message, *, films: bool) -> Message:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_part(part, films=films) for part in content]}


def _part(part: Any, *, films: bool) -> Any:
    if not isinstance(part, Mapping):
        return part
    kind, _, rest = str(part.get("type")).partition("_")
    if rest == "url" and kind in USUAL and (films or kind == "image"):
        inner = part[f"{kind}_url"]
        source = inner["url"] if isinstance(inner, Mapping) else inner
        more = {key: value for key, value in inner.items() if key != "url"} if isinstance(inner, Mapping) else {}
        url = image_url(source) if kind == "image" else _film_url(kind, source)
        return {**part, f"{kind}_url": {**more, "url": url}}
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
        source = _read(Path(str(source).removeprefix("file://")), "a picture of a row")
        if media_type("image", source, "unknown") in _SENT_AS_THEY_ARE and len(source) <= MAX_BYTES:
            return data_url("image", source)
    return _encode(_open(source))


_SENT_AS_THEY_ARE = ("image/png", "image/jpeg", "image/webp", "image/gif")


def with_sounds_inside(prompt: Prompt) -> Prompt:
    """Return a chat whose sounds are data (``input_audio``).

    Raises:
        CallError: A sound is at an address.
    """
    return Prompt([_with_sounds_inside(message) for message in prompt.messages])


def _with_sounds_inside(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": [_sound_inside(part) for part in content]}


def _sound_inside(part: Any) -> Any:
    if not isinstance(part, Mapping) or part.get("type") != "audio_url":
        return part
    inner = part["audio_url"]
    url = str(inner["url"] if isinstance(inner, Mapping) else inner)
    if not url.startswith("data:"):
        raise CallError.of("engine", f"the provider takes sounds as data, and '{url[:60]}' is an address")
    kind, data = split_data_url(url)
    subtype = kind.partition("/")[2]
    return {"type": "input_audio", "input_audio": {"data": data, "format": _FORMATS.get(subtype, subtype)}}


_FORMATS = {"mpeg": "mp3", "x-wav": "wav"}
"""What ``input_audio`` calls sounds whose media type has another name."""


def _film_url(kind: str, source: object) -> object:
    if not isinstance(source, (str, Path)) or "://" in str(source)[:16] or str(source).startswith("data:"):
        return source
    return film_url(kind, Path(source))


def film_url(kind: str, path: Path) -> str:
    """Return a sound (``audio``) or a film (``video``) in a file as a data URL.

    Raises:
        CallError: The file cannot be read, or has more than 50 MB.
    """
    content = _read(path, f"the {kind} of a row")
    if len(content) > MAX_BYTES_OF_FILMS:
        most = f"{MAX_BYTES_OF_FILMS // 1_000_000} MB"
        raise CallError.of("engine", f"'{path}' has {len(content):,} bytes, and at most {most} of {kind} are sent")
    return data_url(kind, content, mimetypes.guess_type(path.name)[0])


def _read(path: Path, what: str) -> bytes:
    if (who := author_of_rows()) is not None and (refused := refusals(reading(path, who, what))):
        raise CallError.of("engine", f"{refused[0].what}; {refused[0].hint}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise CallError.of("engine", f"'{path}', {what}, cannot be read: {error.strerror}") from None


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
        return data_url("image", buffer.getvalue())
    (image if image.mode in ("RGB", "RGBA", "L", "LA", "P") else image.convert("RGB")).save(buffer, "PNG")
    return data_url("image", buffer.getvalue())
