"""Operators on images; some of them are augmentors. They need the extra ``media``."""

from __future__ import annotations

import base64
import hashlib
import io
from typing import TYPE_CHECKING, Any

from pydantic import Field
from typing_extensions import override

from proctor.artifacts.field_types import Image as ImageType
from proctor.artifacts.types import is_of_type
from proctor.data.augmentors import TaskInputsAugmentor
from proctor.data.fields import Row
from proctor.data.images import open_image
from proctor.data.operator import FieldOperator, InstanceFieldOperator
from proctor.errors import DataError, ValidationError

if TYPE_CHECKING:
    from numpy.random import Generator
    from PIL.Image import Image


class ToImage(InstanceFieldOperator):
    """Makes a value of the type ``Image`` of an image."""

    @override
    def process_instance_value(self, value: Any, instance: Row) -> Row:
        return {"image": value, "format": getattr(value, "format", None) or "JPEG"}


class ImageToText(ToImage):
    """:class:`ToImage` under the name that Unitxt's guide to multi-modality has for it."""


class HashImage(FieldOperator):
    """Replaces images by the MD5 of their pixels, as text."""

    @override
    def process_value(self, value: Any) -> str:
        return hashlib.md5(open_image(value).tobytes(), usedforsecurity=False).hexdigest()


class DecodeImage(FieldOperator):
    """Reads images that are written in base64."""

    @override
    def process_value(self, value: str) -> Any:
        try:
            data = base64.b64decode(value)
        except ValueError as error:
            raise DataError("an image is not valid base64", why=str(error)) from None
        return open_image(data)


class EncodeImageToString(FieldOperator):
    """Writes images in base64.

    Attributes:
        image_format: The format to encode them in.
    """

    image_format: str = "JPEG"

    @override
    def process_value(self, value: Any) -> Row:
        buffer = io.BytesIO()
        open_image(value).save(buffer, format=self.image_format)
        return {"image": base64.b64encode(buffer.getvalue()).decode()}


class ImageFieldOperator(FieldOperator):
    """Base of operators on images; override ``process_image(image)``."""

    def process_image(self, image: Image) -> Image:  # noqa: ARG002 - for those who override it
        """Return the new image."""
        raise ValidationError(f"{type(self).__name__} does not define process_image(image)")

    @override
    def process_value(self, value: Row) -> Row:
        if not isinstance(value, dict) or "image" not in value:
            raise DataError(f"{type(self).__name__} needs an image", why=f"got a {type(value).__name__}")
        return {**value, "image": self.process_image(open_image(value["image"]))}


class ToRGB(ImageFieldOperator):
    """Makes images red, green and blue, without transparency."""

    @override
    def process_image(self, image: Image) -> Image:
        return image.convert("RGB")


class ImageAugmentor(TaskInputsAugmentor):
    """Base of augmentors of images; override ``process_image(image)``. Other values stay as they are."""

    augmented_type: Any = ImageType

    def process_image(self, image: Image) -> Image:  # noqa: ARG002 - for those who override it
        """Return the new image."""
        raise ValidationError(f"{type(self).__name__} does not define process_image(image)")

    @override
    def process_value(self, value: Any) -> Any:
        if not is_of_type(value, ImageType):
            return value
        return {**value, "image": self.process_image(open_image(value["image"]))}


class GrayScale(ImageAugmentor):
    """Takes the colours out."""

    @override
    def process_image(self, image: Image) -> Image:
        return image.convert("L").convert("RGB")


class GridLines(ImageAugmentor):
    """Draws evenly spaced lines.

    Attributes:
        num_lines: Horizontal lines, and as many vertical ones.
        line_thickness: In pixels.
        line_color: Red, green and blue, 0 to 255.
    """

    num_lines: int = 128
    line_thickness: int = 1
    line_color: tuple[int, int, int] = (255, 255, 255)

    @override
    def process_image(self, image: Image) -> Image:
        import numpy as np
        from PIL import Image as Pillow

        pixels = np.array(image)
        height, width = pixels.shape[:2]
        for line in range(1, self.num_lines + 1):
            y, x = line * (height // (self.num_lines + 1)), line * (width // (self.num_lines + 1))
            pixels[y : y + self.line_thickness, :, :] = self.line_color
            pixels[:, x : x + self.line_thickness, :] = self.line_color
        return Pillow.fromarray(pixels)


class PixelNoise(ImageAugmentor):
    """Paints random squares in random colours; equal images alike.

    Attributes:
        square_size: In pixels.
        noise_rate: The share of squares to paint, 0 to 1.
    """

    square_size: int = Field(default=1, gt=0)
    noise_rate: float = Field(default=0.3, ge=0, le=1)

    @override
    def process_image(self, image: Image) -> Image:
        import numpy as np
        from PIL import Image as Pillow

        pixels, size, random = np.array(image), self.square_size, _noise(image)
        height, width, channels = pixels.shape
        squares = (-(-height // size), -(-width // size))
        painted = random.random(squares) < self.noise_rate
        colors = random.integers(0, 256, (*squares, channels), dtype=np.uint8)
        spread = (np.repeat(np.repeat(each, size, axis=0), size, axis=1)[:height, :width] for each in (painted, colors))
        where, what = spread
        return Pillow.fromarray(np.where(where[:, :, np.newaxis], what, pixels))


class Oldify(ImageAugmentor):
    """Makes images look old: a yellow tint, grain, blur, less contrast; equal images alike.

    Attributes:
        noise_strength: Standard deviation of the grain, in levels of 255.
        tint_strength: Share of the tint, 0 to 1.
    """

    noise_strength: int = 30
    tint_strength: float = 0.4

    @override
    def process_image(self, image: Image) -> Image:
        import numpy as np
        from PIL import Image as Pillow
        from PIL import ImageEnhance, ImageFilter

        pixels = np.array(image)
        tint = np.array([255, 228, 170], dtype=np.uint8)
        tinted = (pixels * (1 - self.tint_strength) + tint * self.tint_strength).astype(np.uint8)
        grain = _noise(image).normal(0, self.noise_strength, pixels.shape).astype(np.int16)
        grainy = Pillow.fromarray(np.clip(tinted + grain, 0, 255).astype(np.uint8))
        faded = ImageEnhance.Contrast(grainy.filter(ImageFilter.GaussianBlur(radius=1))).enhance(0.6)
        return ImageEnhance.Brightness(faded).enhance(1.2)


def _noise(image: Image) -> Generator:
    """Return a generator for an image; equal images get equal ones."""
    import numpy as np

    from proctor.randomness import seed_of_draws

    digest = hashlib.sha256(image.tobytes()).digest()
    return np.random.default_rng([seed_of_draws(), *digest[:8]])
