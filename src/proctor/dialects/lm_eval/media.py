"""Pictures and sounds of documents, as prompts carry them."""

from __future__ import annotations

import wave
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Literal

from proctor.data.media_types import data_url
from proctor.errors import DataError
from proctor.ir import Media
from proctor.safe_python.plain import held

_SAMPLE_BYTES = 2
_LOUDEST = 32767
"""The largest number of two bytes with a sign: what a sample of 1 becomes."""


def media_of(kind: Literal["image", "audio"], found: Any) -> list[Media]:
    """Return what ``doc_to_image`` or ``doc_to_audio`` found: one, several, or none."""
    seen = held(found)
    if seen is None:
        return []
    return [Media(kind, _source(kind, each)) for each in (seen if isinstance(seen, list) else [seen])]


def _source(kind: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        content, path = value.get("bytes"), value.get("path")
        if content:
            return data_url(kind, bytes(content))
        if kind == "audio" and "array" in value and "sampling_rate" in value:
            return data_url(kind, _wav(value["array"], value["sampling_rate"]))
        if path:
            return str(path)
    if isinstance(value, bytes):
        return data_url(kind, value)
    if hasattr(value, "save"):
        file = BytesIO()
        value.save(file, format="PNG")
        return data_url(kind, file.getvalue())
    raise DataError(
        f"{kind} is {type(value).__name__}, which cannot be sent",
        hint="give a path, a URL, bytes, a picture, or a sound as array and sampling_rate",
    )


def _wav(samples: Any, rate: Any) -> bytes:
    """Return a sound as a file: numbers from -1 to 1, in one channel, as ``datasets`` decodes them."""
    import numpy as np

    try:
        numbers, frequency = np.asarray(samples, dtype=np.float64), int(rate)
    except (TypeError, ValueError) as error:
        raise DataError("the samples of a sound are not numbers", why=str(error)) from None
    if numbers.ndim != 1 or frequency <= 0:
        raise DataError("a sound is not one channel of samples", why=f"its shape is {numbers.shape}, its rate {rate}")
    file = BytesIO()
    with wave.Wave_write(file) as sound:
        sound.setnchannels(1)
        sound.setsampwidth(_SAMPLE_BYTES)
        sound.setframerate(frequency)
        sound.writeframes((np.clip(numbers, -1, 1) * _LOUDEST).astype("<i2").tobytes())
    return file.getvalue()
