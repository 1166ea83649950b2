"""The response log: every answer a model ever gave, filed by what was asked of whom.

One SQLite file. An answer is filed under (engine identity, request key, repeat) and never changes; a failure is filed
beside the answers and gives way to an answer when one comes. Any number of processes may read and write at once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from proctor.errors import LogError
from proctor.ir import Response
from proctor.running.codec import decode, encode
from proctor.settings import settings

SCHEMA_VERSION = 1
"""Kept in ``PRAGMA user_version``; a log with a higher number was written by a newer Proctor."""

_APPLICATION_ID = 0x50524354  # "PRCT": by it ``file`` and we tell a log from other SQLite files
# A commit of another process takes milliseconds, emptying a long journal on a slow disk many seconds.
_BUSY_SECONDS = 60.0
_KEYS_PER_QUERY = 500  # SQLite before 3.32 takes 999 variables in a statement
# Room for the keys of a million responses, which are looked up in random order; SQLite's own 2 MB are not.
_CACHE_KIB = 65_536
_SCHEMA = (
    """CREATE TABLE engines (
        id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, label TEXT NOT NULL, config TEXT NOT NULL,
        created REAL NOT NULL)""",
    """CREATE TABLE responses (
        id INTEGER PRIMARY KEY, engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL,
        at INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX responses_by_key ON responses (engine, request, repeat)",
    """CREATE TABLE failures (
        engine INTEGER NOT NULL, request BLOB NOT NULL, repeat INTEGER NOT NULL, at INTEGER NOT NULL,
        body BLOB NOT NULL, PRIMARY KEY (engine, request, repeat)) WITHOUT ROWID""",
)


class Key(NamedTuple):
    """What an answer is filed under, for one engine: the request's content key as bytes, and the repeat."""

    request: bytes
    repeat: int = 0

    @classmethod
    def of(cls, request_key: str, repeat: int = 0) -> Key:
        """Return the key of a request whose content key is given in hexadecimal."""
        return cls(bytes.fromhex(request_key), repeat)


@dataclass(frozen=True, slots=True)
class LogStats:
    """Counts of a log; ``size_bytes`` is the main file without its write-ahead file."""

    responses: int
    failures: int
    engines: int
    size_bytes: int


def default_log_path() -> Path:
    """Return where the log lives unless somebody says otherwise: ``responses.db`` in the cache folder."""
    return Path(settings.cache_dir) / "responses.db"


