"""Boxes in pictures: from a model's coordinates to pixels, and how much of two boxes is shared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Box = Sequence[float]
_MOST_STRETCHED = 200  # ratio of sides from which on Qwen's processor refuses a picture


def overlap(first: Box, second: Box) -> float:
    """Return the intersection over union of two boxes ``(left, top, right, bottom)``; 0 where both are empty."""
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(0.0, across) * max(0.0, down)
    areas = [max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1]) for box in (first, second)]
    whole = sum(areas) - shared
    return shared / whole if whole > 0 else 0.0


def pixels(
    box: Box, size: tuple[float, float], scale: float, resized: Mapping[str, Any] | None = None, *, clips: bool = True
) -> list[float]:
    """Return a box in pixels.

    Args:
        box: Four coordinates of 0 to ``scale``.
        size: Width and height of the picture.
        scale: Coordinates that a side has.
        resized: How the model's processor resized the picture first: ``factor``, ``min_pixels``, ``max_pixels``.
        clips: Whether what lies outside of the picture is cut off.

    Raises:
        ValueError: It has not four coordinates, or nothing in it.
    """
    if len(box) != 4:  # noqa: PLR2004 - left, top, right, bottom
        raise ValueError("a box has four coordinates")
    width, height = size
    ratios = (1.0, 1.0)
    if resized is not None:
        new_height, new_width = smart_size(height, width, **resized)
        ratios = (new_width / width, new_height / height)
    found = [float(each) / scale * size[place % 2] * ratios[place % 2] for place, each in enumerate(box)]
    if clips:
        found = [min(max(each, 0.0), size[place % 2]) for place, each in enumerate(found)]
    if found[2] <= found[0] or found[3] <= found[1]:
        raise ValueError("the box is reversed or empty")
    return found


def smart_size(
    height: float, width: float, factor: int = 32, min_pixels: int = 16_384, max_pixels: int = 67_108_864
) -> tuple[int, int]:
    """Return height and width that Qwen's processor gives a picture: multiples of ``factor``, not too few or too many.

    Raises:
        ValueError: The picture is stretched too much.
    """
    if max(height, width) / min(height, width) > _MOST_STRETCHED:
        raise ValueError(f"the sides of the picture differ by more than {_MOST_STRETCHED} to 1")
    tall, wide = (max(factor, round(side / factor) * factor) for side in (height, width))
    if tall * wide > max_pixels:
        shrink = math.sqrt(height * width / max_pixels)
        tall, wide = (max(factor, math.floor(side / shrink / factor) * factor) for side in (height, width))
    elif tall * wide < min_pixels:
        grow = math.sqrt(min_pixels / (height * width))
        tall, wide = (max(factor, math.ceil(side * grow / factor) * factor) for side in (height, width))
    return tall, wide
