"""What the processes of a log have together: the means of a budget, and limits per minute of an engine.

Both are rows of the log, changed in a transaction of the database and by its clock. A process takes more than the next
request needs, so that not each one costs a transaction, and less and less where little is left.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from proctor.running.claims import Claims
from proctor.running.log_errors import log_errors

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from proctor.engines.engine import Engine
    from proctor.running.log import ResponseLog
    from proctor.running.log_store import Connection

_SHARE: Final = 16
"""A process takes the sixteenth part of what is left: eight of them leave half to each other."""

_SLOTS: Final = 4
"""Parts of a second in which what was sent is counted: a window of a minute is then at most a quarter longer."""

_WINDOW: Final = 60 * _SLOTS + 1


class Pool:
    """The means of a budget, of which all processes take that ask an engine through a log at the same time.

    Args:
        log: An open log.
        engine: The engine's number in it.
        process: The number of who takes part, where he did so before.
    """

    def __init__(self, log: ResponseLog, engine: int, process: int | None = None) -> None:
        self._log, self._engine = log, engine
        self._claims = Claims(log, engine, process)
        self.granted: tuple[float, float] = (0, 0.0)
        self.of_others: tuple[float, float] = (0, 0.0)
        """Tokens and dollars that others had taken when it was last looked."""

    @contextmanager
    def held(self, spent: tuple[int, float]) -> Iterator[None]:
        """Take part for a block. What was spent is forgotten by whoever comes when nobody is there."""
        with self._claims.held():
            self._claims.write(self._forget)
            self._claims.write(lambda inside: self._note(inside, *spent))
            yield

    @property
    def process(self) -> int:
        """The number of who takes part."""
        return self._claims.process

    def left(self, spent: tuple[int, float]) -> None:
        """Give back what was taken and not spent."""
        self._claims.write(lambda inside: self._note(inside, *spent))

    def grow(self, wanted: tuple[float, float], most: tuple[float | None, float | None]) -> bool:
        """Take until a process has what it wants in all, in tokens and dollars; return whether there was enough.

        Args:
            wanted: What it spent and holds.
            most: The whole budget.
        """
        return self._claims.write(lambda inside: self._grown(inside, wanted, most))

    def _grown(self, inside: Connection, wanted: tuple[float, float], most: tuple[float | None, float | None]) -> bool:
        _lock(self._log, inside, self._engine)
        query = (
            "SELECT coalesce(sum(tokens), 0), coalesce(sum(usd), 0.0) FROM spending WHERE engine = ? AND process <> ?"
        )
        tokens, usd = map(float, inside.execute(query, (self._engine, self._claims.process)).fetchone())
        self.of_others = (tokens, usd)
        rooms = [math.inf if whole is None else whole - there for whole, there in zip(most, (tokens, usd), strict=True)]
        if any(want > room for want, room in zip(wanted, rooms, strict=True)):
            return False
        grown = [
            want + (0 if room is math.inf else (room - want) / _SHARE) for want, room in zip(wanted, rooms, strict=True)
        ]
        self._note(inside, int(grown[0]), grown[1])
        return True

    def _note(self, inside: Connection, tokens: float, usd: float) -> None:
        note = "INSERT INTO spending (process, engine, tokens, usd) VALUES (?, ?, ?, ?)"
        note += " ON CONFLICT (process) DO UPDATE SET tokens = excluded.tokens, usd = excluded.usd"
        inside.execute(note, (self._claims.process, self._engine, int(tokens), float(usd)))
        self.granted = (tokens, usd)

    def _forget(self, inside: Connection) -> None:
        _lock(self._log, inside, self._engine)
        living = f"SELECT id FROM processes WHERE {self._log.store.alive}"  # noqa: S608 - our words, here and below
        others = f"SELECT 1 FROM spending WHERE engine = ? AND process <> ? AND process IN ({living})"  # noqa: S608
        mine = (self._engine, self._claims.process)
        if inside.execute(others, mine).fetchone() is None:
            inside.execute("DELETE FROM spending WHERE engine = ?", mine[:1])


class SharedWindow:
    """The last minute of an engine, as all processes of a log had it: a window of ``engines.http.rate_limits``.

    Args:
        log: An open log.
        engine: The engine's number in it.
        connection: To the log, for this alone.
    """

    def __init__(self, log: ResponseLog, engine: int, connection: Connection) -> None:
        self._log, self._engine, self._connection = log, engine, connection
        self._lock = threading.Lock()

    def take(self, kind: str, per_minute: float, spent: float, least: float, most: float) -> tuple[float, float]:
        """Count what was spent, and take more where there is room.

        Args:
            kind: Of what: requests or tokens.
            per_minute: The limit.
            spent: What is counted, whether there is room or not.
            least: As much room is needed; any, where nothing is.
            most: As much is taken where there is room.

        Returns:
            What was taken, and for how many seconds to wait if there was no room.
        """
        with self._lock, log_errors(self._log.path):
            return self._connection.transact(lambda inside: self._taken(inside, kind, per_minute, spent, (least, most)))

    def _taken(
        self, inside: Connection, kind: str, per_minute: float, spent: float, wanted: tuple[float, float]
    ) -> tuple[float, float]:
        _lock(self._log, inside, self._engine)
        now = float(inside.execute(f"SELECT {self._log.store.now}").fetchone()[0])
        slot, of = int(now * _SLOTS), (self._engine, kind)
        inside.execute("DELETE FROM paces WHERE engine = ? AND kind = ? AND slot <= ?", (*of, slot - _WINDOW))
        if spent:
            self._add(inside, kind, slot, spent)
        query = "SELECT coalesce(sum(amount), 0.0), coalesce(min(slot), 0) FROM paces WHERE engine = ? AND kind = ?"
        total, oldest = inside.execute(query, of).fetchone()
        room = per_minute - float(total)
        least, most = wanted
        if room <= 0 or room < min(least, per_minute):
            return 0.0, max(0.001, (oldest + _WINDOW) / _SLOTS - now)
        taken = max(least, min(most, room))
        if taken:
            self._add(inside, kind, slot, taken)
        return taken, 0.0

    def _add(self, inside: Connection, kind: str, slot: int, amount: float) -> None:
        add = "INSERT INTO paces (engine, kind, slot, amount) VALUES (?, ?, ?, ?)"
        add += " ON CONFLICT (engine, kind, slot) DO UPDATE SET amount = paces.amount + excluded.amount"
        inside.execute(add, (self._engine, kind, slot, float(amount)))


def sharing_limits(log: ResponseLog, number: int, engine: Engine) -> AbstractContextManager[None]:
    """Let an engine keep its limits per minute together with all processes of a log, within a block."""
    return _sharing(log, number, engine) if engine.has_rates and engine.takes_time else nullcontext()


@contextmanager
def _sharing(log: ResponseLog, number: int, engine: Engine) -> Iterator[None]:
    with closing(log.connect()) as connection:
        engine.share_rates(SharedWindow(log, number, connection))
        try:
            yield
        finally:
            engine.share_rates(None)


def _lock(log: ResponseLog, inside: Connection, engine: int) -> None:
    """Let one process at a time look and take; SQLite's transactions do that by themselves."""
    inside.execute(f"SELECT id FROM engines WHERE id = ?{log.store.locking}", (engine,)).fetchone()  # noqa: S608
