"""Rate limiting: adaptive or fixed concurrency, and requests and tokens per minute."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from proctor.ir import Failure, Response

# Any service takes eight; few do better beyond five hundred, each of which is an open connection.
AUTO_START, AUTO_MOST = 8, 512
_MINUTE = 60.0  # the limits of providers are for a minute; it slides here, so that none of theirs is overstepped
# How servers with too much to do fail; other failures say nothing about it.
_OVERLOAD = frozenset({"rate_limited", "timeout", "connection", "server_error"})
_ROUNDS_BETWEEN_TRIES = 8  # a try that brings nothing costs one round or two, so most are at the best known limit
_SECONDS_BETWEEN_CUTS = 1.0  # refusals come in swarms: requests that left together are turned away together
_DOUBTS = 1
"""Rounds without gain that are measured again before they are believed."""
_GAIN = 1.05
"""Rate has to grow by this for more requests at once to count as better: rounds differ by a few percent anyway."""


class Concurrency:
    """A gate for a number of requests at once that adapts to the server.

    The limit doubles with each round of answers as long as the rate grows with it. Then it stays half as much again
    above the best one: a server that has a few requests waiting is never idle while an answer travels. Now and then it
    tries more, and goes back where that brings nothing. A request that the server turns away halves the limit (additive
    increase, multiplicative decrease: Chiu and Jain, 1989), and from then on nothing is asked beyond what was good.

    Args:
        start: First limit.
        most: Highest limit.
        is_fixed: Never change it.
    """

    def __init__(self, start: int, most: int, *, is_fixed: bool) -> None:
        self.limit = start
        self._most = most
        self._is_fixed = is_fixed
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._round = _Round()
        self._best_rate = 0.0
        self._last_good = 1
        self._held = 0
        self._doubts = 0
        self._was_refused = False
        self._quiet_rounds = 0
        self._last_cut = float("-inf")

    async def acquire(self) -> None:
        """Wait for room."""
        while self._busy >= self.limit:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._wake()
                raise
        self._busy += 1
        if self._round.began is None:
            self._round.began = asyncio.get_running_loop().time()

    def release(self, failure: Failure | None) -> None:
        """Give room back, and learn from how it went."""
        self._busy -= 1
        if not self._is_fixed:
            self._learn(failure, asyncio.get_running_loop().time())
        self._wake()

    def _wake(self) -> None:
        for _ in range(min(len(self._waiting), max(0, self.limit - self._busy))):
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)

    def _learn(self, failure: Failure | None, now: float) -> None:
        if failure is not None and failure.kind in _OVERLOAD:
            self._cut(now)
            return
        self._round.answered += 1
        if self._round.answered >= 2 * self.limit:
            self._conclude(self._round.rate(now))
            self._round = _Round(now)

    def _conclude(self, rate: float) -> None:
        if self.limit <= self._held:
            self._best_rate = max(rate, self._best_rate * 0.98)  # a server that became slower is found out in time
            self._quiet_rounds += 1
            if self._quiet_rounds % _ROUNDS_BETWEEN_TRIES == 0:
                self._grow(2)
        elif rate > self._best_rate * _GAIN:
            self._best_rate, self._last_good, self._doubts = rate, self.limit, 0
            self._held = self.limit
            self._grow(1)
        elif self._doubts < _DOUBTS:
            self._doubts += 1  # one slow round may be another program's work
        else:
            self._doubts = 0
            self._stay()

    def _grow(self, divisor: int) -> None:
        part = 8 if self._was_refused else divisor
        self.limit = min(self._most, self.limit + max(1, self.limit // part))

    def _stay(self) -> None:
        """Go back to what was good, and a little more."""
        if self._was_refused:
            self._last_good += 1
            self._held = self._last_good
        else:
            self._held = min(self._most, self._last_good + max(1, self._last_good // 2))
        self.limit = self._held

    def _cut(self, now: float) -> None:
        if now - self._last_cut < _SECONDS_BETWEEN_CUTS:
            return  # sent under the same limit as the one that was cut for
        self._was_refused = True
        self.limit = self._last_good = self._held = max(1, self.limit // 2)
        self._best_rate, self._last_cut, self._round = 0.0, now, _Round(now)


@dataclass
class _Round:
    """Answers since the limit was last thought about."""

    began: float | None = None
    answered: int = 0

    def rate(self, now: float) -> float:
        """Return answers per second."""
        return self.answered / max(1e-9, now - (self.began or 0.0))


Take = Callable[[str, float, float, float, float], tuple[float, float]]
"""Counts what was spent of a limit, and takes between two amounts; returns what it took, or how long to wait."""


class Pace:
    """A limit per minute, of requests or tokens, kept over every window of 60 seconds.

    What a request will cost is known only when it is answered, so tokens are charged afterwards and the next
    request waits until the window has room again.

    Args:
        per_minute: The limit; ``None`` is none.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._per_minute = per_minute
        self._spent: deque[tuple[float, float]] = deque()
        self._total = 0.0
        self._turn = asyncio.Lock()

    async def wait(self, amount: float = 0.0) -> None:
        """Wait until there is room, then take ``amount``."""
        if self._per_minute is None:
            return
        async with self._turn:
            loop = asyncio.get_running_loop()
            while self._room(loop.time()) <= 0 or (amount and self._room(loop.time()) < min(amount, self._per_minute)):
                oldest = self._spent[0][0] if self._spent else loop.time()
                await asyncio.sleep(max(0.001, oldest + _MINUTE - loop.time()))
            if amount:
                self.charge(amount)

    def charge(self, amount: float) -> None:
        """Take ``amount`` now, whether there is room or not."""
        if self._per_minute is not None:
            self._spent.append((asyncio.get_running_loop().time(), amount))
            self._total += amount

    def _room(self, now: float) -> float:
        while self._spent and self._spent[0][0] <= now - _MINUTE:
            self._total -= self._spent.popleft()[1]
        return (self._per_minute or 0.0) - self._total


