"""A pool of connections that gives out none on which something lies unread.

A server that answers twice would otherwise have its second answer taken for the answer to the next request on that
connection. A connection that the server has closed while it was idle is found out as well.
"""

from __future__ import annotations

import os
import select
import socket
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from aiohttp import TCPConnector

_PROBES, _PROBE_SECONDS = 8, 0.02


def careful_connector(limit: int) -> TCPConnector:
    """Return a pool of at most ``limit`` connections; made in a function, because importing aiohttp takes a while."""
    import aiohttp

    class CarefulConnector(aiohttp.TCPConnector):
        """Looks at a used connection before it gives it out again."""

        def __init__(self) -> None:
            super().__init__(limit=limit, keepalive_timeout=30, ttl_dns_cache=300)
            self._watches: WeakKeyDictionary[Any, _Watch] = WeakKeyDictionary()
            self._probes = _PROBES

        async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - aiohttp's signature
            """Return a connection; new ones are not looked at, because TLS may have sent something already."""
            while True:
                connection = await super().connect(req, traces, timeout)
                protocol: Any = connection.protocol
                watch = self._watches.get(protocol)
                if watch is None:
                    if connection.transport is not None:  # else it was closed while it was made, which aiohttp reports
                        self._watches[protocol] = _Watch(connection.transport)
                    return connection
                if not (says_more := protocol.should_close) and not watch.is_readable():
                    return connection
                # A server that says more than it is asked: no connection of its is used twice from now on.
                self._force_close = self._force_close or says_more or watch.has_data()
                connection.close()

        def _release(self, key: Any, protocol: Any, **options: Any) -> None:
            if getattr(protocol, "_buffer", None):  # a second answer, which came together with the first
                self._force_close = True
            if self._probes and not options:  # a second answer may be on its way: give the first of them time to show
                self._probes -= 1
                self._loop.call_later(_PROBE_SECONDS, super()._release, key, protocol)
            else:
                super()._release(key, protocol, **options)

    return CarefulConnector()


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
        """Return whether it is data, not the end."""
        try:
            with socket.socket(fileno=os.dup(self._descriptor)) as twin:
                return bool(twin.recv(1, socket.MSG_PEEK))
        except OSError:
            return False
