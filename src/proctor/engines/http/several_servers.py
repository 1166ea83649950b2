"""One model behind several servers: who gets which request, and what becomes of it where one is away.

Requests that begin alike go to the same server, whose cache then holds their beginning, as long as it has no more than
its share: consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam 2018, arXiv 1608.01350). A server
that is not there, or still loads its model, rests for a while, and its requests go to the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from http import HTTPStatus

from proctor.engines.http.transport import Reply, Transport, TransportError
from proctor.logs import get_logger

_ABOVE_SHARE = 1.1
"""How much more than its share a server may have on its way: more keeps beginnings together, less keeps all busy."""

_BEGINNING = 1_024
"""Bytes of a request that say where it goes: where exams differ, and before questions of one exam do."""

_FIRST_REST_SECONDS, _LONGEST_REST_SECONDS = 1.0, 30.0
_AWAY = frozenset({"unreachable", "connection"})


class _Server:
    """A server: how many requests it has, and until when it rests."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.seed = blake2b(address.encode(), digest_size=16).digest()
        self.busy = 0
        self.rests_until = 0.0
        self.rest_seconds = _FIRST_REST_SECONDS

    def rest(self, why: str) -> None:
        now = time.monotonic()
        if now < self.rests_until:  # others of its requests said so already
            return
        get_logger().warning("%s is left out for %.0f s: %s", self.address, self.rest_seconds, why)
        self.rests_until = now + self.rest_seconds
        self.rest_seconds = min(2.0 * self.rest_seconds, _LONGEST_REST_SECONDS)

    def rank(self, beginning: bytes) -> bytes:
        return blake2b(beginning, key=self.seed, digest_size=8).digest()


class SeveralServers:
    """A transport that posts to one of several servers.

    Args:
        transport: What posts.
        addresses: Returns the base URLs of now.
        base: The base URL that requests come with.
    """

    def __init__(self, transport: Transport, addresses: Callable[[], Sequence[str]], base: str) -> None:
        self._transport = transport
        self._addresses = addresses
        self._known: Sequence[str] = ()
        self._servers: list[_Server] = []
        self._base = base

    def _now(self) -> list[_Server]:
        """Return the servers of now; what is on its way to one that is gone comes from there."""
        addresses = self._addresses()
        if addresses != self._known:
            there = {each.address: each for each in self._servers}
            self._known, self._servers = addresses, [there.get(each) or _Server(each) for each in addresses]
        return self._servers

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout_seconds: float) -> Reply:
        """Return the reply of whichever server answers; where none does, what the last one said."""
        route = url.removeprefix(self._base)
        tried: set[_Server] = set()
        left = self._now()
        while True:
            server = self._chosen(body[:_BEGINNING], left)
            tried.add(server)
            server.busy += 1
            try:
                reply = await self._transport.post(f"{server.address}{route}", body, headers, timeout_seconds)
            except TransportError as error:
                if error.kind not in _AWAY:
                    raise
                server.rest(str(error))
                if not (left := [each for each in self._now() if each not in tried]):
                    raise
                continue
            finally:
                server.busy -= 1
            if reply.status != HTTPStatus.SERVICE_UNAVAILABLE:
                server.rest_seconds = _FIRST_REST_SECONDS
                return reply._replace(server=server.address)
            server.rest(f"HTTP {reply.status}")
            if not (left := [each for each in self._now() if each not in tried]):
                return reply

    async def get(self, url: str, headers: Mapping[str, str], timeout_seconds: float, most_bytes: int = 0) -> Reply:
        """Get an address from the first server."""
        get = self._transport.get  # type: ignore[attr-defined]  # the one that has it, or whoever calls looks before
        reply: Reply = await get(url, headers, timeout_seconds, most_bytes)
        return reply

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.close()

    def _chosen(self, beginning: bytes, among: Sequence[_Server]) -> _Server:
        now = time.monotonic()
        awake = [each for each in among if each.rests_until <= now] or among
        most = math.ceil(_ABOVE_SHARE * (sum(each.busy for each in awake) + 1) / len(awake))
        free = [each for each in awake if each.busy < most]
        return max(free, key=lambda each: each.rank(beginning))
