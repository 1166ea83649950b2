"""Films as pictures (``ais_bench.benchmark.datasets.utils.video``); reading one needs OpenCV."""

from __future__ import annotations

import base64
import sys
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np

from proctor.errors import DataError, UsageError


def _opencv() -> Any:
    try:
        return import_module("cv2")
    except ImportError as error:
        raise UsageError(
            "a film cannot be read",
            why="the package 'cv2' is not installed",
            hint="install OpenCV for Python (opencv-python-headless)",
        ) from error


def __getattr__(name: str) -> Any:
    if name != "cv2":
        raise AttributeError(name)
    return _opencv()


def _now(name: str) -> Any:
    """Return what a name of this module means now: what a program has put in its place, or what it is."""
    return getattr(sys.modules[__name__], name)


def video_to_ndarrays(path: str, num_frames: int = -1) -> Any:
    """Return pictures of a film as an array, evenly spaced from the first to the last.

    Args:
        path: The film.
        num_frames: How many; all where it is not above 0.

    Raises:
        DataError: The film cannot be opened, or has fewer pictures than it says.
    """
    cv2 = _now("cv2")
    film = cv2.VideoCapture(path)
    if not film.isOpened():
        raise DataError(f"the film '{path}' cannot be opened")
    total = int(film.get(cv2.CAP_PROP_FRAME_COUNT))
    count = num_frames if num_frames > 0 else total
    wanted = {*np.linspace(0, total - 1, count, dtype=int).tolist()}
    frames = []
    for place in range(total):
        if not film.grab():
            break
        if place in wanted:
            is_read, frame = film.retrieve()
            frames += [frame] if is_read else []
    if len(frames) < count:
        raise DataError(f"the film '{path}' has too few pictures", why=f"{len(frames)} of {count} can be read")
    return np.stack(frames)


def video_to_pil_images_list(path: str, num_frames: int = -1) -> list[Any]:
    """Return pictures of a film as Pillow's; arguments and errors as of :func:`video_to_ndarrays`."""
    from PIL import Image

    frames = _now("video_to_ndarrays")(path, num_frames)
    return [Image.fromarray(np.ascontiguousarray(frame[..., ::-1])) for frame in frames]  # OpenCV has blue first


def image_to_base64(image: Any, fmt: str = "png") -> str:
    """Return a picture as base64."""
    packed = BytesIO()
    image.save(packed, format=fmt)
    return base64.b64encode(packed.getvalue()).decode()


@dataclass(frozen=True)
class VideoAsset:
    """A film.

    Attributes:
        video_path: Where it is.
        num_frames: How many pictures are taken of it; all where it is not above 0.
    """

    video_path: str
    num_frames: int = -1

    @property
    def pil_images(self) -> list[Any]:
        """Its pictures as Pillow's."""
        found: list[Any] = _now("video_to_pil_images_list")(self.video_path, self.num_frames)
        return found

    @property
    def np_ndarrays(self) -> Any:
        """Its pictures as an array."""
        return _now("video_to_ndarrays")(self.video_path, self.num_frames)
