"""An OpenAI-compatible server on loopback that counts what it is asked and misbehaves on request.

In a test::

    with FaultServer(faults=Faults.random(seed=1)) as server:
        engine = OpenAIEngine(model="test", base_url=server.url)
        ...
        assert server.statistics()["answered_twice"] == 0

On a command line: ``python -m proctor.testing.server --port 0``. It prints its URL; ``GET /statistics`` returns the
counts as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import struct
import sys
import threading
from contextlib import suppress
from typing import Any, Self, cast

import msgspec

from proctor.testing.answers import Answer, digest_answer
from proctor.testing.behaviour import Behaviour, Plan, error_plan
from proctor.testing.faults import Faults

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_DRIPS = 5  # parts of a slow reply: several reads of the client, with an end of a part inside the JSON


class FaultServer:
    """The server, in a thread of this process. A context manager.

    Args:
        port: Port on 127.0.0.1; 0 takes a free one.
        answer, faults, latency_seconds, max_concurrency, reject, api_key, models: As in
            :class:`~proctor.testing.behaviour.Behaviour`.
    """

    def __init__(
        self, port: int = 0, answer: Answer = digest_answer, faults: Faults | None = None, **behaviour: Any
    ) -> None:
        self.behaviour = Behaviour(answer=answer, faults=faults or Faults.none(), **behaviour)
        self.port = port
        self._loop = asyncio.new_event_loop()
        self._thread: threading.Thread | None = None
        self._is_serving = threading.Event()
        self._connections: set[_Connection] = set()

    @property
    def url(self) -> str:
        """The base URL, with ``/v1``."""
        return f"http://127.0.0.1:{self.port}/v1"

    def statistics(self) -> dict[str, Any]:
        """Return the counts, see :meth:`~proctor.testing.behaviour.Behaviour.statistics`."""
        return self.behaviour.statistics()

    def start(self) -> Self:
        """Start serving in a thread; return once connections are accepted."""
        listener = socket.create_server(("127.0.0.1", self.port), backlog=4096)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, args=(listener,), name="fault-server", daemon=True)
        self._thread.start()
        self._is_serving.wait()
        return self

    def stop(self) -> None:
        """Stop serving and close all connections."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._thread = None
            self._is_serving.clear()

    def run(self) -> None:
        """Serve in this thread until interrupted."""
        listener = socket.create_server(("127.0.0.1", self.port), backlog=4096)
        self.port = listener.getsockname()[1]
        sys.stdout.write(f"{self.url}\n")
        sys.stdout.flush()
        self._serve(listener)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def _serve(self, listener: socket.socket) -> None:
        loop = self._loop
        gate = asyncio.Semaphore(self.behaviour.max_concurrency or 1_000_000)
        server = loop.run_until_complete(
            loop.create_server(lambda: _Connection(self.behaviour, gate, self._connections), sock=listener)
        )
        loop.call_soon(
            self._is_serving.set
        )  # not before: a loop that is stopped while it starts leaves its socket open
        try:
            loop.run_forever()
        finally:
            server.close()
            while asyncio.all_tasks(loop) or self._connections:
                # Again and again: a connection that is just being accepted appears after the first round.
                for connection in list(self._connections):
                    connection.abort()
                for task in asyncio.all_tasks(loop):
                    task.cancel()
                loop.run_until_complete(asyncio.sleep(0))
            loop.close()


