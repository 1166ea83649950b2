"""Turns SQLite and OS errors about a response log into actionable messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.errors import LogError, reason_of

# A commit of another process takes milliseconds, emptying a long journal on a slow disk many seconds.
BUSY_SECONDS = 60.0
"""How long another process may hold a log."""

SAVE = "proctor log verify --salvage NEW.db --log PATH copies what can be read"
"""What to do about a damaged file."""

_WHY: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "free some space and run the same command again; every answer stored so far is kept and not asked again",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk refuses to read or write",
        "check the disk and its quota, then run the same command again; every answer stored so far is kept",
    ),
    sqlite3.SQLITE_READONLY: (
        "it may not be written",
        "change its permissions and those of its folder, or choose another file with --log PATH",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened",
        "check that its folder exists and may be written, or choose another file with --log PATH",
    ),
    sqlite3.SQLITE_BUSY: (
        f"another process has held it for {BUSY_SECONDS:.0f} seconds",
        "wait for that process or end it, then run the same command again",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged",
        "proctor log verify --log PATH says what can be saved; or move the file away and run again with a new one",
    ),
    sqlite3.SQLITE_NOTADB: (
        "it is not a SQLite file",
        "name another file with --log PATH; a new one is made by itself",
    ),
}


DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises; the second where SQLite's message quotes the damage."""


@contextmanager
def log_errors(path: Path | str) -> Iterator[None]:
    """Turn what SQLite and the file system report into a :class:`LogError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        why, hint = _WHY.get(code, ("", "proctor log verify --log PATH checks the file"))
        why = f"{why} ({error})" if why else str(error)
        raise LogError(f"the response log {path} cannot be used", why=why, hint=hint) from error
    except UnicodeDecodeError as error:
        why, hint = _WHY[sqlite3.SQLITE_CORRUPT]
        raise LogError(f"the response log {path} cannot be used", why=why, hint=hint) from error
    except OSError as error:
        raise LogError(
            f"the response log {path} cannot be used",
            why=f"{reason_of(error)}{'' if error.filename in (None, str(path)) else f' ({error.filename})'}",
            hint="check that its folder exists and may be written, or choose another file with --log PATH",
        ) from error
