"""Images as values: ``{"image": <PIL image, path or bytes>, "format": "JPEG" | …}``."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.data.bounds import check_picture
from proctor.data.found_files import file_named
from proctor.effects import author_of_rows
from proctor.errors import DataError, needed

if TYPE_CHECKING:
    from PIL.Image import Image


FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "PPM", "ICO")
"""Formats of pictures that are opened: Pillow reads others by starting programs (EPS) or by code that few look at."""


def picture_of(data: bytes) -> Image:
    """Return the picture in encoded bytes, not yet unpacked.

    Raises:
        OSError: They are not one of :data:`FORMATS`.
        DataError: It is too large.
    """
    from PIL import Image

    image = Image.open(io.BytesIO(data), formats=FORMATS)
    check_picture(image.size)
    return image


def open_image(value: Any) -> Image:
    """Return an image from a PIL image, a path, encoded bytes, or a dict with one of them.

    Raises:
        MissingExtraError: Pillow is not installed.
        DataError: The bytes are not an image, or the file cannot be read.
    """
    with needed("pillow", "media", "an image"):
        from PIL import Image, UnidentifiedImageError
    if isinstance(value, Image.Image):
        return value
    if isinstance(value, Mapping):
        return open_image(value.get("image") or value.get("bytes") or value.get("path"))
    try:
        if isinstance(value, bytes):
            return picture_of(value)
        if isinstance(value, (str, Path)):
            return picture_of(Path(file_named(value, author_of_rows(), "an image of a row")).read_bytes())
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise DataError("an image cannot be decoded", why=str(error)) from None
    raise DataError(f"a {type(value).__name__} is not an image", hint="give a PIL image, a path or encoded bytes")


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
