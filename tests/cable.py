"""A cable between processes and a server, which can be cut: a network that parts them for a while."""

from __future__ import annotations

import asyncio
import threading
from typing import Self


class Cable:
    """Passes on what is sent to a port of its own, from the start of a block to its end.

    Args:
        target: The port of the server.
    """

    def __init__(self, target: int) -> None:
        self.target, self.port = target, 0
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self._is_refusing = False

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._do(self._begin())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self, *, silently: bool) -> None:
        """Let nothing through: without a word, or with every connection reset and new ones refused."""
        self._do(self._cut(silently))

    def mend(self) -> None:
        """Let through what waits, and what comes."""
        self._do(self._mend())

    def _do(self, work) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _begin(self) -> None:
        self._flows = asyncio.Event()
        self._flows.set()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        await self._hang_up()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self, silently: bool) -> None:
        self._flows.clear()
        self._is_refusing = not silently
        if not silently:
            await self._hang_up()

    async def _mend(self) -> None:
        self._is_refusing = False
        self._flows.set()

    async def _hang_up(self) -> None:
        for each in list(self._open):
            each.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_refusing:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while data := await reader.read(1 << 16):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            self._open.discard(writer)
            writer.close()
