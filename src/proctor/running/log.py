"""The response log: every answer a model ever gave, filed by what was asked of whom.

One SQLite file, or a PostgreSQL database. An answer is filed under (engine identity, request key, repeat) and never
changes: what is asked anew is set aside first, and kept. A failure is filed beside the answers and gives way to an
answer when one comes. Any number of processes may read and write at once.

What is read is checked against its digest (:class:`~proctor.running.codec.Sealer`): a damaged answer counts as absent,
is counted, said, and replaced by the next answer to the same request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Any, NamedTuple, Self

from proctor.errors import LogError
from proctor.ir import THINKING, Response, without_filtered
from proctor.logs import get_logger
from proctor.running.codec import Sealer, decode, encode
from proctor.running.log_errors import SAVE, log_errors
from proctor.running.log_file import default_log
from proctor.running.log_place import LogAddress, placed
from proctor.running.log_schema import drop_claims, seal_engine
from proctor.running.log_store import Connection, store_at
from proctor.running.writers import ForeignError, Writers
from proctor.settings import settings

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
    """Counts of a log; ``size_bytes`` is the main file without its write-ahead file, or all tables with indexes."""

    responses: int
    failures: int
    engines: int
    size_bytes: int


class ResponseLog:
    """An open response log. It may be used from several threads; each process opens its own.

    Args:
        path: The file, or the address of a PostgreSQL database (``postgresql://user@host/database``); what is missing
            is made. By default the one that the settings name, and else the one in the user's state.
        read_only: Never write; it must exist.
        trusts_all: Whether answers of every writer are used; by default where the log is named.

    Raises:
        LogError: It is not a response log, is damaged, was written by a newer version, or cannot be opened.
        UsageError: The address cannot be read.
        MissingExtraError: It is an address, and psycopg is not installed.
    """

    def __init__(
        self, path: str | Path | None = None, *, read_only: bool = False, trusts_all: bool | None = None
    ) -> None:
        is_named = path is not None or bool(settings.log)
        self.writers = Writers(trusts_all=is_named if trusts_all is None else trusts_all)
        self.path = default_log() if path is None else placed(path)
        self.store = store_at(self.path, read_only=read_only)
        self._lock = threading.RLock()
        self._sealers: dict[int, Sealer] = {}
        self._damaged: set[tuple[int, Key]] = set()
        self._foreign: set[tuple[int, Key]] = set()
        self._others: dict[int, list[int]] = {}
        self._connection = self.connect()
        try:
            with log_errors(self.path):
                self.store.prepare(self._connection)
            self._ahead = self.store.ahead(self._connection)
        except BaseException:
            self._connection.close()
            raise

    @property
    def name(self) -> str:
        """What every process on this machine calls it."""
        return str(self.path if isinstance(self.path, LogAddress) else self.path.absolute())

    def connect(self) -> Connection:
        """Return a further connection to the same log, for a thread of its own."""
        return self.store.connect()

    def clock(self) -> float:
        """Return the time in seconds since 1970, as all machines that share the log have it."""
        return time.time() + self._ahead

    # -- engines ----------------------------------------------------------------------------------------------

    def engine_number(self, identity: str, label: str = "", config: dict[str, Any] | None = None) -> int:
        """Return the number under which this log files an engine's answers, entering the engine where it is new."""
        with self._guard() as connection:
            query = "SELECT id FROM engines WHERE identity = ?"
            row = connection.execute(query, (identity,)).fetchone()
            if row is None:
                connection.transact(lambda inside: self._enter_engine(inside, identity, label, config or {}))
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
            insert = (
                "INSERT INTO servers VALUES (?, ?, ?) ON CONFLICT (engine, address) DO UPDATE SET says = excluded.says"
            )
            connection.execute(insert, (engine, address, says))

    def probes(self, engine: int) -> list[tuple[Key, bytes]]:
        """Return the requests by which one tells whether a server has an engine's model."""
        with self._guard() as connection:
            rows = connection.execute("SELECT request, body FROM probes WHERE engine = ?", (engine,)).fetchall()
        return [(Key(request), body) for request, body in rows]

    def keep_probes(self, engine: int, probes: Iterable[tuple[Key, bytes]]) -> None:
        """Keep such requests."""
        rows = [(engine, key.request, body) for key, body in probes]
        insert = "INSERT INTO probes VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        with self._guard() as connection:
            connection.transact(lambda inside: inside.executemany(insert, rows))

    @staticmethod
    def _enter_engine(connection: Connection, identity: str, label: str, config: dict[str, Any]) -> None:
        values = (identity, label, json.dumps(config, sort_keys=True, default=str), time.time())
        insert = "INSERT INTO engines (identity, label, config, created) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
        connection.execute(insert, values)
        query = "SELECT id, identity, label, config, created FROM engines WHERE identity = ?"
        seal_engine(connection, connection.execute(query, (identity,)).fetchone())

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
                    *(self.path, quote(str(self.path))),
                )
            self._foreign.add((engine, key))
            return
        if not self._damaged:
            get_logger().warning(
                "the response log %s has damaged entries: they count as absent and are asked again "
                "(proctor log verify --log %s names them)",
                *(self.path, quote(str(self.path))),
            )
        self._damaged.add((engine, key))

    def get(self, engine: int, key: Key) -> Response | None:
        """Return one answer, or ``None``."""
        return self.get_many(engine, [key]).get(key)

    def stats(self) -> LogStats:
        """Return the counts of the whole log."""
        with self._guard() as connection:
            responses, failures, engines = connection.execute(
                "SELECT (SELECT count(*) FROM responses), (SELECT count(*) FROM failures),"
                " (SELECT count(*) FROM engines)"
            ).fetchone()
            return LogStats(responses, failures, engines, self.store.size(connection))

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; an empty list when it is sound."""
        with self._guard() as connection:
            return self.store.check(connection)

    def _select(self, table: str, engine: int, keys: Sequence[Key]) -> Iterator[tuple[Any, ...]]:
        requests = sorted({key.request for key in keys})  # in the order of the index, so that its pages are met once
        for start in range(0, len(requests), _KEYS_PER_QUERY):
            chunk = requests[start : start + _KEYS_PER_QUERY]
            with self._guard() as connection:
                query = f"SELECT request, repeat, at, body FROM {table} WHERE engine = ? AND request IN"  # noqa: S608 - our names
                rows = connection.among(query, (engine,), chunk).fetchall()
            yield from rows

    # -- writing ----------------------------------------------------------------------------------------------

    def set_aside(self, engine: int, keys: Iterable[Key]) -> None:
        """Take answers out of use, so that whoever wants them asks anew; they are kept, with the time of each."""
        numbers = (engine, *self._others.get(engine, ()))
        rows = [(number, *key) for key in sorted(keys) for number in numbers]
        columns = "engine, request, repeat, at, body"

        def move(inside: Connection) -> None:
            keep = f"INSERT INTO superseded ({columns}) SELECT {columns} FROM responses {_OF_KEY}"  # noqa: S608
            inside.executemany(keep, rows)
            inside.executemany(f"DELETE FROM responses {_OF_KEY}", rows)  # noqa: S608 - our words

        with self._guard() as connection:
            connection.transact(move)
        self.store.sync()

    # -- closing ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close it."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _guard(self) -> Iterator[Connection]:
        with self._lock, log_errors(self.path):
            yield self._connection


def write(
    log: ResponseLog,
    connection: Connection,
    engine: int,
    entries: Iterable[tuple[Key, Response]],
    *,
    claimed: bool = False,
) -> None:
    """Store entries in one transaction on a connection of :meth:`ResponseLog.connect`; a damaged answer gives way.

    Where their requests were claimed, the claims go in the same transaction.
    """
    now = int(log.clock())
    sealed = log.sealer(engine).sealed
    answers: list[tuple[int, bytes, int, int, bytes]] = []
    failures: list[tuple[int, bytes, int, int, bytes]] = []
    for (request, repeat), response in entries:
        rows = answers if _is_final(response) else failures
        rows.append((engine, request, repeat, now, sealed(request, repeat, now, encode(response))))

    def file(inside: Connection) -> None:
        if answers:
            _replace_damaged(log, inside, answers)
            inside.executemany(f"{INSERT.format('responses')} ON CONFLICT DO NOTHING", answers)
            if inside.execute("SELECT 1 FROM failures WHERE engine = ? LIMIT 1", (engine,)).fetchone():
                inside.executemany(f"DELETE FROM failures {_OF_KEY}", [row[:3] for row in answers])  # noqa: S608
        if failures:
            inside.executemany(f"{INSERT.format('failures')} {REPLACING}", failures)
        if claimed:
            drop_claims(inside, [row[:3] for row in (*answers, *failures)])

    connection.transact(file)


INSERT = "INSERT INTO {} (engine, request, repeat, at, body) VALUES (?, ?, ?, ?, ?)"
_OF_KEY = "WHERE engine = ? AND request = ? AND repeat = ?"
REPLACING = "ON CONFLICT (engine, request, repeat) DO UPDATE SET at = excluded.at, body = excluded.body"
"""What an insertion of an answer or a failure ends with that takes the place of what is there."""


def _is_final(response: Response) -> bool:
    """Whether a response is what the model had to say: thoughts without an answer are, and asking again costs as much.

    Whoever gives the model more room asks under another identity.
    """
    return response.failure is None or response.failure.kind == THINKING


def _replace_damaged(log: ResponseLog, connection: Connection, answers: Sequence[tuple[Any, ...]]) -> None:
    """Put new answers in the place of damaged ones, unless another process did that already."""
    if not log.has_replaceable:
        return
    for engine, request, repeat, at, body in answers:
        if not log.is_damaged(engine, Key(request, repeat)):
            continue
        query = f"SELECT request, repeat, at, body FROM responses {_OF_KEY}"  # noqa: S608 - our words
        row = connection.execute(query, (engine, request, repeat)).fetchone()
        if row is not None and not log.sealer(engine).is_sound(*row):
            update = f"UPDATE responses SET at = ?, body = ? {_OF_KEY}"  # noqa: S608 - our words
            connection.execute(update, (at, body, engine, request, repeat))
