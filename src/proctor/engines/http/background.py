"""From a lazy iterable of requests to answers, through an event loop in a thread of its own.

The caller's thread reads requests and yields answers; the loop's thread talks to servers. So an engine works
inside notebooks (which run a loop already) and in any thread, and Ctrl-C or an abandoned iterator ends the work. At
most ``window`` requests are read but not yet yielded, whatever the number of requests.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from proctor.ir import Response

R = TypeVar("R")
Answering = Callable[[R], Awaitable[Response]]
"""Answers one request; failures are values."""
Opening = Callable[[], AbstractAsyncContextManager[Answering[R]]]
"""Opens what answering needs (connections) inside the event loop, and closes it."""

_PULL_AT_ONCE = 16  # requests made while answers wait: few enough that these are logged without delay
_PULL_SECONDS = 0.05  # the same where making a request is slow, because it loads data or renders a picture
_LINGER_SECONDS = 0.02  # waking the caller fifty times a second costs nothing, and models take longer to answer
_STOCK = 256
"""Most requests that are read beyond those that workers will take next, so that answers may linger."""
_STOCK_SECONDS = 0.25
"""For how long the stock lasts: what a slow server does not need yet, another process may ask meanwhile."""
_NEWEST = 0.3  # share of the newest batch of answers in the rate, which follows a server within a few of them
_Outcome = tuple[int, Response] | BaseException

_LOOK_SECONDS = 1.0
"""Between two looks at how many may be answered at once, where that changes and no answer comes."""

APART = ContextVar("apart", default=False)
"""Whether requests are read in a thread of their own, all that come: the next one may wait for answers."""


def answer_in_background(
    requests: Iterable[R],
    opening: Opening[R],
    concurrency: int | Callable[[], int],
    new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> Iterator[tuple[int, Response]]:
    """Yield ``(position, response)`` in the order in which answers arrive.

    Args:
        requests: Read lazily, in the caller's thread.
        opening: Called once in the event loop.
        concurrency: Requests answered at once; or what says how many now, which is asked every now and then. More are
            read, enough to keep all workers busy as fast as answers come, and none where ``requests.are_talks``: the
            next turn of a conversation then comes next.
        new_loop: Makes the event loop.

    Raises:
        BaseException: Whatever ``requests``, ``opening`` or the answering raises.
    """
    workers = concurrency() if callable(concurrency) else concurrency
    crew = _Crew(opening, workers, new_loop(), _LOOK_SECONDS if callable(concurrency) else None)
    if APART.get():
        yield from _read_apart(requests, crew)
        return
    source = enumerate(requests)
    outstanding, exhausted = 0, False
    rate, last = 0.0, time.monotonic()
    crew.start()
    try:
        while True:
            if callable(concurrency):
                crew.become(workers := concurrency())
            if not exhausted:
                stock = workers + min(_STOCK, int(rate * _STOCK_SECONDS))
                most = workers + (0 if getattr(requests, "are_talks", False) else stock)
                taken, exhausted = _pull(source, crew, max(most - outstanding, 0))
                outstanding += taken
            if not outstanding:
                return
            outcomes = crew.outcomes()
            now = time.monotonic()
            rate += _NEWEST * (len(outcomes) / max(now - last, _LINGER_SECONDS) - rate)
            last = now
            for outcome in outcomes:
                if isinstance(outcome, BaseException):
                    raise outcome
                outstanding -= 1
                yield outcome
    finally:
        crew.stop()


def _read_apart(requests: Iterable[R], crew: _Crew[R]) -> Iterator[tuple[int, Response]]:
    """Yield answers while a thread hands over requests as they come."""
    read: list[int] = []

    def read_all() -> None:
        position = -1
        try:
            for position, request in enumerate(requests):
                crew.submit((position, request))
        except BaseException as error:  # noqa: BLE001 - raised where answers are read
            crew.tell([error])
        else:
            read.append(position + 1)
            crew.tell([])

    crew.start()
    threading.Thread(target=read_all, name="proctor-requests", daemon=True).start()
    answered = 0
    try:
        while not read or answered < read[0]:
            for outcome in crew.outcomes():
                if isinstance(outcome, BaseException):
                    raise outcome
                answered += 1
                yield outcome
    finally:
        crew.stop()


def _pull(source: Iterator[tuple[int, R]], crew: _Crew[R], room: int) -> tuple[int, bool]:
    """Hand up to ``room`` requests to the crew; stop early where answers wait and pulling is slow."""
    began = time.monotonic()
    for taken in range(room):
        if taken and crew.has_outcomes() and (taken >= _PULL_AT_ONCE or time.monotonic() - began > _PULL_SECONDS):
            return taken, False
        item = next(source, None)
        if item is None:
            return taken, True
        crew.submit(item)
    return room, False


class _Crew(Generic[R]):
    """Workers in an event loop in a thread, with an inbox and an outbox."""

    def __init__(
        self, opening: Opening[R], concurrency: int, loop: asyncio.AbstractEventLoop, look_seconds: float | None = None
    ) -> None:
        self._opening = opening
        self._concurrency = concurrency
        self._look_seconds = look_seconds
        self._workers = 0
        self._group: asyncio.TaskGroup | None = None
        self._inbox: deque[tuple[int, R]] = deque()
        self._outbox: SimpleQueue[list[_Outcome]] = SimpleQueue()
        self._arrived: list[_Outcome] = []
        self._scarce = max(1, concurrency // 2)
        self._flush_is_due = False
        self._flush_later: asyncio.TimerHandle | None = None
        self._loop = loop
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="proctor-engine", daemon=True)
        self._stopping = False
        # Written by the loop's thread only; ``submit`` reads ``_idle`` after it filled the inbox, and a worker looks
        # into the inbox again after it became idle, so no request is left lying.
        self._idle: deque[asyncio.Future[None]] = deque()
        self._wake_is_due = False

    def start(self) -> None:
        self._thread.start()

    def submit(self, item: tuple[int, R]) -> None:
        self._inbox.append(item)
        if self._idle and not self._wake_is_due:
            self._wake_is_due = True
            self._call(self._wake)

    def has_outcomes(self) -> bool:
        return not self._outbox.empty()

    def outcomes(self) -> list[_Outcome]:
        """Wait for outcomes, and return those that came together; none where it is time to look around."""
        try:
            return self._outbox.get(timeout=self._look_seconds)
        except Empty:
            return []

    def become(self, concurrency: int) -> None:
        """Have so many workers from now on."""
        if concurrency != self._concurrency:
            self._concurrency, self._scarce = concurrency, max(1, concurrency // 2)
            self._call(self._hire)

    def tell(self, outcomes: list[_Outcome]) -> None:
        """Hand over outcomes, or nothing, so that whoever waits looks up."""
        self._outbox.put(outcomes)

    def stop(self) -> None:
        self._stopping = True
        self._call(self._cancel)
        self._thread.join()

    def _call(self, function: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended by itself, after it put its reason into the outbox
            self._loop.call_soon_threadsafe(function)

    def _cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def _wake(self) -> None:
        self._wake_is_due = False
        for _ in range(min(len(self._inbox), len(self._idle))):
            self._idle.popleft().set_result(None)

    def _run(self) -> None:
        try:
            self._main = self._loop.create_task(self._work())
            if self._stopping:
                self._main.cancel()
            self._loop.run_until_complete(self._main)
        except asyncio.CancelledError:
            pass
        except BaseExceptionGroup as group:  # of several workers that failed alike, one speaks
            self._outbox.put([group.exceptions[0]])
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            self._outbox.put([error])
        finally:
            self._loop.close()

    async def _work(self) -> None:
        async with self._opening() as self._answer, asyncio.TaskGroup() as self._group:
            self._hire()

    def _hire(self) -> None:
        while self._group is not None and self._workers < self._concurrency and not self._stopping:
            self._workers += 1
            self._group.create_task(self._serve(self._answer))

    async def _serve(self, answer: Answering[R]) -> None:
        inbox = self._inbox
        while self._workers <= self._concurrency:
            try:
                position, request = inbox.popleft()
            except IndexError:
                await self._rest()
                continue
            response = await answer(request)
            self._deliver((position, response))
        self._workers -= 1
        self._wake()  # what this one was woken for is another's

    def _deliver(self, outcome: _Outcome) -> None:
        """Hand an answer to the caller: soon where requests are running out, else together with others."""
        self._arrived.append(outcome)
        if len(self._inbox) < self._scarce:
            if not self._flush_is_due:
                self._flush_is_due = True
                self._loop.call_soon(self._flush)
        elif self._flush_later is None:
            self._flush_later = self._loop.call_later(_LINGER_SECONDS, self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        if self._flush_later is not None:
            self._flush_later.cancel()
            self._flush_later = None
        if self._arrived:
            arrived, self._arrived = self._arrived, []
            self._outbox.put(arrived)

    async def _rest(self) -> None:
        waiter = self._loop.create_future()
        self._idle.append(waiter)
        if self._inbox:
            self._wake()
        await waiter
