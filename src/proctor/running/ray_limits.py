"""Limits per minute of a run on Ray: its workers ask at one desk, which this process serves.

So they are kept for all workers together, whoever has much to do; and where the run has a response log, together with
the other processes of that log.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from typing import Any, Final

from proctor.engines.http.rate_limits import Take

_MINUTE: Final = 60.0  # seconds of the window in which providers count
Wanted = tuple[str, float, float, float, float]
"""What is limited, how much a minute, what was spent, and between which amounts more is wanted."""


class Desk:
    """Where workers ask for what they may send: an actor, between them and whoever serves it."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[tuple[int, Wanted]] = asyncio.Queue()
        self._waiting: dict[int, asyncio.Future[tuple[float, float]]] = {}
        self._count = 0

    async def take(self, *wanted: Any) -> tuple[float, float]:
        """Return what was granted, or for how long to wait."""
        self._count += 1
        number = self._count
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._asked.put((number, wanted))
        return await self._waiting[number]

    async def next(self) -> tuple[int, Wanted]:
        """Return who asks next, as a number, and for what."""
        return await self._asked.get()

    async def tell(self, number: int, found: tuple[float, float] | Exception) -> None:
        """Give somebody his answer."""
        future = self._waiting.pop(number)
        future.set_exception(found) if isinstance(found, Exception) else future.set_result(found)


class OwnWindow:
    """The last minute of one run, for where there is no response log that others share."""

    def __init__(self) -> None:
        self._spent: dict[str, deque[tuple[float, float]]] = {}

    def take(self, kind: str, per_minute: float, spent: float, least: float, most: float) -> tuple[float, float]:
        """See :class:`~proctor.running.shared_means.SharedWindow`."""
        now, known = time.monotonic(), self._spent.setdefault(kind, deque())
        while known and known[0][0] <= now - _MINUTE:
            known.popleft()
        room = per_minute - sum(amount for _, amount in known) - spent
        is_free = room > 0 and room >= min(least, per_minute)
        more = max(least, min(most, room)) if is_free else 0.0
        if spent + more:
            known.append((now, spent + more))
        return more, 0.0 if is_free else max(0.001, (known[0][0] if known else now) + _MINUTE - now)


class DeskService:
    """Serves a desk from a thread of this process.

    Args:
        ray: The package.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.desk = ray.remote(num_cpus=0, max_concurrency=1_000)(Desk).remote()
        self.window: Take = OwnWindow().take
        threading.Thread(target=self._serve, name="proctor-limits", daemon=True).start()

    def _serve(self) -> None:
        errors = self._ray.exceptions.RayError
        while True:
            try:
                number, wanted = self._ray.get(self.desk.next.remote())
                self.desk.tell.remote(number, self._granted(wanted))
            except errors:  # the actor is gone: so are the workers
                return

    def _granted(self, wanted: Wanted) -> tuple[float, float] | Exception:
        try:
            return self.window(*wanted)
        except Exception as error:  # noqa: BLE001 - whoever asked raises it, in another process
            return error

    def close(self) -> None:
        """Let the desk go."""
        self._ray.kill(self.desk)
