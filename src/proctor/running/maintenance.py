"""Looking after a response log: what is in it, throwing it away, checking and saving it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.errors import ForgedError, LogError, UsageError
from proctor.foreign_text import parse_json
from proctor.ir import Response
from proctor.running.batch_records import copy_records
from proctor.running.codec import Sealer, decode, is_sealed, writer_of
from proctor.running.log import INSERT, REPLACING, Key, ResponseLog
from proctor.running.log_errors import DAMAGE, log_errors
from proctor.running.log_schema import engine_seal
from proctor.running.log_store import Connection

Table = Literal["responses", "failures", "superseded"]
"""The tables of a log that hold what models answered."""

_ROWS = 5_000  # read at once: a damaged page costs a dozen halvings, a sound file is read as fast as with more
_COLUMNS = "id, engine, request, repeat, at, body"
_SMALLEST_ROW_BYTES = 40  # 16 of the key, 6 of the time, header and body: no file has more rows than its size by this


@dataclass(frozen=True, slots=True)
class LoggedEngine:
    """An engine that a log knows; ``created`` is when it was first used, in Unix seconds."""

    number: int
    identity: str
    label: str
    config: dict[str, Any]
    created: float
    responses: int
    failures: int


@dataclass(frozen=True, slots=True)
class LoggedResponse:
    """An entry of a log; ``at`` is when it was written, in Unix seconds."""

    engine: str
    identity: str
    request: str
    repeat: int
    at: int
    response: Response

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-like data."""
        return {
            "engine": self.engine,
            "identity": self.identity,
            "request": self.request,
            "repeat": self.repeat,
            "at": datetime.fromtimestamp(self.at, UTC).isoformat(),
            "response": msgspec.to_builtins(self.response),
        }


@dataclass(frozen=True, slots=True)
class Checkup:
    """The findings of :func:`verify`.

    Attributes:
        entries: Answers that were looked at, those that were set aside among them.
        damaged: Numbers of damaged answers.
        faults: Faults of the file.
        damaged_failures: Engine, request and repeat of damaged failures.
        damaged_aside: Engine, request, repeat and time of damaged answers that were set aside.
        names: What the damaged entries are filed under, for people: the engine's label, request and repeat.
        unsealed: Answers of an earlier version, which have no digest: they can be read, and that is all that is known.
        forged: How many of the damaged say that the user's key filed them, and do not have its digest.
        writers: Ids of the keys that filed answers; empty for answers without one.
    """

    entries: int
    damaged: tuple[int, ...]
    faults: tuple[str, ...]
    damaged_failures: tuple[tuple[Any, ...], ...] = ()
    names: tuple[str, ...] = ()
    unsealed: int = 0
    forged: int = 0
    writers: tuple[str, ...] = ()
    damaged_aside: tuple[tuple[Any, ...], ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.damaged or self.damaged_failures or self.damaged_aside or self.faults)


def engines(log: ResponseLog) -> list[LoggedEngine]:
    """Return the engines of a log in the order of their first use."""
    with _connected(log) as connection, log_errors(log.path):
        answers = dict(connection.execute("SELECT engine, count(*) FROM responses GROUP BY engine"))
        failed = dict(connection.execute("SELECT engine, count(*) FROM failures GROUP BY engine"))
        rows = connection.execute("SELECT id, identity, label, config, created FROM engines ORDER BY id").fetchall()
    return [
        LoggedEngine(number, identity, label, _config(config), created, answers.get(number, 0), failed.get(number, 0))
        for number, identity, label, config, created in rows
    ]


