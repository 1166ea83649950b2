"""A pool of connections that gives out none on which something lies unread.

A server that answers twice would otherwise have its second answer taken for the answer to the next request on that
connection. A connection that the server has closed while it was idle is found out as well.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from aiohttp import ClientRequest, TCPConnector
    from aiohttp.connector import Connection
    from yarl import URL

_MOST_POSTS = 64  # addresses whose first post is kept; more have servers alone that name each request in its address
_PROBES, _PROBE_SECONDS = 8, 0.02
"""How often, and how long, a used connection is watched before it is used again: a server that answers everything twice
shows it at once, and 20 ms are longer than a second answer takes to come after the first."""


def careful_connector(limit: int, posts: dict[URL, ClientRequest]) -> TCPConnector:
    """Return a pool of at most ``limit`` connections; made in a function, because importing aiohttp takes a while.

    Args:
        limit: Most connections.
        posts: Is given the first post to each of some addresses that goes there without a proxy.
    """
    import aiohttp

    caution = _Caution()

    class CarefulConnector(aiohttp.TCPConnector):
        """Looks at a used connection before it gives it out again."""

        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - aiohttp's signature
            """Return a connection on which nothing lies unread."""
            if req.method == "POST" and req.proxy is None and len(posts) < _MOST_POSTS:
                posts.setdefault(req.url, req)
            while True:
                connection = await super().connect(req, traces, timeout)
                try:
                    if await caution.lets_use(connection):
                        return connection
                except BaseException:
                    connection.close()
                    raise
                connection.close()

    return CarefulConnector(limit=limit, keepalive_timeout=30, ttl_dns_cache=300)


class _Caution:
    """Knows the connections of a pool that were used before, and whether a server has said more than it was asked."""

    def __init__(self) -> None:
        self._watches: WeakKeyDictionary[Any, _Watch] = WeakKeyDictionary()
        self._probes_left = _PROBES
        self._is_doubted = False

    async def lets_use(self, connection: Connection) -> bool:
        """Return whether to use a connection; new ones are not looked at, because TLS may have sent something."""
        protocol: Any = connection.protocol
        connection.add_callback(partial(self._look_at, protocol))
        if (watch := self._watches.get(protocol)) is not None:
            return await self._is_silent(protocol, watch)
        if connection.transport is not None:  # else it was closed while it was made, which aiohttp reports
            self._watches[protocol] = _Watch(connection.transport)
        return True

    async def _is_silent(self, protocol: Any, watch: _Watch) -> bool:
        if self._probes_left and not self._is_doubted:
            self._probes_left -= 1
            await asyncio.sleep(_PROBE_SECONDS)
        if not self._is_doubted and not protocol.should_close and not watch.is_readable():
            return True
        # A server that says more than it is asked: no connection of its is used twice from now on.
        self._is_doubted = self._is_doubted or protocol.should_close or watch.has_data()
        return False

    def _look_at(self, protocol: Any) -> None:
        """Notice a second answer that came together with the first; called when a connection is given back."""
        # aiohttp closes such a connection and says so to nobody. `_buffer` is its own name for what it has read and
        # was not asked for (3.14); without it, other connections of the server would be used again.
        self._is_doubted = self._is_doubted or bool(getattr(protocol, "_buffer", None))


class _Watch:
    """Sees whether something can be read from a connection, without reading it."""

    __slots__ = ("_descriptor", "_poll")

    def __init__(self, transport: Any) -> None:
        self._descriptor = transport.get_extra_info("socket").fileno()
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(self._descriptor, select.POLLIN)

    def is_readable(self) -> bool:
        """Return whether data or the end of the connection waits; never where the platform cannot tell."""
        return self._poll is not None and bool(self._poll.poll(0))

    def has_data(self) -> bool:
        try:
            with socket.socket(fileno=os.dup(self._descriptor)) as twin:
                return bool(twin.recv(1, socket.MSG_PEEK))
        except OSError:
            return False
