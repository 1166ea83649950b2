"""The test server without sockets and without waiting: for thousands of fault schedules in seconds.

::

    behaviour = Behaviour(faults=Faults.random(seed=7))
    engine = simulated(OpenAIEngine(model="test"), behaviour)
    responses = dict(engine.generate(requests))     # hours of backoff pass in milliseconds
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from proctor.engines.http.http_engine import HTTPEngine
from proctor.engines.http.transport import Reply, TransportError
from proctor.testing.behaviour import Behaviour, Plan, error_plan

E = TypeVar("E", bound=HTTPEngine)


class FaultTransport:
    """Stands in for a network with a :class:`Behaviour` at its end.

    Args:
        behaviour: The server.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._gate = asyncio.Semaphore(behaviour.max_concurrency or 1_000_000)

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
        """Return the server's reply; see :class:`proctor.engines.http.transport.Transport`."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._post(url, body, headers)
        except TimeoutError:
            raise TransportError("timeout", f"no answer within {timeout_seconds:.0f} s") from None

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        behaviour = self._behaviour
        has_room = behaviour.enter()
        try:
            if behaviour.reject and not has_room:
                plan = error_plan(429, "too many requests at once", "rate_limit_exceeded")
                return Reply(plan.status, {}, plan.body)
            async with self._gate:
                await asyncio.sleep(behaviour.latency_seconds)
                plan = behaviour.plan(urlsplit(url).path, headers.get("Authorization", ""), body)
                return await self._deliver(plan)
        finally:
            behaviour.leave()

    async def _deliver(self, plan: Plan) -> Reply:
        match plan.fault.kind if plan.fault else "":
            case "reset":
                raise TransportError("connection", "Connection reset by peer")
            case "hangup":
                raise TransportError("protocol", "the reply broke off")
            case "stall":
                await asyncio.sleep(plan.seconds)
                raise TransportError("connection", "Server disconnected")
            case "slow":
                await asyncio.sleep(plan.seconds)
        return Reply(plan.status, dict(plan.headers), plan.body)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next event instead of waiting for it.

    Attributes:
        elapsed: Virtual seconds that have passed.
    """

    def __init__(self) -> None:
        self.elapsed = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self.elapsed


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[Any, int]]:
        if timeout is None:
            return list(super().select(None))
        ready = list(super().select(0))
        if not ready and timeout > 0:
            self._loop.elapsed += timeout
        return ready


def simulated(engine: E, behaviour: Behaviour) -> E:
    """Return the engine, connected to a simulated server on a virtual clock."""
    engine._make_transport = lambda: FaultTransport(behaviour)
    engine._new_loop = VirtualLoop
    return engine