def _config(text: Any) -> dict[str, Any]:
    """Return an engine's configuration; nothing where it is damaged, which :func:`verify` says."""
    try:
        found = parse_json(text)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def entries(
    log: ResponseLog, engine: str | None = None, request: str = "", *, table: Table = "responses"
) -> Iterator[LoggedResponse]:
    """Yield entries in the order in which they were written, without holding more than a few in memory.

    Damaged ones are left out, and counted in ``log.damaged``.

    Args:
        log: An open log.
        engine: Identity (or its beginning) or label of an engine; all engines by default.
        request: Beginning of request keys.
        table: Which: answers, ``failures``, or answers that were ``superseded``: set aside, to be asked anew.
    """
    chosen = {each.number: each for each in choose(engines(log), engine)}
    with _connected(log) as connection:
        for number, key, repeat, at, body in _rows(log, connection, table):
            if number in chosen and isinstance(key, bytes) and key.hex().startswith(request):
                each = chosen[number]
                try:
                    response = decode(log.sealer(number).opened(key, repeat, at, body))
                except LogError as error:
                    log.note_damage(number, Key(key, repeat), error)
                else:
                    yield LoggedResponse(each.label, each.identity, key.hex(), repeat, at, response)


def choose(known: Sequence[LoggedEngine], name: str | None) -> list[LoggedEngine]:
    """Return the engines with this label or with identities that begin so; all where ``name`` is ``None``.

    Raises:
        UsageError: There is none.
    """
    found = [each for each in known if name is None or each.label == name or each.identity.startswith(name)]
    if name is not None and not found:
        labels = ", ".join(sorted({each.label for each in known})) or "none"
        raise UsageError(f"the log knows no engine '{name}'", hint=f"it knows: {labels}")
    return found


def collect(
    log: ResponseLog,
    engine: str | None = None,
    *,
    older_than_seconds: float = 0.0,
    only_failures: bool = False,
    dry_run: bool = False,
) -> int:
    """Remove entries, and engines that have none left; return how many entries went. :func:`compact` frees the space.

    Args:
        log: An open log.
        engine: As in :func:`entries`.
        older_than_seconds: Remove only what was written longer ago than this.
        only_failures: Keep answers.
        dry_run: Count only.
    """
    numbers = [each.number for each in choose(engines(log), engine)]
    before = int(log.clock() - older_than_seconds)
    tables = ("failures",) if only_failures else ("failures", "responses", "superseded")

    def remove(connection: Connection) -> int:
        removed = 0
        for number, table in product(numbers, tables):
            rows = f"FROM {table} WHERE engine = ? AND at <= ?"
            removed += connection.execute(f"SELECT count(*) {rows}", (number, before)).fetchone()[0]
            if not dry_run:
                connection.execute(f"DELETE {rows}", (number, before))
        if dry_run:
            return removed
        connection.execute(
            "DELETE FROM engines WHERE id NOT IN (SELECT DISTINCT engine FROM responses)"
            " AND id NOT IN (SELECT engine FROM failures) AND id NOT IN (SELECT engine FROM superseded)"
        )
        connection.execute("DELETE FROM engine_seals WHERE engine NOT IN (SELECT id FROM engines)")
        return removed

    with _connected(log) as connection, log_errors(log.path):
        return connection.transact(remove)


