"""Group commit: answers are written by a thread of their own, as many at a time as arrived since the last commit.

A commit is safe from the end of the process and takes a fraction of a millisecond, so next to nothing is lost by a
kill. A second thread flushes the disk a few times a second, which makes the commits safe from a power loss too;
:meth:`LogWriter.flush` waits for both, and only then does an answer count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from proctor.errors import LogError
from proctor.ir import Response
from proctor.running.log import Key, ResponseLog, write
from proctor.running.log_errors import log_errors

_COMMIT_SPACING_SECONDS = 0.01  # a kill loses so much at most; a commit takes a tenth of it, and what arrives shares it
# Where answers come at more than 5,000 a second, none of them took anybody long: a kill may lose a tenth of a second of
# them, and each costs half as much in a commit of a thousand as in one of a hundred, which changes the same pages.
_MANY = 50
_SPACING_OF_MANY_SECONDS = 0.1
_SYNC_SPACING_SECONDS = 0.25  # flushing a disk takes 1 to 50 ms; a power loss costs a quarter of a second of answers
_FLOOD = 2_000  # answers in a commit: more wait already, and the commit has paid for itself
_MOST_WAITING = 20_000  # answers in memory, some 50 MB, before a fast engine has to wait for a slow disk


class LogWriter:
    """Writes the answers of one engine to a log, in the background.

    Args:
        log: An open log; the writer has a connection of its own to it.
        engine: The engine's number in the log.
        claimed: Whether requests are claimed before they are sent (:mod:`proctor.running.claims`).
    """

    def __init__(self, log: ResponseLog, engine: int, *, claimed: bool = False) -> None:
        self._log = log
        self._engine = engine
        self._claimed = claimed
        self._waiting: dict[Key, Response] = {}
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        self._error: BaseException | None = None
        self._closing = threading.Event()
        self._hurried = 0
        self._unsynced = False
        self._connection = log.connect()
        self._threads = [self._start(self._commit_all), self._start(self._sync_now_and_then)]

    def put(self, key: Key, response: Response) -> None:
        """Hand over an answer. It counts once it is committed; :meth:`flush` waits for that.

        Raises:
            LogError: An earlier answer could not be stored.
        """
        with self._lock:
            while len(self._waiting) >= _MOST_WAITING and self._error is None:
                self._change.wait()
            if self._error is not None:
                raise self._error
            self._waiting[key] = response
            if len(self._waiting) == 1:  # the writer sleeps only where nothing waits
                self._change.notify_all()

    def holds(self, key: Key) -> bool:
        """Whether an answer to this key was handed over and is not yet committed."""
        return key in self._waiting

    def flush(self) -> None:
        """Wait until everything handed over is durable; raise :class:`LogError` where that is impossible."""
        with self._change:
            self._hurried += 1
            self._change.notify_all()
            try:
                while self._waiting and self._error is None:
                    self._change.wait()
            finally:
                self._hurried -= 1
            self._raise()
        self._sync()

    def close(self) -> None:
        """Write what is left, trying once more after an error, and stop the threads.

        Raises:
            LogError: Some answers could not be stored; it says how many.
        """
        self._closing.set()
        with self._change:
            self._change.notify_all()
        for thread in self._threads:
            thread.join()
        try:
            if self._waiting:
                self._commit(dict(self._waiting))
            self._sync()
        except LogError as error:
            lost = f"{len(self._waiting)} answers could not be stored: " if self._waiting else ""
            raise LogError(f"{lost}{error.what}", why=error.why, hint=error.hint) from error
        finally:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _start(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=self._guarded, args=(work,), name="proctor-log", daemon=True)
        thread.start()
        return thread

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the thread that puts
            with self._change:
                self._error = error
                self._change.notify_all()

    def _commit_all(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._closing.is_set():
                    self._change.wait()
                if not self._waiting:
                    return
                batch = dict(self._waiting)
            self._commit(batch)
            if len(batch) < _FLOOD and not self._closing.is_set():
                self._rest(len(batch))

    def _rest(self, committed: int) -> None:
        """Let answers gather, unless somebody waits until all are durable."""
        seconds = _COMMIT_SPACING_SECONDS if committed < _MANY else _SPACING_OF_MANY_SECONDS
        with self._change:
            self._change.wait_for(lambda: self._hurried or self._closing.is_set(), seconds)

    def _commit(self, batch: dict[Key, Response]) -> None:
        with log_errors(self._log.path):
            write(self._log, self._connection, self._engine, batch.items(), claimed=self._claimed)
            self._connection.tidy()
        with self._change:
            self._unsynced = True
            for key in batch:
                del self._waiting[key]
            self._change.notify_all()

    def _sync_now_and_then(self) -> None:
        while not self._closing.wait(_SYNC_SPACING_SECONDS):
            self._sync()

    def _sync(self) -> None:
        with self._change:
            needed, self._unsynced = self._unsynced, False
        if needed:
            self._log.store.sync()
