"""Claims: which requests the processes that share a log have on their way, so that none is sent by two of them.

A claim is a row of the log beside the answers, under the same key, and goes in the commit that files the answer. It
holds as long as its process says that it lives: whoever is killed loses it. Time is that of the database.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import Any, Final, TypeVar

from proctor.errors import LogError
from proctor.logs import get_logger
from proctor.running.log import Key, ResponseLog
from proctor.running.log_errors import log_errors
from proctor.running.log_schema import LEASE_SECONDS, drop_claims
from proctor.running.log_store import Connection
from proctor.running.process_notes import is_gone, own_note

S = TypeVar("S")
T = TypeVar("T")

_BEAT_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.2  # between two looks at what others have on their way: nobody feels it, and it costs nothing
_KEYS_PER_QUERY: Final = 500

_AHEAD_SECONDS: Final = 0.5
"""For how long a process claims ahead: a commit costs as much as ten requests, and others wait so long at the end."""

_MOST_AHEAD: Final = 256


class Claims:
    """The claims of this process on requests to one engine.

    Args:
        log: An open log that may be written.
        engine: The engine's number in it.
        process: The number of this process; by default a new one.
    """

    def __init__(self, log: ResponseLog, engine: int, process: int | None = None) -> None:
        self._log, self._engine = log, engine
        self._alive = f"SELECT id FROM processes WHERE {log.store.alive}"  # noqa: S608 - our words, here and below
        self.process = process or secrets.randbits(62)
        self._lock = threading.Lock()
        self._ended = threading.Event()

    @contextmanager
    def held(self) -> Iterator[Claims]:
        """Live for a block: at its end, whatever is still claimed is free for others.

        Raises:
            LogError: The log cannot be written, or lies on a network file system and another process writes it.
        """
        with closing(self._log.connect()) as self._connection:
            self.write(self._begin)
            thread = threading.Thread(target=self._live, name="proctor-claims", daemon=True)
            thread.start()
            try:
                yield self
            finally:
                self._ended.set()
                thread.join()
                self.write(self._end)

    def _begin(self, connection: Connection) -> None:
        others = self._bury(connection)
        if self._log.store.network:
            self._check_alone(others)
        self._say_alive(connection)

    def _end(self, connection: Connection) -> None:
        connection.execute("DELETE FROM claims WHERE process = ?", (self.process,))
        connection.execute("DELETE FROM processes WHERE id = ?", (self.process,))

    def _check_alone(self, others: Sequence[Mapping[str, Any]]) -> None:
        """See to it that one process at a time writes a log on a network file system, and say so."""
        where = f"the response log {self._log.path} lies on a network file system ({self._log.store.network})"
        if others:
            raise LogError(
                f"{where}, and {_names(others)} writes it",
                why="SQLite shares a file between processes of one machine, not across a network",
                hint="name a PostgreSQL database with --log (docs/clusters.md), or give each process a log on a local "
                "disk, and bring them together with proctor log merge",
            )
        get_logger().warning("%s: it is written more slowly, by one process at a time", where)

    def in_time(self, steps: Iterator[S], mine: Callable[[list[S]], Iterable[S]]) -> Iterator[S]:
        """Yield what ``mine`` leaves of some steps, which are claimed shortly before they are sent."""
        size = 1
        while chunk := list(islice(steps, size)):
            began = time.monotonic()
            yield from mine(chunk)
            took = time.monotonic() - began
            size = min(2 * size, _MOST_AHEAD) if took < _AHEAD_SECONDS / 2 else max(size // 2, 1)

    def granted(self, keys: Sequence[Key]) -> set[Key]:
        """Claim requests; return those that nobody else alive has on his way."""
        claim = "INSERT INTO claims (engine, request, repeat, process) VALUES (?, ?, ?, ?)"
        claim += " ON CONFLICT (engine, request, repeat) DO UPDATE SET process = excluded.process"
        # In order, here and where claims go: PostgreSQL locks row by row, and two must not wait for each other.
        claim += f" WHERE claims.process NOT IN ({self._alive})"

        def ask(connection: Connection) -> set[Key]:
            connection.executemany(claim, [(self._engine, *key, self.process) for key in sorted(keys)])
            return self._of_others(connection, keys)

        return set(keys) - self.write(ask)

    def released(self, keys: Sequence[Key]) -> None:
        """Give up claims on requests that are not sent."""
        if keys:
            self.write(lambda connection: drop_claims(connection, [(self._engine, *key) for key in keys]))

    def wait(self, keys: Sequence[Key]) -> Iterator[str]:
        """Wait until no living process has one of some requests on its way; yield at each look, with who has them."""
        left = list(keys)
        while left:
            others, held = self.write(lambda inside: (self._bury(inside), self._of_others(inside, tuple(left))))  # noqa: B023
            left = [key for key in left if key in held]
            if left:
                yield _names(others)
                time.sleep(_LOOK_SECONDS)

    def _of_others(self, connection: Connection, keys: Sequence[Key]) -> set[Key]:
        """Return those of the keys that another process has claimed."""
        found: set[Key] = set()
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            chunk = [key.request for key in keys[start : start + _KEYS_PER_QUERY]]
            query = "SELECT request, repeat FROM claims WHERE engine = ? AND process <> ? AND request IN"
            found.update(Key(*row) for row in connection.among(query, (self._engine, self.process), chunk))
        return found.intersection(keys)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do some work as one transaction on the connection of the claims."""
        with self._lock, log_errors(self._log.path):
            return self._connection.transact(work)

    def _say_alive(self, connection: Connection) -> None:
        say = f"INSERT INTO processes (id, until, note) VALUES (?, {self._log.store.now} + ?, ?)"  # noqa: S608
        say += " ON CONFLICT (id) DO UPDATE SET until = excluded.until, note = excluded.note"
        connection.execute(say, (self.process, LEASE_SECONDS, own_note()))

    def _bury(self, connection: Connection) -> list[Mapping[str, Any]]:
        """Drop the processes that are dead, with their claims; return the notes of the other ones."""
        found = connection.execute("SELECT id, note FROM processes WHERE id <> ?", (self.process,)).fetchall()
        notes = {number: _parsed(note) for number, note in found}
        gone = [(number,) for number, note in notes.items() if is_gone(note)]
        connection.executemany("DELETE FROM processes WHERE id = ?", gone)
        connection.execute(f"DELETE FROM processes WHERE id NOT IN ({self._alive})")  # noqa: S608
        connection.execute("DELETE FROM claims WHERE process NOT IN (SELECT id FROM processes)")
        return [note for number, note in notes.items() if (number,) not in gone]

    def _live(self) -> None:
        while not self._ended.wait(_BEAT_SECONDS):
            with suppress(LogError):  # whoever files answers meets it, too, and says so
                self.write(self._say_alive)


