"""One run at a time in a folder.

The lock is one of the operating system's (``flock``) on a file in the folder, so it ends with the process that holds
it, however that ends. Where the file system has no such locks (some network file systems), the file itself is the lock:
its holder touches it again and again, and it is stale when nobody has for a while, or when its process is gone.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from proctor.errors import FolderHeldError
from proctor.running.process_notes import is_gone, own_note
from proctor.safe_files import own_file

LOCK, HELD = ".lock", ".lock.held"
"""The file that is locked, and the file that is the lock where files cannot be locked."""

STALE_SECONDS = 120.0
"""Age of a lock that nobody touched: a machine that is so busy that twelve touches fail is taken for dead."""

_TOUCH_SECONDS = 10.0
_LONGEST_NOTE = 4_096  # bytes: it names a process, a machine and a time
_NOTE_SECONDS = 0.5  # so long may a holder take from locking to writing who it is
_NO_LOCKS = {
    getattr(errno, name, None) for name in ("ENOLCK", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EINVAL", "ENOTTY")
} - {None}
"""What ``flock`` says where the file system has no locks."""

_held: set[int] = set()
"""Handles of locks: a child that this process forks has them too, and would hold them after its parent's end."""


@contextmanager
def locked(folder: Path, log: str = "") -> Iterator[None]:
    """Hold a folder; the block is for one process at a time.

    Args:
        folder: The folder.
        log: Where the run files its answers: told to whoever is refused.

    Raises:
        FolderHeldError: Another run holds it; it says who.
        OSError: The folder cannot be written.
    """
    handle = _flock(folder)
    if handle is None:
        with _held_file(folder, log):
            yield
        return
    _held.add(handle)
    try:
        _write_note(handle, log)
        yield
    finally:
        _held.discard(handle)
        (folder / LOCK).unlink(missing_ok=True)  # while it is ours: whoever waits looks for the new file
        os.close(handle)


def _flock(folder: Path) -> int | None:
    """Lock the file; return its handle, ``None`` where there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    while True:
        handle = own_file(folder / LOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            if error.errno in _NO_LOCKS:
                (folder / LOCK).unlink(missing_ok=True)
                return None
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
            raise _refusal(folder, folder / LOCK) from None
        if _is_same(handle, folder / LOCK):
            return handle
        os.close(handle)  # its holder has just ended and removed the file


def _is_same(handle: int, path: Path) -> bool:
    try:
        found, mine = path.lstat(), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)


@contextmanager
def _held_file(folder: Path, log: str) -> Iterator[None]:
    path = folder / HELD
    handle = _made(path)
    if handle is None:
        _remove_stale(folder, path)
        handle = _made(path)
    if handle is None:
        raise _refusal(folder, path)
    ended = threading.Event()
    try:
        _write_note(handle, log)
        threading.Thread(target=_touch, args=(handle, ended), name="proctor-lock", daemon=True).start()
        yield
    finally:
        ended.set()
        if _is_same(handle, path):
            path.unlink(missing_ok=True)
        os.close(handle)


def _made(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
    except FileExistsError:
        return None


def _touch(handle: int, ended: threading.Event) -> None:
    while not ended.wait(_TOUCH_SECONDS):
        with suppress(OSError):
            os.utime(handle)


def _remove_stale(folder: Path, path: Path) -> None:
    """Remove the file of a holder that is gone: moved away first, so that a new holder's is not hit."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not (is_gone(_note(path)) or _now(folder) - found.st_mtime > STALE_SECONDS):
        return
    grave = path.with_name(f"{HELD}.{secrets.token_hex(8)}")
    with suppress(FileNotFoundError):
        path.rename(grave)
        moved = grave.lstat()
        if (moved.st_ino, moved.st_mtime_ns) != (found.st_ino, found.st_mtime_ns):
            with suppress(OSError):
                os.link(grave, path, follow_symlinks=False)
        grave.unlink()


def _now(folder: Path) -> float:
    """Return the time as the file system has it: machines that share one may disagree."""
    path = folder / f"{HELD}.{secrets.token_hex(8)}"
    handle = _made(path)
    if handle is None:
        return time.time()
    try:
        return os.fstat(handle).st_mtime
    finally:
        os.close(handle)
        path.unlink(missing_ok=True)


def _write_note(handle: int, log: str) -> None:
    os.ftruncate(handle, 0)
    os.pwrite(handle, own_note(log).encode(), 0)


def _note(path: Path) -> dict[str, Any]:
    """Return what a lock file says; nothing where it says nothing that can be read."""
    until = time.monotonic() + _NOTE_SECONDS
    while True:
        with suppress(OSError, ValueError, RecursionError):
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                found = json.loads(os.read(handle, _LONGEST_NOTE))
            finally:
                os.close(handle)
            return found if isinstance(found, dict) else {}
        if time.monotonic() > until or not path.exists():
            return {}
        time.sleep(0.01)


def _refusal(folder: Path, path: Path) -> FolderHeldError:
    note = _note(path)
    pid, host, since = note.get("pid"), note.get("host"), note.get("since")
    known = isinstance(pid, int) and isinstance(host, str) and isinstance(since, str)
    who = "its process has not said which one it is"
    if known:
        who = f"process {pid} on {str(host)[:100]} since {str(since)[:40]}"
    found = FolderHeldError(
        f"another run is going on in the folder {folder}",
        why=who,
        hint="wait for it or end it; or choose another folder with --output",
    )
    found.log = str(note.get("log") or "")
    return found


def _forget_in_child() -> None:
    """Leave the locks to the parent alone."""
    for handle in _held:
        with suppress(OSError):
            os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