def compact(log: ResponseLog) -> int:
    """Rewrite a log without unused space; return how many bytes were freed. Others may not write meanwhile."""
    with _connected(log) as connection, log_errors(log.path):
        return log.store.compact(connection)


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of merging a log into another one: how many answers were new, known, and known with other words."""

    new: int = 0
    known: int = 0
    differing: int = 0


def merge(log: ResponseLog, source: ResponseLog) -> Merged:
    """Copy a log's answers, with the marks of their writers, and batches into another one; what is there stays.

    Args:
        log: Where they go.
        source: Whose answers are copied; what is damaged or forged in it is left out.

    Raises:
        LogError, ForgedError: One of them cannot be read, or written.
    """
    query = "SELECT id, identity, label, config FROM engines"
    with log_errors(source.path), _connected(source) as old:
        known = old.execute(query).fetchall()
    sealers = {row[0]: Sealer(str(row[1]), source.writers) for row in known}
    numbers = {row[0]: log.engine_number(row[1], row[2], _config(row[3])) for row in known}
    total = [0, 0, 0]
    with _connected(source) as old, _connected(log) as connection:
        copy_records(old, connection)
    with _connected(source) as old:
        for rows in _readable(old, 1, _last_id(source, old)):
            for engine, sealer in sealers.items():
                sound = [row[2:] for row in rows if row[1] == engine and _is_sound(sealer, row)]
                for place, count in enumerate(_copied(log, numbers[engine], sealer, sound)):
                    total[place] += count
    return Merged(*total)


def _copied(
    log: ResponseLog, number: int, sealer: Sealer, rows: Sequence[tuple[bytes, int, int, bytes]]
) -> tuple[int, int, int]:
    """Copy some answers of an engine; return how many were new, known, and known with other words."""
    theirs = {Key(*row[:2]): row for row in rows}
    known = log.get_many(number, list(theirs))
    fresh = [(number, *row) for key, row in theirs.items() if key not in known]
    insert = f"{INSERT.format('responses')} {REPLACING}"
    with log_errors(log.path), _connected(log) as connection:
        connection.transact(lambda inside: inside.executemany(insert, fresh))
    differing = 0
    for key, mine in known.items():
        other = decode(sealer.opened(*theirs[key]))
        differing += (mine.texts, mine.scores) != (other.texts, other.scores)
    return len(fresh), len(known) - differing, differing


def verify(log: ResponseLog) -> Checkup:
    """Check the file's structure, and every entry against its digest."""
    checking = _Checking(log)
    with _connected(log) as connection:
        for check in (checking.file, checking.engines, checking.responses, checking.failures, checking.set_aside):
            try:
                check(connection)
            except (LogError, *DAMAGE) as error:
                checking.faults.append(error.why if isinstance(error, LogError) else str(error))
    return Checkup(
        checking.count,
        tuple(checking.damaged),
        tuple(dict.fromkeys(checking.faults)),
        tuple(checking.damaged_failures),
        tuple(checking.names),
        checking.unsealed,
        checking.forged,
        tuple(sorted(checking.writers)),
        tuple(checking.damaged_aside),
    )


class _Checking:
    """What a check of a log has found so far."""

    def __init__(self, log: ResponseLog) -> None:
        self._log = log
        self._labels: dict[Any, str] = {}
        self._sealers: dict[Any, Sealer] = {}
        self.count = 0
        self.unsealed = self.forged = 0
        self.writers: set[str] = set()
        self.damaged: list[int] = []
        self.damaged_failures: list[tuple[Any, ...]] = []
        self.damaged_aside: list[tuple[Any, ...]] = []
        self.faults: list[str] = []
        self.names: list[str] = []

    def file(self, connection: Connection) -> None:
        """Let SQLite check its structure."""
        del connection
        self.faults += self._log.check()

    def engines(self, connection: Connection) -> None:
        rows = connection.execute("SELECT id, identity, label, config, created FROM engines").fetchall()
        self._labels = {row[0]: str(row[2] or row[1]) for row in rows}
        self._sealers = {row[0]: Sealer(str(row[1]), self._log.writers) for row in rows}
        seals: dict[Any, Any] | None = None
        with suppress(sqlite3.OperationalError):  # a log of version 1 has none
            seals = dict(connection.execute("SELECT engine, seal FROM engine_seals").fetchall())
        if seals is None:
            return
        for row in rows:
            if seals.pop(row[0], None) != engine_seal(row):
                self.faults.append(f"engine {row[0]} ({self._labels[row[0]]}) is damaged")
        self.faults += [f"engine {number} is missing" for number in seals]

    def responses(self, connection: Connection) -> None:
        for number, *row in connection.stream(f"SELECT {_COLUMNS} FROM responses"):  # noqa: S608 - our names
            self.count += 1
            self.unsealed += not is_sealed(row[-1])
            if not self._is_sound(*row):
                self.damaged.append(number)

    def failures(self, connection: Connection) -> None:
        for row in connection.stream("SELECT engine, request, repeat, at, body FROM failures"):
            if not self._is_sound(*row):
                self.damaged_failures.append(row[:3])

    def set_aside(self, connection: Connection) -> None:
        for row in _rows(self._log, connection, "superseded"):
            self.count += 1
            if not self._is_sound(*row):
                self.damaged_aside.append(row[:4])

    def _is_sound(self, engine: Any, request: Any, repeat: Any, at: Any, body: Any) -> bool:
        sealer = self._sealers.get(engine)
        try:
            if sealer is not None and isinstance(request, bytes) and sealer.is_sound(request, repeat, at, body):
                self.writers.add(writer_of(body))
                return True
        except ForgedError:
            self.forged += 1
        key = request.hex() if isinstance(request, bytes) else repr(request)
        self.names.append(f"{self._labels.get(engine, f'engine {engine}')} {key}.{repeat}")
        return False