class SharedPace(Pace):
    """A limit per minute that several processes keep together, where they can."""

    def __init__(self, per_minute: float | None, take: Take | None, kind: str) -> None:
        super().__init__(per_minute)
        self._take, self._kind = take, kind
        self._taken = self._charged = self._until = 0.0

    async def wait(self, amount: float = 0.0) -> None:
        """Wait until there is room for all, then take ``amount``."""
        if self._take is None or self._per_minute is None:
            await super().wait(amount)
            return
        most = max(amount, self._per_minute / _MINUTE * _AHEAD) if amount else 0.0
        async with self._turn:
            now = asyncio.get_running_loop().time
            while now() >= self._until or self._taken < amount:
                charged, self._charged = self._charged, 0.0
                wanted = (self._kind, self._per_minute, charged, amount, most)
                self._taken, seconds = await asyncio.to_thread(self._take, *wanted)
                self._until = now() + _AHEAD
                if not seconds:
                    break
                await asyncio.sleep(seconds)
            self._taken -= amount

    def charge(self, amount: float) -> None:
        """Take ``amount``, in a window of many when it is next looked whether there is room."""
        self._charged += amount
        super().charge(amount)


_AHEAD = 0.25
"""For so many seconds a process takes ahead, and believes what it was told: four transactions a second."""


class Pacing:
    """All limits of one run.

    Args:
        concurrency: Requests at once.
        requests: Requests per minute.
        tokens: Tokens per minute.
    """

    def __init__(self, concurrency: Concurrency, requests: Pace, tokens: Pace) -> None:
        self.concurrency = concurrency
        self._requests = requests
        self._tokens = tokens

    async def enter(self) -> None:
        """Wait until another request may be sent."""
        await self._tokens.wait()
        await self._requests.wait(1.0)
        await self.concurrency.acquire()

    def leave(self, outcome: object) -> None:
        """Note how a request went: a failure, or what was made of the reply."""
        failure = outcome if isinstance(outcome, Failure) else None
        if isinstance(outcome, Response):
            self._tokens.charge(float(outcome.usage.prompt_tokens + outcome.usage.completion_tokens))
        self.concurrency.release(failure)
