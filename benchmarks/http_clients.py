"""Which HTTP client: requests per second and CPU per request of httpx2 and aiohttp.

Run ``python benchmarks/http_clients.py``. The server runs in a process of its own and answers at
once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

Post = Callable[[bytes], Awaitable[bytes]]


@contextmanager
def server(*arguments: str) -> Iterator[str]:
    """Run the test server in a process of its own; yields its URL."""
    command = [sys.executable, "-m", "proctor.testing.server", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def body_of(number: int) -> bytes:
    """Return the body of a chat request."""
    message = {"role": "user", "content": f"Question {number}: what is {number} plus {number}?"}
    return json.dumps({"model": "test", "messages": [message], "temperature": 0.0, "max_tokens": 32}).encode()


async def drive(post: Post, count: int, concurrency: int) -> None:
    """Send ``count`` requests from ``concurrency`` workers, and decode the answers."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            reply = json.loads(await post(body_of(number)))
            assert reply["choices"][0]["message"]["content"]

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def with_aiohttp(url: str, count: int, concurrency: int) -> None:
    """The bare loop with aiohttp."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(body: bytes) -> bytes:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}
            async with session.post(url, data=body, headers=headers) as reply:
                return await reply.read()

        await drive(post, count, concurrency)


async def with_httpx2(url: str, count: int, concurrency: int) -> None:
    """The bare loop with httpx2."""
    import httpx2

    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx2.AsyncClient(limits=limits, timeout=60) as client:

        async def post(body: bytes) -> bytes:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer x"}
            reply = await client.post(url, content=body, headers=headers)
            return reply.content

        await drive(post, count, concurrency)


CLIENTS = {"aiohttp": with_aiohttp, "httpx2": with_httpx2}


def timed(
    run: Callable[[str, int, int], Coroutine[Any, Any, None]], url: str, count: int, concurrency: int
) -> tuple[float, float]:
    """Return requests per second, and CPU milliseconds per request."""
    wall, cpu = time.perf_counter(), time.process_time()
    asyncio.run(run(f"{url}/chat/completions", count, concurrency))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return count / wall, cpu / count * 1000


def measure(count: int = 3000, rounds: int = 3) -> dict[str, Any]:
    """Return what ``make bench`` writes down; a client that is not installed is left out."""
    found: dict[str, Any] = {}
    with server() as url:
        for name, run in CLIENTS.items():
            if find_spec(name) is None:
                continue
            timed(run, url, 200, 32)
            rate, each = max(timed(run, url, count, 32) for _ in range(rounds))
            found[f"{name}, bare loop"] = {"value": round(rate), "unit": "/s", "note": f"{each:.3f} ms CPU/request"}
    return found


def main() -> None:
    """Print a line for each client and round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with server() as url:
        for _ in range(given.rounds):
            for name, run in CLIENTS.items():
                rate, each = timed(run, url, given.count, given.concurrency)
                print(f"{name:8} {rate:7.0f} requests/s  {each:.3f} ms CPU/request", flush=True)


if __name__ == "__main__":
    main()