class ResponseLog:
    """An open response log. It may be used from several threads; each process opens its own.

    Args:
        path: The file; it and its folders are made where they are missing.
        read_only: Never write; the file must exist.

    Raises:
        LogError: The file is not a response log, is damaged, was written by a newer version, or cannot be opened.
    """

    def __init__(self, path: str | Path | None = None, *, read_only: bool = False) -> None:
        self.path = Path(path) if path is not None else default_log_path()
        self.read_only = read_only
        self._lock = threading.RLock()
        self._connection = self.connect()
        try:
            with log_errors(self.path):
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    # -- opening ----------------------------------------------------------------------------------------------

    def connect(self) -> sqlite3.Connection:
        """Return a further connection to the same file, for a thread of its own."""
        with log_errors(self.path):
            if self.read_only:
                return self._open(f"{self.path.absolute().as_uri()}?mode=ro")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._open(self.path.absolute().as_uri())
            try:
                _write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                connection.close()
                raise
            return connection

    @staticmethod
    def _open(uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        except BaseException:  # a damaged file shows here first
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        if self._version() == 0 and not self.read_only:
            with transaction(self._connection):
                if self._version() == 0:
                    self._create()
        version = self._version()
        if self._pragma("application_id") != _APPLICATION_ID:
            raise LogError(
                f"{self.path} is not a response log", hint="name another file with --log; a new one is made by itself"
            )
        if version > SCHEMA_VERSION:
            raise LogError(
                f"the response log {self.path} was written by a newer Proctor",
                why=f"its format is version {version}, this Proctor reads up to {SCHEMA_VERSION}",
                hint="upgrade with: pip install -U proctor, or start another log with --log PATH",
            )

    def _create(self) -> None:
        if self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        for statement in _SCHEMA:
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _version(self) -> int:
        return self._pragma("user_version")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    # -- engines ----------------------------------------------------------------------------------------------

    def engine_number(self, identity: str, label: str = "", config: dict[str, Any] | None = None) -> int:
        """Return the number under which this log files an engine's answers, entering the engine where it is new."""
        with self._guard() as connection:
            query = "SELECT id FROM engines WHERE identity = ?"
            row = connection.execute(query, (identity,)).fetchone()
            if row is None:
                with transaction(connection):
                    connection.execute(
                        "INSERT OR IGNORE INTO engines (identity, label, config, created) VALUES (?, ?, ?, ?)",
                        (identity, label, json.dumps(config or {}, sort_keys=True, default=str), time.time()),
                    )
                row = connection.execute(query, (identity,)).fetchone()
            return int(row[0])

    # -- reading ----------------------------------------------------------------------------------------------

    def has_many(self, engine: int, keys: Sequence[Key], *, failures: bool = False) -> set[Key]:
        """Return those keys that have an answer (or, if asked, a failure)."""
        found = {Key(*row) for row in self._select("request, repeat", "responses", engine, keys)}
        if failures:
            found.update(Key(*row) for row in self._select("request, repeat", "failures", engine, keys))
        return found.intersection(keys)

    def get_many(self, engine: int, keys: Sequence[Key], *, failures: bool = False) -> dict[Key, Response]:
        """Return the answers there are, by key; failures fill in where there is no answer, if asked for."""
        columns = "request, repeat, body"
        found = {
            Key(request, repeat): body for request, repeat, body in self._select(columns, "responses", engine, keys)
        }
        if failures and (missing := [key for key in keys if key not in found]):
            for request, repeat, body in self._select(columns, "failures", engine, missing):
                found[Key(request, repeat)] = body
        return {key: decode(found[key]) for key in keys if key in found}

    def get(self, engine: int, key: Key) -> Response | None:
        """Return one answer, or ``None``."""
        return self.get_many(engine, [key]).get(key)

    def stats(self) -> LogStats:
        """Return the counts of the whole log."""
        with self._guard() as connection:
            responses, failures, engines = connection.execute(
                "SELECT * FROM (SELECT count(*) FROM responses), (SELECT count(*) FROM failures),"
                " (SELECT count(*) FROM engines)"
            ).fetchone()
            return LogStats(responses, failures, engines, self.path.stat().st_size)

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; an empty list when it is sound."""
        with self._guard() as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def _select(self, columns: str, table: str, engine: int, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
        requests = list(dict.fromkeys(key.request for key in keys))
        for start in range(0, len(requests), _KEYS_PER_QUERY):
            chunk = requests[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(chunk))
            with self._guard() as connection:
                query = f"SELECT {columns} FROM {table} WHERE engine = ? AND request IN ({marks})"  # noqa: S608 - our names
                rows = connection.execute(query, (engine, *chunk)).fetchall()
            yield from rows

    # -- writing ----------------------------------------------------------------------------------------------

    def put_many(self, engine: int, entries: Iterable[tuple[Key, Response]]) -> None:
        """Store entries in one transaction; they are durable when this returns. The first answer to a key stays."""
        with self._guard() as connection:
            write(connection, engine, entries)
        self.sync()

    def sync(self) -> None:
        """Return when everything committed so far would outlive a power loss.

        A commit alone outlives the end of the process; flushing the disk takes a hundred times as long, so it is
        done once for many commits.
        """
        journal = Path(f"{self.path}-wal")
        with log_errors(self.path):
            descriptor = os.open(journal if journal.exists() else self.path, os.O_RDWR)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    # -- closing ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _guard(self) -> Iterator[sqlite3.Connection]:
        with self._lock, log_errors(self.path):
            yield self._connection


def write(connection: sqlite3.Connection, engine: int, entries: Iterable[tuple[Key, Response]]) -> None:
    """Store entries in one transaction on a connection of :meth:`ResponseLog.connect`."""
    now = int(time.time())
    answers: list[tuple[int, bytes, int, int, bytes]] = []
    failures: list[tuple[int, bytes, int, int, bytes]] = []
    for key, response in entries:
        rows = answers if response.failure is None else failures
        rows.append((engine, key.request, key.repeat, now, encode(response)))
    with transaction(connection):
        if answers:
            connection.executemany(
                "INSERT OR IGNORE INTO responses (engine, request, repeat, at, body) VALUES (?, ?, ?, ?, ?)", answers
            )
            connection.executemany(
                "DELETE FROM failures WHERE engine = ? AND request = ? AND repeat = ?", [row[:3] for row in answers]
            )
        if failures:
            connection.executemany(
                "INSERT OR REPLACE INTO failures (engine, request, repeat, at, body) VALUES (?, ?, ?, ?, ?)", failures
            )


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one write transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait by itself when two processes do it at once."""
    give_up = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not is_busy or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return


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
        f"another process has held it for {_BUSY_SECONDS:.0f} seconds",
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


@contextmanager
def log_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system report into a :class:`LogError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        why, hint = _WHY.get(code, ("", "proctor log verify --log PATH checks the file"))
        why = f"{why} ({error})" if why else str(error)
        raise LogError(f"the response log {path} cannot be used", why=why, hint=hint) from error
    except OSError as error:
        raise LogError(
            f"the response log {path} cannot be used",
            why=str(error),
            hint="check that its folder exists and may be written, or choose another file with --log PATH",
        ) from error
