"""The functions of ``mmengine`` for files of values, which programs for AISBench and OpenCompass call."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from proctor.errors import DataError
from proctor.foreign_text import parse_json
from proctor.safe_files import opened, write_text

_YAML = (".yaml", ".yml")


def load(file: Any, file_format: str | None = None) -> Any:
    """Return the values of a JSON or YAML file.

    Args:
        file: Its path.
        file_format: Its kind, where its name does not say it.

    Raises:
        DataError: It is neither; a pickle, which may run code, is not read.
        OSError: It cannot be read.
    """
    with opened(file) as stream:
        text = stream.read().decode("utf-8")
    return yaml.safe_load(text) if _kind(file, file_format) in _YAML else parse_json(text)


def dump(obj: Any, file: Any = None, file_format: str | None = None, **options: Any) -> str | None:
    """Write values to a JSON or YAML file; without a file return them as text.

    Args:
        obj: The values.
        file: Its path.
        file_format: Its kind, where its name does not say it.
        **options: Of ``json.dumps`` or ``yaml.safe_dump``.

    Raises:
        DataError: It is neither JSON nor YAML.
        OSError: It cannot be written.
    """
    is_yaml = _kind(file or "", file_format) in _YAML
    text = yaml.safe_dump(obj, **options) if is_yaml else json.dumps(obj, **options)
    if file is None:
        return text
    write_text(Path(file), text)
    return None


def mkdir_or_exist(dir_name: str, mode: int = 0o777) -> None:
    """Make a folder and those above it, where they are not there; nothing for an empty name."""
    if dir_name:
        os.makedirs(os.path.expanduser(dir_name), mode=mode, exist_ok=True)  # noqa: PTH103, PTH111 - as upstream


def _kind(file: Any, file_format: str | None) -> str:
    kind = f".{file_format}" if file_format else Path(file).suffix.lower()
    if kind not in (".json", *_YAML):
        raise DataError(
            f"'{file}' is neither JSON nor YAML", why=f"its kind is '{kind}'", hint="say file_format='json' or 'yaml'"
        )
    return kind


def is_npu_available() -> bool:
    """Whether this machine has Ascend's accelerators: whether ``torch_npu`` is installed and finds one."""
    if find_spec("torch_npu") is None:
        return False
    import torch
    import torch_npu  # type: ignore[import-not-found]  # noqa: F401 - gives torch its ``npu``

    return bool(torch.npu.is_available())


def is_main_process() -> bool:
    """Whether this is the first of several processes that work together: here there is one."""
    return True