class SharedKeys:
    """Requests that the processes of a log divide: ``settled`` says what others filed, ``passed`` hears of the rest."""

    def __init__(
        self, claims: Claims, settled: Callable[[list[Key]], set[Key]], passed: Callable[[set[Key]], object] = len
    ) -> None:
        self._claims, self._settled, self._passed = claims, settled, passed
        self.elsewhere: list[Key] = []

    def mine(self, items: Iterator[S], key: Callable[[S], Key]) -> Iterator[S]:
        """Yield what nobody else has on his way, claimed shortly before it is sent."""

        def granted(chunk: list[S]) -> list[S]:
            keyed = {key(item): item for item in chunk}
            given = self._claims.granted(list(keyed))
            settled = self._settled(list(given))
            self._claims.released(list(settled))
            self.elsewhere += keyed.keys() - given
            self._passed(keyed.keys() - (given - settled))
            return [item for each, item in keyed.items() if each in given and each not in settled]

        return self._claims.in_time(items, granted)

    def left_by_others(self) -> list[Key]:
        """Wait for what others have on their way, and say so; return what nobody alive has settled."""
        keys, self.elsewhere = self.elsewhere, []
        for place, whom in enumerate(self._claims.wait(keys)):
            if place == 0:
                get_logger().warning("%d questions are on their way for %s: waiting for the answers", len(keys), whom)
        settled = self._settled(keys)
        return [key for key in keys if key not in settled]


def _parsed(note: str) -> Mapping[str, Any]:
    """Return what a process says of itself; nothing where that cannot be read: its lease tells whether it lives."""
    with suppress(ValueError, RecursionError):
        found = json.loads(note)
        if isinstance(found, dict):
            return found
    return {}


def _names(others: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(sorted(f"process {each.get('pid')} on {each.get('host')}" for each in others))
