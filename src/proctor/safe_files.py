"""Safe writing and reading of files in folders that somebody else may have filled.

A folder that was cloned or unpacked may hold links, pipes and odd names where files are about to be written. So every
file is written under a name that nobody can know, in its own folder, and then takes its place in one step: what was
there (a link, a pipe, a hard link to a file elsewhere) is replaced, and never written through. It appears whole or not
at all. Reading follows no link out of the folder, and waits for no pipe.

All of this raises :class:`OSError`; whoever calls knows what to say about it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_LONGEST_STEM = 48  # characters of a name, at most 192 bytes: with the rest of the name below the 255 of file systems
_RANDOM_BYTES = 8
_PART = ".part"
_TICK_NANOSECONDS = 2_000_000_000
"""The longest time for which the clock of a file system stands still: FAT's; that of ext4 does for 4 to 10 ms."""
_MOST_LOOKED_INTO = 16 << 20  # bytes of a file whose content tells a change; a longer one counts as changed for so long
Stamp = tuple[int | str, ...]
"""Equal as long as a file is the same: nanoseconds of its last change, its bytes, and what tells it from others."""
_STREAMS = ("/dev", "/proc")
"""Where names of devices and open files lie (``/dev/stdout``): they are written to, and never replaced."""


@contextmanager
def written(path: str | os.PathLike[str], *, durable: bool = False, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file that takes its place when the block ends well, and leaves nothing behind where it does not.

    Args:
        path: The file. What is there is replaced; a link is replaced, too, not followed.
        durable: Whether it would outlive a power loss when this returns.
        mode: Its permissions, less the user's mask.

    Raises:
        OSError: It cannot be written, or there is a folder of this name.
    """
    place = Path(path)
    part, handle = _new_part(place, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, durable: bool = False, mode: int = 0o666) -> None:
    """Write a file as :func:`written` does."""
    with written(path, durable=durable, mode=mode) as file:
        file.write(data)


def write_text(path: str | os.PathLike[str], text: str, *, durable: bool = False, mode: int = 0o666) -> None:
    """Write a UTF-8 text as :func:`written` does."""
    write_bytes(path, text.encode("utf-8"), durable=durable, mode=mode)


@contextmanager
def written_for_user(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that the user named, as :func:`written` does; a stream (``/dev/stdout``, a pipe) is written to.

    Raises:
        OSError: It cannot be written, or is a device of another kind.
    """
    place = Path(path)
    if not _is_stream(place):
        with written(place) as file:
            yield file
        return
    handle = os.open(place, os.O_WRONLY | _NO_WAITING | _BINARY)  # a pipe that nobody reads is an error, not a wait
    with suppress(AttributeError):  # not on Windows
        os.set_blocking(handle, True)
    with os.fdopen(handle, "wb", buffering=0) as raw:
        yield raw


def write_for_user(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text as :func:`written_for_user` does; lone surrogates become escapes."""
    with written_for_user(path) as file:
        data = memoryview(text.encode("utf-8", "backslashreplace"))
        while data:
            data = data[file.write(data) :]


def _is_stream(place: Path) -> bool:
    """Whether a path that the user named is a pipe, or something below ``/dev`` or ``/proc``."""
    with suppress(OSError):
        if stat.S_ISFIFO(place.lstat().st_mode):
            return True
    absolute = Path(os.path.abspath(place))  # noqa: PTH100 - links are what is asked about
    if not any(absolute.is_relative_to(root) for root in _STREAMS) or absolute.is_relative_to("/dev/shm"):  # noqa: S108
        return False
    kind = absolute.stat().st_mode
    if stat.S_ISBLK(kind) or stat.S_ISDIR(kind):
        raise OSError(errno.EINVAL, "it is a device or a folder", str(place))
    return True


def _new_part(place: Path, mode: int) -> tuple[Path, int]:
    """Make a file of a name that nobody can know beside a place; return its path and a handle."""
    if place.is_dir() and not place.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    while True:
        part = place.with_name(f".{place.name[:_LONGEST_STEM]}.{secrets.token_hex(_RANDOM_BYTES)}{_PART}")
        with suppress(FileExistsError):
            return part, os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_LINKS | _BINARY, mode)


def remove_leftovers(place: str | os.PathLike[str]) -> None:
    """Remove what processes that were killed left of a file that they were writing with :func:`written`.

    To be called only where nobody else can be writing it.
    """
    path = Path(place)
    for each in path.parent.iterdir():
        if is_part_of(str(each), str(path)):
            with suppress(OSError):
                each.unlink()


def is_part_of(path: str, place: str) -> bool:
    """Whether a path is that of a file which :func:`written` makes before it takes a place."""
    folder, name = os.path.split(place)
    beside, found = os.path.split(path)
    begin = f".{name[:_LONGEST_STEM]}."
    is_one = found.startswith(begin) and found.endswith(_PART)
    return is_one and beside == folder and len(found) == len(begin) + 2 * _RANDOM_BYTES + len(_PART)


def scratch(folder: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading and writing that has no name, and is gone when it is closed or the process ends."""
    part, handle = _new_part(Path(folder) / "scratch", 0o600)
    part.unlink()
    return os.fdopen(handle, "w+b")


def subfolder(root: str | os.PathLike[str], *names: str) -> Path:
    """Return a folder below another, made where it is missing; the other may be a link, what is below it may not.

    Raises:
        OSError: A name is not that of one folder, or belongs to a link or a file.
    """
    place = Path(root)
    place.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name in ("", ".", "..") or Path(name).name != name:
            raise OSError(errno.EINVAL, "it is not the name of a folder", name)
        place = place / name
        with suppress(FileExistsError):
            place.mkdir()
        if not stat.S_ISDIR(place.lstat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "it is a link or a file, where a folder belongs", str(place))
    return place


def own_file(path: str | os.PathLike[str], flags: int = 0) -> int:
    """Open a file that is kept (a lock) for reading and writing, made where it is missing; return a handle.

    A link, a pipe or a file that has a second name elsewhere is removed, and a new file made in its place.

    Raises:
        OSError: There is a folder of this name, or it cannot be written.
    """
    place = Path(path)
    for _ in range(10):  # whoever puts links there faster than that is not to be outrun
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | flags | _NO_LINKS | _NO_WAITING | _BINARY, 0o666)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENXIO, errno.EMLINK):
                raise
        else:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
                return handle
            os.close(handle)
        place.unlink(missing_ok=True)
    raise OSError(errno.EEXIST, "it is not a file of its own", str(place))


