"""Time limits of many tasks of one event loop, kept with a single timer.

A timer for each request (``asyncio.timeout``, or the ``total`` of an HTTP client) costs several microseconds, and
nearly all of those timers are cancelled unused. Here a request writes down when it has to end, and the one timer is
set for the earliest end.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import cast


class Deadlines:
    """Ends what takes too long. Belongs to the event loop in which it is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ends: dict[asyncio.Task[object], float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due = float("inf")

    def within(self, seconds: float) -> _Limit:
        """Return a context manager for the current task, one at a time.

        Raises:
            TimeoutError: On leaving it, where its block was ended because ``seconds`` had passed.
        """
        return _Limit(self, seconds)

    def close(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def add(self, task: asyncio.Task[object], seconds: float) -> None:
        """Write down that a task has to end after ``seconds``."""
        end = self._ends[task] = self._loop.time() + seconds
        if end < self._due:
            self.close()
            self._due, self._timer = end, self._loop.call_at(end, self._check)

    def remove(self, task: asyncio.Task[object]) -> bool:
        """Forget a task; return whether it ended in time."""
        return self._ends.pop(task, None) is not None

    def _check(self) -> None:
        now = self._loop.time()
        for task in [task for task, end in self._ends.items() if end <= now]:
            del self._ends[task]
            task.cancel()
        self._due = min(self._ends.values(), default=float("inf"))
        self._timer = self._loop.call_at(self._due, self._check) if self._ends else None


class _Limit:
    """One block of one task; after the fashion of ``asyncio.Timeout``."""

    __slots__ = ("_cancelling", "_deadlines", "_seconds", "_task")

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds

    def __enter__(self) -> None:
        task = self._task = cast("asyncio.Task[object]", asyncio.current_task())  # engines await in tasks only
        self._cancelling = task.cancelling()
        self._deadlines.add(task, self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._deadlines.remove(self._task):
            return
        # Somebody else may have cancelled the task as well: that wish counts more.
        if self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
