"""Limits for files of rows: unpacked size and depth of nesting.

A few kilobytes can hold terabytes, and libraries that read JSON call themselves for each level, until the process ends.
Both are found out before a library meets a file: packed files are unpacked once into nothing, which stops as soon as
there is too much, and brackets are counted without reading values.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from proctor.errors import DataError, Location
from proctor.foreign_text import DEEPEST
from proctor.safe_files import Stamp, stamp_of

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_RATIO: Final = 200
"""How many times its size a file may unpack to: text shrinks to a tenth, seldom to a hundredth."""

SMALL_BYTES: Final = 1 << 26
"""What any file may unpack to, whatever its ratio: 64 MiB fill neither memory nor disk."""

LARGEST_PICTURE: Final = 89_478_485
"""Pixels of a picture; Pillow warns above it. As red, green and blue they take 256 MiB."""

_BLOCK = 1 << 20  # bytes looked at together: few calls, little memory

_OPENERS: Final[tuple[tuple[bytes, Callable[[str], Any]], ...]] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
"""How packed files begin, whatever they are called, and what unpacks them."""

_JSON_NAME = re.compile(r"\.(?:json|jsonl|ndjson)\b", re.IGNORECASE)
_STEPS = bytes({91: 1, 123: 1, 93: 255, 125: 255}.get(byte, 0) for byte in range(256))
"""What each byte adds to the depth, as signed bytes: ``[`` and ``{`` one, ``]`` and ``}`` minus one."""
_QUOTE, _NEWLINE = b'"\n'


def check_file(path: str | Path, *, is_json: bool | None = None) -> None:
    """Look at a file of rows before a library reads it; a version of a file is looked at once.

    Args:
        path: A file of this machine; what is none, or cannot be read, is left to whoever opens it.
        is_json: Whether its values are JSON; by its name where it is ``None``.

    Raises:
        DataError: It would unpack to more than 200 times its size, or its values are nested more than 200 deep.
    """
    try:
        stamp = stamp_of(path)
    except OSError:
        return
    if Path(path).suffix == ".parquet":
        from proctor.data.parquet_bounds import check_parquet_file

        check_parquet_file(str(path), stamp)
    elif Path(path).is_file():
        is_json = bool(_JSON_NAME.search(Path(path).name)) if is_json is None else is_json
        _check_version(str(path), is_json, stamp)


@lru_cache(maxsize=1024)
def _check_version(path: str, is_json: bool, changed: Stamp) -> None:
    limit = most_bytes(int(changed[1]))
    try:
        with _unpacked(path, is_json=is_json) as streams:
            total = 0
            for blocks in streams:
                total = _look(blocks, path, total, limit, is_json=is_json)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError):
        return  # whoever reads it says what is wrong with it


def most_bytes(packed: int) -> int:
    """Return how many bytes a file of so many bytes may unpack to."""
    return max(SMALL_BYTES, MOST_RATIO * packed)


@contextmanager
def _unpacked(path: str, *, is_json: bool) -> Iterator[Iterable[Iterator[bytes]]]:
    """Open a file, or the files of an archive; yields nothing to look at where it is neither packed nor JSON."""
    with Path(path).open("rb") as file:
        head = file.read(8)
    opener = next((each for start, each in _OPENERS if head.startswith(start)), None)
    if head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as archive:
            yield (_blocks_of(archive.open(each)) for each in archive.infolist() if not each.is_dir())
    elif opener is not None or is_json:
        with (opener or _plain)(path) as file:
            yield (_blocks_of(file),)
    else:
        yield ()


def _plain(path: str) -> IO[bytes]:
    return Path(path).open("rb")


def _blocks_of(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


def _look(blocks: Iterator[bytes], path: str, total: int, limit: int, *, is_json: bool) -> int:
    depth = _Depth()
    for block in blocks:
        total += len(block)
        if total > limit:
            raise too_large(path, limit)
        if is_json and depth.most(block) > DEEPEST:
            raise DataError(f"values of the file are nested more than {DEEPEST} deep", location=Location(path))
    return total


class _Depth:
    """How deep the values of JSON are nested, block after block.

    A line break ends a text, for it cannot be part of one: so a broken line hides nothing of the next.
    """

    def __init__(self) -> None:
        self._level = self._lowest = self._inside = 0
        self._rest = b""

    def most(self, block: bytes) -> int:
        """Return the most levels that are open at once in the next block; for what is not JSON it may be too many."""
        import numpy as np

        data = self._rest + block
        split = len(data) - (len(data) - len(data.rstrip(b"\\"))) % 2  # a sign and its backslash stay together
        data, self._rest = data[:split].replace(b"\\\\", b"").replace(b'\\"', b""), data[split:]
        if not data:
            return 0
        signs = np.frombuffer(data, np.uint8)
        quotes = (signs == _QUOTE).cumsum(dtype=np.int32) + self._inside
        before = np.maximum.accumulate(np.where(signs == _NEWLINE, quotes, 0))
        inside = (quotes - before) & 1
        levels = np.where(inside, 0, np.frombuffer(data.translate(_STEPS), np.int8)).cumsum(dtype=np.int32)
        levels += self._level
        lowest = np.minimum(np.minimum.accumulate(levels), self._lowest)
        self._inside, self._level, self._lowest = int(inside[-1]), int(levels[-1]), int(lowest[-1])
        return int((levels - lowest).max())


def too_large(path: str, limit: int) -> DataError:
    """Return the error of a file that would unpack to more bytes than it may."""
    return DataError(
        f"the file would unpack to more than {limit >> 20} MiB",
        location=Location(path),
        why=f"files of rows may unpack to {MOST_RATIO} times their size",
        hint="unpack it yourself if it is what you want",
    )


# -- pictures ---------------------------------------------------------------------------------------------------------


def check_picture(size: Sequence[int]) -> None:
    """Look at the width and height that a picture says it has, before it is unpacked.

    Raises:
        DataError: It has more pixels than any screen or scanner.
    """
    width, height = cast("tuple[int, int]", tuple(size))
    if width * height > LARGEST_PICTURE:
        raise DataError(
            f"a picture of {width:,} x {height:,} pixels is too large", why=f"{LARGEST_PICTURE:,} pixels are the limit"
        )