def opened(path: str | os.PathLike[str], within: str | os.PathLike[str] | None = None) -> BinaryIO:
    """Open a file for reading; a pipe or a device is not waited for.

    Args:
        path: The file.
        within: The folder that links may not lead out of.

    Raises:
        OSError: It cannot be read, is not a file, or lies elsewhere.
    """
    place = Path(path)
    if within is not None:
        root, place = Path(within).resolve(), place.resolve(strict=True)
        if not place.is_relative_to(root):
            raise OSError(errno.EPERM, "it is a link that leads out of its folder, and is not followed", str(path))
    handle = os.open(place, os.O_RDONLY | _NO_WAITING | _BINARY)
    kind = os.fstat(handle).st_mode
    if not stat.S_ISREG(kind):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return os.fdopen(handle, "rb")


def read_bytes(path: str | os.PathLike[str], limit: int, within: str | os.PathLike[str] | None = None) -> bytes:
    """Return the content of a file as :func:`opened` opens it.

    Raises:
        OSError: It cannot be read, or has more bytes than ``limit``.
    """
    with opened(path, within) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"it has more than {limit >> 20} MiB", str(path))
    return data


def stamp_of(path: str | os.PathLike[str], seen: os.stat_result | None = None) -> Stamp:
    """Return what a file, or a folder, has in common with itself as long as nobody changes it.

    The clocks of file systems stand still between two ticks, some for two seconds. What was changed so lately may be
    changed once more without another time or size: its content counts as well, of a folder the names in it.

    Args:
        path: The file or folder.
        seen: What ``os.stat`` said of it, where that is known.

    Raises:
        OSError: There is none.
    """
    seen = seen or os.stat(path)  # noqa: PTH116 - thousands of files: no Path for each
    is_settled = time.time_ns() - seen.st_mtime_ns > _TICK_NANOSECONDS
    return _times(seen) if is_settled else (*_times(seen), _content(path, seen))


def is_unchanged(path: str | os.PathLike[str], since: Stamp) -> bool:
    """Return whether a file is as it was when it had a stamp; one that is not there has ``()``."""
    try:
        seen = os.stat(path)  # noqa: PTH116 - thousands of files: no Path for each
        now = _times(seen)
        return since == (now if len(since) <= len(now) else (*now, _content(path, seen)))
    except OSError:
        return not since


def _times(seen: os.stat_result) -> tuple[int, ...]:
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _content(path: str | os.PathLike[str], seen: os.stat_result) -> str:
    if stat.S_ISDIR(seen.st_mode):
        return repr(sorted(each.name for each in Path(path).iterdir()))
    with suppress(OSError), opened(path) as file:
        if seen.st_size <= _MOST_LOOKED_INTO:
            return blake2b(file.read(), digest_size=16).hexdigest()
    return str(time.time_ns())


def append_line(path: str | os.PathLike[str], line: bytes) -> None:
    """Write a line behind those of a file that is kept, made where it is missing; one that was cut off ends first.

    Lines of several processes at once stand one after the other.
    """
    with os.fdopen(own_file(path, os.O_APPEND), "r+b") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - 1, 0))
        torn = b"\n" if file.read(1) not in (b"", b"\n") else b""  # by a power loss
        file.write(torn + line + b"\n")