def drop(log: ResponseLog, found: Checkup | Sequence[int]) -> None:
    """Remove damaged entries, so that they are asked again.

    Args:
        log: An open log.
        found: What :func:`verify` found, or numbers of answers.
    """
    checkup = found if isinstance(found, Checkup) else Checkup(0, tuple(found), ())

    def remove(connection: Connection) -> None:
        connection.executemany("DELETE FROM responses WHERE id = ?", [(number,) for number in checkup.damaged])
        for table, more, rows in (
            ("failures", "", checkup.damaged_failures), ("superseded", " AND at = ?", checkup.damaged_aside)
        ):  # fmt: skip
            query = f"DELETE FROM {table} WHERE engine = ? AND request = ? AND repeat = ?{more}"  # noqa: S608 - our words
            connection.executemany(query, rows)

    with _connected(log) as connection, log_errors(log.path):
        connection.transact(remove)


def salvage(source: ResponseLog, target: Path) -> int:
    """Copy every entry that can still be read into a new log; return how many answers that were.

    Raises:
        UsageError: ``target`` exists.
        LogError: Not even the engines can be read.
    """
    if target.exists():
        raise UsageError(f"{target} exists already", hint="name a file that does not")
    with ResponseLog(target) as log:
        return merge(log, source).new


def _is_sound(sealer: Sealer, row: tuple[Any, ...]) -> bool:
    try:
        return sealer.is_sound(*row[2:])
    except ForgedError:
        return False


def _readable(connection: Connection, first: int, last: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a damaged table: where a range cannot be read, its halves may."""
    ranges = [(start, min(start + _ROWS - 1, last)) for start in range(first, last + 1, _ROWS)][::-1]
    while ranges:
        low, high = ranges.pop()
        query = f"SELECT {_COLUMNS} FROM responses NOT INDEXED WHERE id BETWEEN ? AND ?"  # noqa: S608 - our names
        try:
            rows = connection.execute(query, (low, high)).fetchall()
        except DAMAGE:
            if low < high:
                middle = (low + high) // 2
                ranges += [(middle + 1, high), (low, middle)]
        else:
            yield rows


def _last_id(log: ResponseLog, connection: Connection) -> int:
    try:
        return int(connection.execute("SELECT coalesce(max(id), 0) FROM responses").fetchone()[0])
    except DAMAGE:
        return log.store.size(connection) // _SMALLEST_ROW_BYTES


@contextmanager
def _connected(log: ResponseLog) -> Iterator[Connection]:
    """Give a connection of its own, closed at the end."""
    connection = log.connect()
    try:
        yield connection
    finally:
        connection.close()


def _rows(log: ResponseLog, connection: Connection, table: Table) -> Iterator[tuple[int, bytes, int, int, bytes]]:
    order = {"responses": "id", "failures": "engine", "superseded": "at"}[table]
    query = f"SELECT engine, request, repeat, at, body FROM {table} ORDER BY {order}"  # noqa: S608 - our names
    try:
        with log_errors(log.path):
            yield from connection.stream(query)
    except LogError as error:
        if table != "superseded" or table not in error.why:  # which the logs of earlier versions do not have
            raise
