"""Means that the processes of a log share: those of a budget, and limits per minute of an engine.

Both are rows of the log, changed in a transaction of the database and by its clock. A process takes more than the next
request needs, so that not each one costs a transaction, and less and less where little is left.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from proctor.running.claims import Claims
from proctor.running.log_errors import log_errors

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.running.log import ResponseLog
    from proctor.running.log_store import Connection

_SHARE: Final = 16
"""A process takes the sixteenth part of what is left: eight of them leave half to each other."""

_SLOTS: Final = 4
"""Parts of a second in which what was sent is counted: a window of a minute is then at most a quarter longer."""

_WINDOW: Final = 60 * _SLOTS + 1
Means = tuple[float, float]
"""Tokens and US dollars."""


class Pool:
    """The means of a budget, of which all processes take that ask an engine, by its number, at the same time."""

    def __init__(self, log: ResponseLog, engine: int, process: int | None = None) -> None:
        self._log, self._engine = log, engine
        self._claims = Claims(log, engine, process)
        self.process = self._claims.process
        self.granted: Means = (0, 0.0)
        self.of_others: Means = (0, 0.0)
        """What others had taken when it was last looked."""

    @contextmanager
    def held(self, spent: Means) -> Iterator[None]:
        """Take part for a block. What was spent is forgotten by whoever comes when nobody is there."""
        with self._claims.held():
            self._claims.write(self._forget)
            self.note(spent)
            yield

    def note(self, spent: Means) -> None:
        """Have taken what was spent, and no more."""
        self._claims.write(lambda inside: self._take(inside, spent))

    def grow(self, wanted: Means, most: tuple[float | None, float | None]) -> bool:
        """Take of the whole budget until a process has what it spent and holds; return whether there was enough."""
        return self._claims.write(lambda inside: self._grown(inside, wanted, most))

    def _grown(self, inside: Connection, wanted: Means, most: tuple[float | None, float | None]) -> bool:
        _lock(self._log, inside, self._engine)
        query = (
            "SELECT coalesce(sum(tokens), 0), coalesce(sum(usd), 0.0) FROM spending WHERE engine = ? AND process <> ?"
        )
        self.of_others = inside.execute(query, (self._engine, self.process)).fetchone()
        left = [
            math.inf if whole is None else whole - float(there) - want
            for whole, there, want in zip(most, self.of_others, wanted, strict=True)
        ]
        if min(left) < 0:
            return False
        more = [0.0 if each is math.inf else each / _SHARE for each in left]
        self._take(inside, (wanted[0] + more[0], wanted[1] + more[1]))
        return True

    def _take(self, inside: Connection, means: Means) -> None:
        note = "INSERT INTO spending (process, engine, tokens, usd) VALUES (?, ?, ?, ?)"
        note += " ON CONFLICT (process) DO UPDATE SET tokens = excluded.tokens, usd = excluded.usd"
        self.granted = (int(means[0]), float(means[1]))
        inside.execute(note, (self.process, self._engine, *self.granted))

    def _forget(self, inside: Connection) -> None:
        _lock(self._log, inside, self._engine)
        living = f"SELECT id FROM processes WHERE {self._log.store.alive}"  # noqa: S608 - our words, here and below
        others = f"SELECT 1 FROM spending WHERE engine = ? AND process <> ? AND process IN ({living})"  # noqa: S608
        if inside.execute(others, (self._engine, self.process)).fetchone() is None:
            inside.execute("DELETE FROM spending WHERE engine = ?", (self._engine,))


class SharedWindow:
    """The last minute of an engine, by its number, as all processes of a log had it."""

    def __init__(self, log: ResponseLog, engine: int) -> None:
        self._log, self._engine, self._lock = log, engine, threading.Lock()
        self._connection: Connection | None = None

    def take(self, kind: str, per_minute: float, spent: float, least: float, most: float) -> tuple[float, float]:
        """Count requests or tokens that were spent, and take more where there is room for the least that is wanted.

        Returns:
            What was taken, and for how many seconds to wait if there was no room.
        """

        def taken(inside: Connection) -> tuple[float, float]:
            _lock(self._log, inside, self._engine)
            now = float(inside.execute(f"SELECT {self._log.store.now}").fetchone()[0])
            slot, of = int(now * _SLOTS), (self._engine, kind)
            inside.execute("DELETE FROM paces WHERE engine = ? AND kind = ? AND slot <= ?", (*of, slot - _WINDOW))
            query = "SELECT coalesce(sum(amount), 0.0), coalesce(min(slot), ?) FROM paces WHERE engine = ? AND kind = ?"
            total, oldest = inside.execute(query, (slot, *of)).fetchone()
            room = per_minute - float(total) - spent
            is_free = room > 0 and room >= min(least, per_minute)
            more = max(least, min(most, room)) if is_free else 0.0
            if spent + more:
                add = "INSERT INTO paces (engine, kind, slot, amount) VALUES (?, ?, ?, ?)"
                add += " ON CONFLICT (engine, kind, slot) DO UPDATE SET amount = paces.amount + excluded.amount"
                inside.execute(add, (*of, slot, float(spent + more)))
            return more, 0.0 if is_free else max(0.001, (oldest + _WINDOW) / _SLOTS - now)

        with self._lock, log_errors(self._log.path):
            if self._connection is None:
                self._connection = self._log.connect()
            return self._connection.transact(taken)

    def close(self) -> None:
        """Close the connection to the log, if one was needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()


@contextmanager
def sharing_limits(log: ResponseLog, number: int, engine: Engine) -> Iterator[None]:
    """Let an engine keep its limits per minute together with all processes of a log, within a block."""
    window = SharedWindow(log, number)
    try:
        engine.share_rates(window.take if engine.takes_time else None)
        yield
    finally:
        engine.share_rates(None)
        window.close()


def _lock(log: ResponseLog, inside: Connection, engine: int) -> None:
    """Let one process at a time look and take; SQLite's transactions do that by themselves."""
    inside.execute(f"SELECT id FROM engines WHERE id = ?{log.store.locking}", (engine,)).fetchone()  # noqa: S608
