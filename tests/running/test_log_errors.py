"""What SQLite and the system say of a response log, in words that say what to do."""

import errno
import sqlite3

import pytest

from proctor.errors import LogError
from proctor.running.log_errors import log_errors


def sqlite(code, text="x"):
    error = sqlite3.OperationalError(text)
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    "error, why, hint",
    [
        (sqlite(sqlite3.SQLITE_FULL), "the disk is full (x)", "free some space"),
        (sqlite(sqlite3.SQLITE_IOERR | 7 << 8), "the disk refuses to read or write (x)", "check the disk"),
        (sqlite(sqlite3.SQLITE_BUSY), "another process has held it for 60 seconds (x)", "wait for that process"),
        (sqlite(sqlite3.SQLITE_CORRUPT), "the file is damaged (x)", "proctor log verify"),
        (sqlite(sqlite3.SQLITE_READONLY), "it may not be written (x)", "change its permissions"),
        (sqlite(sqlite3.SQLITE_CANTOPEN), "it cannot be opened (x)", "check that its folder exists"),
        (sqlite(sqlite3.SQLITE_NOTADB), "it is not a SQLite file (x)", "name another file"),
        (sqlite(sqlite3.SQLITE_TOOBIG, "too big"), "too big", "proctor log verify --log PATH checks the file"),
        (sqlite(None, "no code"), "no code", "proctor log verify --log PATH checks the file"),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"), "the file is damaged", "proctor log verify"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device", "check that its folder exists"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a.db"),
            "Permission denied",
            "check that its folder exists",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "a"),
            "Permission denied (a)",
            "check that its folder exists",
        ),
    ],
)
def test_what_went_wrong_and_what_to_do(error, why, hint):
    with pytest.raises(LogError) as raised, log_errors("a.db"):
        raise error
    (problem,) = raised.value.diagnostics
    assert (problem.what, problem.why.lower()) == ("the response log a.db cannot be used", why.lower())
    assert problem.hint.startswith(hint)
    assert raised.value.__cause__ is error


def test_other_errors_pass():
    with pytest.raises(ValueError, match="other"), log_errors("a.db"):
        raise ValueError("other")