class _Connection(asyncio.Protocol):
    """One client connection: reads requests one after the other and answers them in order."""

    def __init__(self, behaviour: Behaviour, gate: asyncio.Semaphore, all_connections: set[_Connection]) -> None:
        self._behaviour = behaviour
        self._gate = gate
        self._all = all_connections
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # what create_server hands over
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._all.discard(self)
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._task is None:
            self._next()

    def abort(self) -> None:
        self._transport.abort()

    def _next(self) -> None:
        while (request := _take_request(self._buffer)) is not None:
            method, path, authorization, content, self._buffer = request
            if method == "GET":
                self._send(self._get(path))
            elif self._is_instant():
                self._behaviour.enter()
                plan = self._behaviour.plan(path, authorization, content)
                self._behaviour.leave()
                if plan.fault is not None:
                    self._start(self._send_spoiled(plan))
                    return
                self._send(plan)
            else:
                self._start(self._answer(path, authorization, content))
                return

    def _is_instant(self) -> bool:
        return not self._behaviour.latency_seconds and self._behaviour.max_concurrency is None

    def _start(self, work: Any) -> None:
        self._task = asyncio.get_running_loop().create_task(work)
        self._task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and not self._transport.is_closing():
            task.result()
            self._next()

    async def _answer(self, path: str, authorization: str, content: bytes) -> None:
        has_room = self._behaviour.enter()
        try:
            if self._behaviour.reject and not has_room:
                await asyncio.sleep(0)
                self._send(error_plan(429, "too many requests at once", "rate_limit_exceeded"))
                return
            async with self._gate:
                if self._behaviour.latency_seconds:
                    await asyncio.sleep(self._behaviour.latency_seconds)
                await self._send_spoiled(self._behaviour.plan(path, authorization, content))
        finally:
            self._behaviour.leave()

    async def _send_spoiled(self, plan: Plan) -> None:
        fault = plan.fault
        match fault.kind if fault else "":
            case "reset":
                self._reset()
            case "twice":
                self._send(plan)
                self._send(plan)
            case "hangup":
                self._hang_up(plan)
            case "slow":
                await self._drip(plan)
            case "stall":
                await self._stall(plan)
            case _:
                self._send(plan)

    def _send(self, plan: Plan) -> None:
        if not self._transport.is_closing():
            self._transport.write(_head(plan) + plan.body)

    def _reset(self) -> None:
        # A linger time of zero makes the kernel send RST instead of FIN.
        self._transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self._transport.abort()

    def _hang_up(self, plan: Plan) -> None:
        self._transport.write(_head(plan) + plan.body[: len(plan.body) // 2])
        self._transport.close()

    async def _drip(self, plan: Plan) -> None:
        self._transport.write(_head(plan))
        size = len(plan.body) // _DRIPS + 1
        for start in range(0, len(plan.body), size):
            await asyncio.sleep(plan.seconds / _DRIPS)
            self._transport.write(plan.body[start : start + size])

    async def _stall(self, plan: Plan) -> None:
        await asyncio.sleep(plan.seconds)
        self._transport.abort()

    def _get(self, path: str) -> Plan:
        if path.endswith("/statistics"):
            return Plan(200, msgspec.json.encode(self._behaviour.statistics()))
        if path.endswith("/models"):
            names = self._behaviour.models or ("test",)
            return Plan(200, msgspec.json.encode({"object": "list", "data": [{"id": name} for name in names]}))
        return error_plan(404, f"no route {path}", "not_found")


def _take_request(buffer: bytes) -> tuple[str, str, str, bytes, bytes] | None:
    """Return method, path, authorization, content and the rest of the buffer; ``None`` where more is to come."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = buffer[:end].decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    start = end + 4
    stop = start + int(headers.get("content-length", 0))
    if len(buffer) < stop:
        return None
    method, path, _ = head[0].split(" ", 2)
    return method, path.partition("?")[0], headers.get("authorization", ""), buffer[start:stop], buffer[stop:]


def _head(plan: Plan) -> bytes:
    lines = [
        f"HTTP/1.1 {plan.status} {_REASONS.get(plan.status, 'Status')}",
        "content-type: application/json",
        f"content-length: {len(plan.body)}",
        *(f"{name}: {value}" for name, value in plan.headers),
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def _parse(arguments: list[str]) -> FaultServer:
    parser = argparse.ArgumentParser(prog="python -m proctor.testing.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that each answer takes")
    parser.add_argument("--max-concurrency", type=int, help="requests served at once; more wait")
    parser.add_argument("--reject", action="store_true", help="answer 429 beyond --max-concurrency")
    parser.add_argument("--api-key", help="key that clients must send")
    parser.add_argument("--fault-rate", type=float, default=0.0, help="probability of a fault at each attempt")
    parser.add_argument("--seed", type=int, default=0, help="seed of the faults")
    given = parser.parse_args(arguments)
    faults = Faults.random(given.seed, given.fault_rate) if given.fault_rate else Faults.none()
    return FaultServer(
        given.port,
        faults=faults,
        latency_seconds=given.latency,
        max_concurrency=given.max_concurrency,
        reject=given.reject,
        api_key=given.api_key,
    )


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted."""
    with suppress(KeyboardInterrupt):
        _parse(sys.argv[1:] if arguments is None else arguments).run()


if __name__ == "__main__":
    main()
