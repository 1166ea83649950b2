"""The response log: every answer a model ever gave, filed by what was asked of whom.

One SQLite file. An answer is filed under (engine identity, request key, repeat) and never changes; a failure is filed
beside the answers and gives way to an answer when one comes. Any number of processes may read and write at once.

What is read is checked against its digest (:class:`~proctor.running.codec.Sealer`): a damaged answer counts as absent,
is counted, said, and replaced by the next answer to the same request.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from proctor.errors import LogError
from proctor.ir import THINKING, Response, without_filtered
from proctor.logs import get_logger
from proctor.running.codec import Sealer, decode, encode
from proctor.running.log_errors import BUSY_SECONDS, SAVE, log_errors
from proctor.running.log_schema import (
    APPLICATION_ID,
    CACHE_KIB,
    SCHEMA_VERSION,
    SEALS,
    SHARED,
    TABLES,
    drop_claims,
    network_file_system,
    seal_engine,
    text_of,
    transaction,
    use_write_ahead_log,
)
from proctor.running.writers import ForeignError, Writers
from proctor.state import LOG_PLACE, made_state_folder, place_in_state, state_folder

_KEYS_PER_QUERY = 500  # SQLite before 3.32 takes 999 variables in a statement


_STOPPED = ("stop",)  # why nearly all answers end: nobody filtered those


class Key(NamedTuple):
    """The key of an answer, for one engine: the request's content key as bytes, and the repeat."""

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
    """Return the default place of the log: ``log/responses.db`` in the user's state."""
    return place_in_state(LOG_PLACE, _is_settled)


