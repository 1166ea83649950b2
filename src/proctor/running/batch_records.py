"""Records of what was sent to providers in batches, in the log: for every process and machine that has it."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from proctor.errors import LogError, OutputError
from proctor.running.log_errors import log_errors
from proctor.running.log_place import LogAddress
from proctor.running.log_store import Connection, Store, store_at

_KEPT_SECONDS = 29 * 86_400.0  # as long as providers keep results


class Record(Struct):
    """A batch as it stands in the log.

    Attributes:
        name: What the provider is told.
        engine: Whose answers it brings.
        requests: The keys of its requests.
        began: When it was about to be made, in Unix seconds.
        batch: The provider's id; empty while nobody knows whether it was made.
        is_read: Whether its answers were given to a run. What did not get into the log is read again, and not paid.
    """

    name: str
    engine: str
    requests: list[str]
    began: float
    batch: str = ""
    is_read: bool = False


class BatchRecords:
    """The records of a log; whoever sends a request has claimed it, so no two processes write down the same one.

    Args:
        place: Where the log is.
        store: What holds it.
        connection: A connection to it.
    """

    def __init__(self, place: Path | LogAddress, store: Store, connection: Connection) -> None:
        self._place, self._store, self._connection = place, store, connection

    def of(self, identity: str) -> list[Record]:
        """Return an engine's batches, the first ones first; those whose results are gone are forgotten, read or not.

        Raises:
            OutputError: One cannot be read.
        """
        found = [each for each in self._all() if each.engine == identity]
        for each in found:
            if _is_old(each):
                self.forget(each)
        return sorted(itertools.filterfalse(_is_old, found), key=lambda each: each.began)

    def under_way(self) -> set[str]:
        """Return the engines with batches whose answers nobody has read; errors as in :meth:`of`."""
        return {each.engine for each in self._all() if not each.is_read and not _is_old(each)}

    def _all(self) -> list[Record]:
        with log_errors(self._place):
            rows = self._connection.execute("SELECT name, body FROM batches").fetchall()
        where, remedy = f"in the table batches of {self._place}", "delete this row, with sqlite3 or psql"
        return [_decoded(bytes(body), f"{name} {where}", remedy) for name, body in rows]

    def write(self, record: Record) -> None:
        """Write a batch down; it would outlive a power loss when this returns."""
        insert = "INSERT INTO batches (name, engine, body) VALUES (?, ?, ?)"
        insert += " ON CONFLICT (name) DO UPDATE SET body = excluded.body"
        with log_errors(self._place):
            self._connection.execute(insert, (record.name, record.engine, msgspec.json.encode(record)))
        self._store.sync()

    def forget(self, record: Record) -> None:
        """Forget a batch that was not made, or that is of no use any more."""
        with log_errors(self._place):
            self._connection.execute("DELETE FROM batches WHERE name = ?", (record.name,))

    def forget_read(self, requests: Collection[str]) -> None:
        """Forget some requests of batches that were read: they are asked anew; others are read once more."""
        for each in self._all():
            left = [key for key in each.requests if key not in requests]
            if each.is_read and not left:
                self.forget(each)
            elif each.is_read and len(left) < len(each.requests):
                each.requests = left
                self.write(each)

    def has(self, record: Record) -> bool:
        """Whether a batch is still written down: who takes over what was on its way forgets it."""
        with log_errors(self._place):
            return (
                self._connection.execute("SELECT 1 FROM batches WHERE name = ?", (record.name,)).fetchone() is not None
            )

    def take_over(self, folder: Path) -> None:
        """Take what earlier versions wrote down in a folder beside the log."""
        for path in sorted(folder.glob("*.json")):
            self.write(_decoded(path.read_bytes(), str(path), "move the file away"))
            path.unlink(missing_ok=True)


def _is_old(record: Record) -> bool:
    return record.began < time.time() - _KEPT_SECONDS


def _decoded(body: bytes, where: str, remedy: str) -> Record:
    try:
        return msgspec.json.decode(body, type=Record)
    except msgspec.DecodeError as error:
        hint = f"{remedy}: what it says was sent is sent again then"
        raise OutputError("what was sent in a batch cannot be read", why=f"{where}: {error}", hint=hint) from None


@contextmanager
def batch_records(place: Path | LogAddress) -> Iterator[BatchRecords]:
    """Open the records of a log for a block.

    Raises:
        LogError: The log cannot be opened.
        OutputError: A record of an earlier version cannot be read.
    """
    store = store_at(place, read_only=False)
    with closing(store.connect()) as connection:
        with log_errors(place):
            store.prepare(connection)
        found = BatchRecords(place, store, connection)
        if isinstance(place, Path) and (folder := Path(f"{place}.batches")).is_dir():
            found.take_over(folder)
        yield found


def copy_records(source: Connection, target: Connection) -> None:
    """Copy what is under way from one log to another, where it is not known yet."""
    try:
        rows = source.execute("SELECT name, engine, body FROM batches").fetchall()
    except (sqlite3.OperationalError, LogError) as error:
        if "batches" not in str(error):
            raise
        return  # a log from before there were batches in it
    target.executemany("INSERT INTO batches (name, engine, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)
