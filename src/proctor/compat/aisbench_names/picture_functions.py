"""Functions of AISBench's exams with pictures (``ais_bench.benchmark.datasets.mmmu``), as programs call them.

Loaders here read tables with functions of their own; a program that replaces one of these changes what it calls itself.
"""
# ruff: noqa: PTH110, PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import os
import string
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.dataset_helpers import decode_base64_to_image_file, toliststr
from proctor.errors import DataError

_NAMED = "<image "


def build_choices(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a row: the columns that are called like capital letters and are not empty."""
    return {
        letter: item[letter] for letter in string.ascii_uppercase if letter in item and not _is_missing(item[letter])
    }


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 - what is not a number


def split_MMMU(msgs: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:  # noqa: N802 - upstream's name
    """Return parts of a message with pictures where ``<image 1>`` names them; as they are where none is named.

    Args:
        msgs: Parts: pictures, and one text.

    Raises:
        DataError: There is no text, or it names a picture that is not there.
    """
    pictures = [each["image_url"] for each in msgs if each["type"] == "image_url"]
    texts = [each["text"] for each in msgs if each["type"] == "text"]
    if not texts:
        raise DataError("a message needs a text", why=f"it has {len(pictures)} pictures alone")
    first, *others = texts[-1].split(_NAMED)
    if not others:
        return msgs
    parts: list[dict[str, Any]] = [{"type": "text", "text": first}]
    for other in others:
        if not other[:1].isdigit() or not 0 < int(other[0]) <= len(pictures):
            raise DataError(
                "a text names a picture that is not there", why=f"'{_NAMED}{other[:10]}' of {len(pictures)}"
            )
        parts += [{"type": "image_url", "image_url": pictures[int(other[0]) - 1]}, {"type": "text", "text": other[2:]}]
    return parts


def dump_image(line: Mapping[str, Any], image_root_path: str) -> list[str]:
    """Write the pictures of a row, which are base64, to files that are not there yet; return where they are.

    Args:
        line: The row: ``image``, one or several, named by ``image_path`` or by ``index``; or ``image_path`` alone.
        image_root_path: The folder.

    Raises:
        DataError: A picture is not base64.
        OSError: A file cannot be written.
    """
    if "image" not in line:
        paths = toliststr(line["image_path"])
        return paths if all(map(os.path.exists, paths)) else [os.path.join(image_root_path, each) for each in paths]
    packed = line["image"]
    if isinstance(packed, list):
        names = line.get("image_path") or [f"{line['index']}_{place}.png" for place in range(len(packed))]
    else:
        packed, names = [packed], [line.get("image_path") or f"{line['index']}.jpg"]
    paths = [os.path.join(image_root_path, name) for name in names]
    for picture, path in zip(packed, paths, strict=False):
        if not os.path.exists(path):
            decode_base64_to_image_file(picture, path)
    return paths[: len(packed)]


def sort_key(item: tuple[str, Any]) -> tuple[int, int, str]:
    """Return where a line of MMMU's results belongs: by split (validation, dev, others), the overall score first."""
    key = item[0]
    split = next((place for place, name in enumerate(("[validation]", "[dev]")) if key.startswith(name)), 2)
    task = key.split(": ", 1)[1]
    return split, int(task != "Overall"), task