def _is_settled(old: Path) -> bool:
    """Bring a log together in one file, and return whether nobody else has it open."""
    try:
        with closing(sqlite3.connect(f"{old.absolute().as_uri()}?mode=rw", uri=True, timeout=0)) as connection:
            return bool(connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete")
    except sqlite3.Error:
        return False


class ResponseLog:
    """An open response log. It may be used from several threads; each process opens its own.

    Args:
        path: The file; it and its folders are made where they are missing.
        read_only: Never write; the file must exist.
        trusts_all: Whether answers of every writer are used; by default where the file is named.

    Raises:
        LogError: The file is not a response log, is damaged, was written by a newer version, or cannot be opened.
    """

    def __init__(
        self, path: str | Path | None = None, *, read_only: bool = False, trusts_all: bool | None = None
    ) -> None:
        self.writers = Writers(trusts_all=path is not None if trusts_all is None else trusts_all)
        self.path = Path(path) if path is not None else default_log_path()
        self.read_only = read_only
        self.network = network_file_system(self.path)
        self._lock = threading.RLock()
        self._sealers: dict[int, Sealer] = {}
        self._damaged: set[tuple[int, Key]] = set()
        self._foreign: set[tuple[int, Key]] = set()
        self._others: dict[int, list[int]] = {}
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
                if not self.path.exists():
                    raise LogError(
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

    @staticmethod
    def _open(uri: str) -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.text_factory = text_of
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except BaseException:  # a damaged file shows here first
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        if self._version() == 0 and not self.read_only:
            with transaction(self._connection):
                if self._version() == 0:
                    self._create()
        if self._pragma("application_id") != APPLICATION_ID:
            raise LogError(
                f"{self.path} is not a response log", hint="name another file with --log; a new one is made by itself"
            )
        if self._version() < SCHEMA_VERSION and not self.read_only:
            with transaction(self._connection):
                if self._version() < SCHEMA_VERSION:
                    self._upgrade()
        version = self._version()
        if version == SCHEMA_VERSION and not self.read_only:
            for statement in SHARED:
                self._connection.execute(statement)
        if version > SCHEMA_VERSION:
            raise LogError(
                f"the response log {self.path} was written by a newer Proctor",
                why=f"its format is version {version}, this Proctor reads up to {SCHEMA_VERSION}",
                hint="upgrade with: pip install -U proctor, or start another log with --log PATH",
            )

    def _create(self) -> None:
        if self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        for statement in TABLES:
            self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self._upgrade()

    def _upgrade(self) -> None:
        """Give the engines of an earlier version their digests. Bodies are left as they are: there may be millions."""
        if self._version() and self._connection.execute("SELECT 1 FROM responses LIMIT 1").fetchone():
            get_logger().warning("the answers in %s are of an earlier version, unsigned: they are used", self.path)
        self._connection.execute(SEALS)
        for row in self._connection.execute("SELECT id, identity, label, config, created FROM engines").fetchall():
            seal_engine(self._connection, row)
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
                    self._enter_engine(connection, identity, label, config or {})
                row = connection.execute(query, (identity,)).fetchone()
            number = int(row[0])
            if self._identity(number) != identity:  # the number comes from an index, which may be damaged
                raise LogError(f"the response log {self.path} cannot be used", why="its engines are damaged", hint=SAVE)
            self._sealers[number] = Sealer(identity, self.writers)
            return number

    def also_read(self, engine: int, is_same: Callable[[Mapping[str, Any]], bool]) -> None:
        """Find an engine's answers under the numbers of others, too, whose configurations are the same model's."""
        with self._guard() as connection:
            rows = connection.execute("SELECT id, config FROM engines WHERE id <> ? ORDER BY id", (engine,)).fetchall()
        found = []
        for number, text in rows:
            with suppress(ValueError):  # a damaged row: proctor log verify names it
                config = json.loads(text)
                if isinstance(config, dict) and is_same(config):
                    found.append(int(number))
        self._others[engine] = found

    def servers(self, engine: int) -> dict[str, str]:
        """Return the addresses at which an engine's model was, with what each server said of it."""
        with self._guard() as connection:
            return dict(connection.execute("SELECT address, says FROM servers WHERE engine = ?", (engine,)))

    def note_server(self, engine: int, address: str, says: str) -> None:
        """Note that an engine's model is at an address, and what the server says of it."""
        with self._guard() as connection:
            connection.execute("INSERT OR REPLACE INTO servers VALUES (?, ?, ?)", (engine, address, says))

    def probes(self, engine: int) -> list[tuple[Key, bytes]]:
        """Return the requests by which one tells whether a server has an engine's model."""
        with self._guard() as connection:
            rows = connection.execute("SELECT request, body FROM probes WHERE engine = ?", (engine,)).fetchall()
        return [(Key(request), body) for request, body in rows]

    def keep_probes(self, engine: int, probes: Iterable[tuple[Key, bytes]]) -> None:
        """Keep such requests."""
        rows = [(engine, key.request, body) for key, body in probes]
        with self._guard() as connection, transaction(connection):
            connection.executemany("INSERT OR IGNORE INTO probes VALUES (?, ?, ?)", rows)

    @staticmethod
    def _enter_engine(connection: sqlite3.Connection, identity: str, label: str, config: dict[str, Any]) -> None:
        values = (identity, label, json.dumps(config, sort_keys=True, default=str), time.time())
        done = connection.execute(
            "INSERT OR IGNORE INTO engines (identity, label, config, created) VALUES (?, ?, ?, ?)", values
        )
        if done.rowcount:
            seal_engine(connection, (done.lastrowid, *values))

    def _identity(self, number: int) -> str | None:
        with self._guard() as connection:
            row = connection.execute("SELECT identity FROM engines WHERE id = ?", (number,)).fetchone()
            return None if row is None else str(row[0])

    def sealer(self, engine: int) -> Sealer:
        """Return the seal of an engine's bodies."""
        sealer = self._sealers.get(engine)
        if sealer is None:
            sealer = self._sealers[engine] = Sealer(self._identity(engine) or "", self.writers)
        return sealer

    # -- reading ----------------------------------------------------------------------------------------------

    @property
    def damaged(self) -> int:
        """The number of damaged entries met so far; they count as absent."""
        return len(self._damaged)

    def has_many(self, engine: int, keys: Sequence[Key], *, failures: bool = False) -> set[Key]:
        """Return those keys that have an answer (or, if asked, a failure) whose digest is right."""
        check = self.sealer(engine).check
        found: set[Key] = set()
        for table in ("responses", "failures") if failures else ("responses",):
            for row in self._select(table, engine, keys):
                try:
                    check(*row)
                    found.add(Key(row[0], row[1]))
                except LogError as error:
                    self.note_damage(engine, Key(row[0], row[1]), error)
        for other in self._others.get(engine, ()):
            if missing := [key for key in keys if key not in found]:
                found |= self.has_many(other, missing)
        return found.intersection(keys)

    def failed_since(self, engine: int, keys: Sequence[Key], at: int) -> set[Key]:
        """Return those keys for which a failure was filed after a time, in seconds since 1970."""
        return {Key(*row[:2]) for row in self._select("failures", engine, keys) if row[2] > at}.intersection(keys)

    def get_many(self, engine: int, keys: Sequence[Key], *, failures: bool = False) -> dict[Key, Response]:
        """Return the answers there are, by key; failures fill in where there is no answer, if asked for."""
        found = self._read("responses", engine, keys)
        for other in self._others.get(engine, ()):
            if missing := [key for key in keys if key not in found]:
                found.update(self._read("responses", other, missing))
        if failures and (missing := [key for key in keys if key not in found]):
            found.update(self._read("failures", engine, missing))
        return {key: found[key] for key in keys if key in found}

    def _read(self, table: str, engine: int, keys: Sequence[Key]) -> dict[Key, Response]:
        opened = self.sealer(engine).opened
        found: dict[Key, Response] = {}
        for row in self._select(table, engine, keys):
            key: Key = row[:2]  # type: ignore[assignment]  # equal to the key, and made faster
            try:
                response = decode(opened(*row))
            except LogError as error:
                self.note_damage(engine, Key(*key), error)
            else:
                found[key] = response if response.finish_reasons == _STOPPED else without_filtered(response)
        return found

    @property
    def has_replaceable(self) -> bool:
        """Whether entries were met that give way to new answers."""
        return bool(self._damaged or self._foreign)

    def is_damaged(self, engine: int, key: Key) -> bool:
        """Whether an entry was found damaged, or another writer's; it may have been replaced since."""
        return (engine, key) in self._damaged or (engine, key) in self._foreign

    def note_damage(self, engine: int, key: Key, error: LogError | None = None) -> None:
        """Count a damaged entry, or one of another writer, which gives way as well; say it the first time."""
        if isinstance(error, ForeignError):
            if not self._foreign:
                get_logger().warning(
                    "the response log %s has answers of other writers: they are not used, and asked again "
                    "(proctor log trust %s uses them)",
                    *(self.path, self.path),
                )
            self._foreign.add((engine, key))
            return
        if not self._damaged:
            get_logger().warning(
                "the response log %s has damaged entries: they count as absent and are asked again "
                "(proctor log verify --log %s names them)",
                *(self.path, self.path),
            )
        self._damaged.add((engine, key))

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
        """Return SQLite's findings about the file; an empty list when it is sound."""
        with self._guard() as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def _select(self, table: str, engine: int, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
        requests = sorted({key.request for key in keys})  # in the order of the index, so that its pages are met once
        for start in range(0, len(requests), _KEYS_PER_QUERY):
            chunk = requests[start : start + _KEYS_PER_QUERY]
            marks = ",".join("?" * len(chunk))
            with self._guard() as connection:
                query = f"SELECT request, repeat, at, body FROM {table} WHERE engine = ? AND request IN ({marks})"  # noqa: S608 - our names
                rows = connection.execute(query, (engine, *chunk)).fetchall()
            yield from rows

    # -- writing ----------------------------------------------------------------------------------------------

    def put_many(self, engine: int, entries: Iterable[tuple[Key, Response]]) -> None:
        """Store entries in one transaction; they are durable when this returns. The first answer to a key stays."""
        with self._guard() as connection:
            write(self, connection, engine, entries)
        self.sync()

    def sync(self) -> None:
        """Wait until everything committed so far would outlive a power loss.

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


def write(
    log: ResponseLog,
    connection: sqlite3.Connection,
    engine: int,
    entries: Iterable[tuple[Key, Response]],
    *,
    claimed: bool = False,
) -> None:
    """Store entries in one transaction on a connection of :meth:`ResponseLog.connect`; a damaged answer gives way.

    Where their requests were claimed, the claims go in the same transaction.
    """
    now = int(time.time())
    sealed = log.sealer(engine).sealed
    answers: list[tuple[int, bytes, int, int, bytes]] = []
    failures: list[tuple[int, bytes, int, int, bytes]] = []
    for (request, repeat), response in entries:
        rows = answers if _is_final(response) else failures
        rows.append((engine, request, repeat, now, sealed(request, repeat, now, encode(response))))
    with transaction(connection):
        if answers:
            _replace_damaged(log, connection, answers)
            connection.executemany(
                "INSERT OR IGNORE INTO responses (engine, request, repeat, at, body) VALUES (?, ?, ?, ?, ?)", answers
            )
            if connection.execute("SELECT 1 FROM failures WHERE engine = ? LIMIT 1", (engine,)).fetchone():
                connection.executemany(
                    "DELETE FROM failures WHERE engine = ? AND request = ? AND repeat = ?", [row[:3] for row in answers]
                )
        if failures:
            connection.executemany(
                "INSERT OR REPLACE INTO failures (engine, request, repeat, at, body) VALUES (?, ?, ?, ?, ?)",
                failures,
            )
        if claimed:
            drop_claims(connection, [row[:3] for row in (*answers, *failures)])


def _is_final(response: Response) -> bool:
    """Whether a response is what the model had to say: thoughts without an answer are, and asking again costs as much.

    Whoever gives the model more room asks under another identity.
    """
    return response.failure is None or response.failure.kind == THINKING


def _replace_damaged(log: ResponseLog, connection: sqlite3.Connection, answers: Sequence[tuple[Any, ...]]) -> None:
    """Put new answers in the place of damaged ones, unless another process did that already."""
    if not log.has_replaceable:
        return
    for engine, request, repeat, at, body in answers:
        if not log.is_damaged(engine, Key(request, repeat)):
            continue
        where = "WHERE engine = ? AND request = ? AND repeat = ?"
        query = f"SELECT request, repeat, at, body FROM responses {where}"  # noqa: S608 - our words
        row = connection.execute(query, (engine, request, repeat)).fetchone()
        if row is not None and not log.sealer(engine).is_sound(*row):
            update = f"UPDATE responses SET at = ?, body = ? {where}"  # noqa: S608 - our words
            connection.execute(update, (at, body, engine, request, repeat))
