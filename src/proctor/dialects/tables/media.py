"""Pictures and sounds of a table: files beside it, addresses, or what a row has of them in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from proctor.dialects.tables.reader import Row
from proctor.errors import DataError
from proctor.foreign_text import parse_json

_ELSEWHERE = ("http://", "https://", "data:")


def media_in(row: Row, column: str) -> list[Any]:
    """Return the pictures or sounds of a cell: none, one, or a list (JSON text of one, too)."""
    cell = row.get(column)
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        with suppress(ValueError):  # a file may have such a name
            cell = parse_json(cell)
    entries = cell if isinstance(cell, list | tuple) else [cell]
    return [each for each in entries if each is not None and each != ""]


def media_of_row(row: Row, column: str, folder: str) -> list[Any]:
    """Return the pictures or sounds of a row, files as data URLs: answers are filed by what a model is shown.

    Args:
        row: The row.
        column: Where they are.
        folder: The folder of the table, in which files are.

    Raises:
        DataError: A file is elsewhere, is not there, or cannot be read.
    """
    return [_whole(each, column, Path(folder)) for each in media_in(row, column)]


def _whole(entry: Any, column: str, folder: Path) -> Any:
    if isinstance(entry, Mapping) and not entry.get("bytes") and entry.get("path"):
        entry = entry["path"]
    if not isinstance(entry, str) or entry.startswith(_ELSEWHERE):
        return entry
    path, root = (folder / entry).resolve(), folder.resolve()
    if not path.is_relative_to(root):
        raise DataError(
            f"the column '{column}' names '{entry}', which is not in the table's folder", hint=f"move it into {folder}"
        )
    if not path.is_file():
        raise DataError(f"the column '{column}' names '{entry}', and there is no such file", why=f"looked in {folder}")
    return _inlined(path)


def _inlined(path: Path) -> str:
    from proctor.engines.http.inline_media import film_url, image_url  # which most tables do not need
    from proctor.engines.http.retrying_client import CallError

    try:
        is_sound = (guess_type(path.name)[0] or "").startswith("audio/")
        return film_url("audio", path) if is_sound else image_url(path)
    except CallError as error:
        raise DataError(error.failure.message) from None
