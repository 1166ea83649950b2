"""Images as values: ``{"image": <PIL image, path or bytes>, "format": "JPEG" | …}``."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.bounds import check_picture
from proctor.effects import author_of_rows, reading, require
from proctor.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image


def open_image(value: Any) -> Image:
    """Return an image from a PIL image, a path, encoded bytes, or a dict with one of them.

    Raises:
        MissingExtraError: Pillow is not installed.
        DataError: The bytes are not an image, or the file cannot be read.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtraError.of("pillow", "media", "an image") from None
    if isinstance(value, Image.Image):
        return value
    if isinstance(value, Mapping):
        return open_image(value.get("image") or value.get("bytes") or value.get("path"))
    try:
        if isinstance(value, bytes):
            return _sized(Image.open(io.BytesIO(value)))
        if isinstance(value, (str, Path)):
            require(reading(value, author_of_rows(), "an image of a row"), author_of_rows())
            return _sized(Image.open(io.BytesIO(Path(value).read_bytes())))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise DataError("an image cannot be decoded", why=str(error)) from None
    raise DataError(f"a {type(value).__name__} is not an image", hint="give a PIL image, a path or encoded bytes")


def _sized(image: Image) -> Image:
    check_picture(image.size)
    return image


def image_to_data_url(value: Any, default_format: str = "JPEG") -> str:
    """Return an image as a data URL, in the format it came in; ``value`` is what :func:`open_image` takes."""
    named = value.get("format") if isinstance(value, Mapping) else getattr(value, "format", None)
    name = str(named or default_format)
    buffer = io.BytesIO()
    open_image(value).convert("RGB").save(buffer, format=name.upper())
    return f"data:image/{name.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def data_url_to_image(url: str) -> Image:
    """Return the image in a data URL.

    Raises:
        DataError: It is not a data URL of an image in base64, or its bytes are not an image.
    """
    head, separator, data = url.partition(";base64,")
    if not separator or not head.startswith("data:image/"):
        raise DataError("this is not a data URL of an image", why=f"it starts with {url[:30]!r}")
    try:
        return open_image(base64.b64decode(data))
    except ValueError as error:
        raise DataError("an image is not valid base64", why=str(error)) from None
