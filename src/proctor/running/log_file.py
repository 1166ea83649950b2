"""A response log in an SQLite file: how it is opened, upgraded, and kept short. Any number of processes may use it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from proctor.errors import LogError
from proctor.logs import get_logger
from proctor.running.log_errors import BUSY_SECONDS, log_errors
from proctor.running.log_place import LogAddress, placed
from proctor.running.log_schema import (
    APPLICATION_ID,
    CACHE_KIB,
    NOW,
    SCHEMA_VERSION,
    SEALS,
    SHARED,
    TABLES,
    network_file_system,
    other_version,
    seal_engine,
    text_of,
    transaction,
    use_write_ahead_log,
)
from proctor.running.log_store import AbsentLogError, Connection, Store
from proctor.settings import settings
from proctor.state import LOG_PLACE, made_state_folder, place_in_state, state_folder

T = TypeVar("T")

# Pages in the journal before SQLite moves them into the file: 16 MB. Keys are digests, so every commit changes pages of
# the index here and there, and a page that was changed by many commits is moved once. SQLite's own 1,000 cost a sixth
# of what storing 100,000 answers takes.
_CHECKPOINT_PAGES = 4_000
# SQLite gets there unless others write all the time: then it is our turn.
_JOURNAL_BYTES = 128 * 1024 * 1024
_JOURNAL_PATIENCE_MS = 1_000  # answers wait while the journal waits for those who read; it may as well be moved later


def default_log_path() -> Path:
    """Return the default place of the log: ``log/responses.db`` in the user's state."""
    return place_in_state(LOG_PLACE, _is_settled)


def default_log() -> Path | LogAddress:
    """Return the log that is used where none is named: that of the settings, or the one in the user's state."""
    return placed(settings.log) if settings.log else default_log_path()


def _is_settled(old: Path) -> bool:
    """Bring a log together in one file, and return whether nobody else has it open."""
    try:
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=rw", uri=True, timeout=0)) as connection:
            return bool(connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
    except sqlite3.Error:
        return False


class FileConnection(sqlite3.Connection):
    """A connection to the file, which knows its write-ahead file."""

    journal: Path
    _journal_limit = 0

    def among(self, query: str, values: Sequence[Any], requests: Sequence[bytes]) -> sqlite3.Cursor:
        """Ask with one value for each request."""
        return self.execute(f"{query} ({','.join('?' * len(requests))})", (*values, *requests))

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Do some work as one write transaction."""
        with transaction(self):
            return work(self)

    def stream(self, query: str) -> Iterator[Any]:
        """Yield rows as SQLite reads them."""
        return self.execute(query)

    def tidy(self) -> None:
        """Move a long journal into the file.

        SQLite does that by itself, but starts the journal anew only when nobody writes meanwhile: several processes
        that write all the time would let it grow for ever. Where somebody is reading, it is tried again much later.
        """
        size = self.journal.stat().st_size if self.journal.exists() else 0
        if size < (self._journal_limit or _JOURNAL_BYTES):
            return
        (patience,) = self.execute("PRAGMA busy_timeout").fetchone()
        self.execute(f"PRAGMA busy_timeout = {_JOURNAL_PATIENCE_MS}")
        try:
            (is_busy, *_) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.execute(f"PRAGMA busy_timeout = {patience}")
        self._journal_limit = size + _JOURNAL_BYTES if is_busy else _JOURNAL_BYTES


class LogFile(Store):
    """The file of a response log; it and its folders are made where they are missing."""

    now = NOW
    alive = f"until > {NOW}"

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path, self.read_only = path, read_only
        self.network = network_file_system(path)

    def connect(self) -> FileConnection:
        """Return a further connection to the same file, for a thread of its own."""
        with log_errors(self.path):
            if self.read_only:
                if not self.path.exists():
                    raise AbsentLogError(
                        f"there is no response log {self.path}",
                        hint="name another file with --log PATH, or run an exam",
                    )
                return self._open(f"{self.path.absolute().as_uri()}?mode=ro")
            self._make_place()
            connection = self._open(self.path.absolute().as_uri())
            try:
                if self.network:
                    connection.execute("PRAGMA journal_mode = DELETE")
                else:
                    use_write_ahead_log(connection)
                    connection.execute("PRAGMA synchronous = NORMAL")
                    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            except BaseException:
                connection.close()
                raise
            return connection

    def _make_place(self) -> None:
        """Make the file, in the user's state for him alone; elsewhere it may be shared."""
        if self.path != state_folder() / LOG_PLACE:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return
        made_state_folder()
        self.path.parent.mkdir(exist_ok=True, mode=0o700)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _open(self, uri: str) -> FileConnection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, factory=FileConnection
        )
        connection.text_factory = text_of
        connection.journal = Path(f"{self.path}-wal")
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except BaseException:  # a damaged file shows here first
            connection.close()
            raise
        return connection

    def prepare(self, connection: Connection) -> None:
        """Make or upgrade the tables; raises as :meth:`~proctor.running.log_store.Store.prepare`."""
        if _version(connection) == 0 and not self.read_only:
            connection.transact(self._create)
        if _pragma(connection, "application_id") != APPLICATION_ID:
            raise LogError(
                f"{self.path} is not a response log", hint="name another file with --log; a new one is made by itself"
            )
        if _version(connection) < SCHEMA_VERSION and not self.read_only:
            connection.transact(self._upgrade)
        version = _version(connection)
        if version == SCHEMA_VERSION and not self.read_only:
            for statement in SHARED:
                connection.execute(statement)
        if version > SCHEMA_VERSION:
            raise other_version(str(self.path), version)

    def _create(self, connection: Connection) -> None:
        if _version(connection) or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        for statement in TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._upgrade(connection)

    def _upgrade(self, connection: Connection) -> None:
        """Give the engines of an earlier version their digests. Bodies are left as they are: there may be millions."""
        if _version(connection) >= SCHEMA_VERSION:
            return
        if _version(connection) and connection.execute("SELECT 1 FROM responses LIMIT 1").fetchone():
            get_logger().warning("the answers in %s are of an earlier version, unsigned: they are used", self.path)
        connection.execute(SEALS)
        for row in connection.execute("SELECT id, identity, label, config, created FROM engines").fetchall():
            seal_engine(connection, row)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def check(self, connection: Connection) -> list[str]:
        """Return SQLite's findings about the file; an empty list when it is sound."""
        found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def size(self, connection: Connection) -> int:
        """Return the bytes of the main file, without its write-ahead file."""
        del connection
        return self.path.stat().st_size

    def sync(self) -> None:
        """Flush the disk: a commit alone outlives the end of the process, and takes a hundredth of the time."""
        journal = Path(f"{self.path}-wal")
        with log_errors(self.path):
            descriptor = os.open(journal if journal.exists() else self.path, os.O_RDWR)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def compact(self, connection: Connection) -> int:
        """Rewrite the file without unused space; return how many bytes were freed."""
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = self.size(connection)
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return before - self.size(connection)


def _version(connection: Connection) -> int:
    return _pragma(connection, "user_version")


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
