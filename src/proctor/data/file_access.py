"""File access for data folders; programs may replace the file system.

Everything that reads rows asks :func:`access`. A program that replaces ``open`` (tests do) says so with
:func:`reached_by`, and every loader below reads what the program gives it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from proctor.data.fields import Row


class FileAccess:
    """The disk. A subclass is another place to read from."""

    def exists(self, path: Path) -> bool:
        """Whether there is a file or a folder of this name."""
        return path.exists()

    def is_file(self, path: Path) -> bool:
        """Whether there is a file of this name."""
        return path.is_file()

    def opened(self, path: Path, encoding: str | None = "utf-8", errors: str = "strict") -> IO[str]:
        """Open a file of text.

        Raises:
            OSError: It cannot be opened.
        """
        return path.open(encoding=encoding, errors=errors)

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file.

        Raises:
            OSError: It cannot be read.
        """
        return path.read_bytes()

    def parquet(self, path: Path) -> Iterator[Row]:
        """Yield the rows of a parquet file.

        Raises:
            DataError: It is none.
        """
        from proctor.data.hub import read_parquet

        return read_parquet([str(path)])

    def names(self, folder: Path) -> list[str]:
        """Return the names in a folder, sorted.

        Raises:
            OSError: There is no such folder.
        """
        return sorted(os.listdir(folder))  # noqa: PTH208 - names, not places


_DISK = FileAccess()
_ACCESS: ContextVar[FileAccess] = ContextVar("file access", default=_DISK)


def access() -> FileAccess:
    """Return how files are reached here."""
    return _ACCESS.get()


@contextmanager
def reached_by(other: FileAccess) -> Iterator[None]:
    """Let everything in this block read through something else."""
    token = _ACCESS.set(other)
    try:
        yield
    finally:
        _ACCESS.reset(token)
