"""Files and environment variables that a source file may see: texts beside itself, nothing secret."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from proctor import foreign_text
from proctor.safe_python.budget import Budget, RefusalError
from proctor.safe_python.scope import SourceFile
from proctor.secrets import is_secret, keep

MAX_FILE = 8 << 20
"""Bytes of one file."""

_READING = frozenset({"r", "rt", "tr"})
# Those of the data sets there are; others (zlib, idna) do more than decode.
_ENCODINGS = frozenset({"utf-8", "utf8", "utf-8-sig", "ascii", "latin-1", "gbk", "gb18030"})


class TextFile:
    """A file that a config opened; it was read whole."""

    __slots__ = ("_lines", "name")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._lines = text.splitlines(keepends=True)[::-1]

    def read(self) -> str:
        """Return the rest of the text."""
        text = "".join(reversed(self._lines))
        self._lines.clear()
        return text

    def readline(self) -> str:
        """Return the next line with its end, or an empty text."""
        return self._lines.pop() if self._lines else ""

    def readlines(self) -> list[str]:
        """Return the lines that are left."""
        return [*self]

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if not self._lines:
            raise StopIteration
        return self._lines.pop()


def open_text(module: SourceFile, name: object, mode: object, encoding: object, budget: Budget) -> TextFile:
    """Open a text file in the folder of a config or below.

    Raises:
        RefusalError: The file is elsewhere, or would be written.
        FileNotFoundError: There is none.
    """
    if mode not in _READING:
        raise RefusalError(f"opens a file with mode {mode!r}")
    if encoding is not None and str(encoding).lower() not in _ENCODINGS:
        raise RefusalError(f"opens a file with encoding {encoding!r}")
    path = inside(module, name)
    text = read_source(path).decode(str(encoding or "utf-8")).replace("\r\n", "\n").replace("\r", "\n")
    budget.hold_text(2 * len(text))
    module.files.append(path)
    return TextFile(str(name), text)


def inside(module: SourceFile, name: object) -> Path:
    """Return the real path of a file that a config names.

    Raises:
        RefusalError: It lies outside the folder of the config, perhaps through a link.
    """
    if not isinstance(name, str):
        raise RefusalError("opens something that is not a path")
    try:
        path = Path(name).resolve()
    except (OSError, ValueError, RuntimeError):
        raise RefusalError(f"opens {name!r}, which is not a path") from None
    if not path.is_relative_to(module.folder.resolve()):
        raise RefusalError(f"looks at {name!r}, which is outside the folder of the config")
    return path


def read_source(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        RefusalError: It is larger than any config.
    """
    try:
        return foreign_text.read_source(path, MAX_FILE)
    except foreign_text.TooLargeError:
        raise RefusalError(f"reads '{path}', which has more than {MAX_FILE >> 20} MiB") from None


def variable(module: SourceFile, name: object) -> str | None:
    """Return an environment variable, ``None`` where it is not set.

    Raises:
        RefusalError: It is set and not among those that configs may read.
    """
    if not isinstance(name, str):
        raise TypeError(f"str expected, not {type(name).__name__}")
    value = os.environ.get(name)
    named = os.environ.get("PROCTOR_CONFIG_ENV", "").split(",")
    if value is not None and name not in module.readable and name not in (each.strip() for each in named):
        raise RefusalError(f"reads the environment variable '{name}', which PROCTOR_CONFIG_ENV does not allow")
    if is_secret(name):
        keep(value)
    module.variables[name] = value
    return value
