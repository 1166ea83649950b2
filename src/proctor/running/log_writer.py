"""Group commit: answers are written by a thread of their own, as many at a time as arrived since the last commit.

A lone answer is durable within a millisecond or two; a flood of them shares transactions, so that the disk's
flush is paid once for many. Nothing is lost by a kill but what arrived during the last commit.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

from proctor.errors import LogError
from proctor.ir import Response
from proctor.running.log import Key, ResponseLog, log_errors, write

_SPACING_SECONDS = 0.002
_FLOOD = 2_000
_MOST_WAITING = 20_000


class LogWriter:
    """Writes the answers of one engine to a log, in the background.

    Args:
        log: An open log; the writer has a connection of its own to it.
        engine: The engine's number in the log.
    """

    def __init__(self, log: ResponseLog, engine: int) -> None:
        self._log = log
        self._engine = engine
        self._waiting: dict[Key, Response] = {}
        self._change = threading.Condition()
        self._error: BaseException | None = None
        self._closing = False
        self._connection = log.connect()
        self._thread = threading.Thread(target=self._work, name="proctor-log", daemon=True)
        self._thread.start()

    def put(self, key: Key, response: Response) -> None:
        """Hand over an answer. It counts once it is committed; :meth:`flush` waits for that.

        Raises:
            LogError: An earlier answer could not be stored.
        """
        with self._change:
            while len(self._waiting) >= _MOST_WAITING and self._error is None:
                self._change.wait()
            self._raise()
            self._waiting[key] = response
            self._change.notify_all()

    def holds(self, key: Key) -> bool:
        """Whether an answer to this key was handed over and is not yet committed."""
        return key in self._waiting

    def flush(self) -> None:
        """Return when everything handed over is durable; raise :class:`LogError` where that is impossible."""
        with self._change:
            while self._waiting and self._error is None:
                self._change.wait()
            self._raise()

    def close(self) -> None:
        """Write what is left, trying once more after an error, and stop the thread.

        Raises:
            LogError: Some answers could not be stored; it says how many.
        """
        with self._change:
            self._closing = True
            self._change.notify_all()
        self._thread.join()
        try:
            if self._waiting:
                self._commit(dict(self._waiting))
        except LogError as error:
            raise LogError(
                f"{len(self._waiting)} answers could not be stored: {error.what}", why=error.why, hint=error.hint
            ) from error
        finally:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not isinstance(error, LogError):
            self.close()
            return
        try:
            self.close()
        except LogError as second:
            raise second from error

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._closing:
                    self._change.wait()
                if not self._waiting:
                    return
                batch = dict(self._waiting)
            if not self._commit_or_stop(batch):
                return
            if not self._closing and len(batch) < _FLOOD:
                time.sleep(_SPACING_SECONDS)

    def _commit_or_stop(self, batch: dict[Key, Response]) -> bool:
        try:
            self._commit(batch)
        except BaseException as error:  # noqa: BLE001 - handed to the thread that writes
            with self._change:
                self._error = error
                self._change.notify_all()
            return False
        return True

    def _commit(self, batch: dict[Key, Response]) -> None:
        with log_errors(self._log.path):
            write(self._connection, self._engine, batch.items())
        with self._change:
            for key in batch:
                del self._waiting[key]
            self._change.notify_all()
