"""How much the ``openai`` engine costs beyond a bare loop of the same HTTP client.

Both send the same chat requests to the same server, which runs in a process of its own and answers at once; they take
turns, so that other work on the machine meets both. Budget (issue 7): at least 0.9 of the bare rate, at most 0.3 ms CPU
per request beyond it. With ``--latency 0.05 --limit 16`` the server is slow and limited; budget: 0.95 of its maximum.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable

from http_clients import server, with_aiohttp  # beside this file

from proctor.engines.openai import OpenAIEngine
from proctor.ir import Decoding, Generate, Prompt


def run_bare(url: str, count: int, concurrency: int) -> None:
    """The bare loop: encode, post, read, decode."""
    asyncio.run(with_aiohttp(f"{url}/chat/completions", count, concurrency))


def run_engine(url: str, count: int, concurrency: int) -> None:
    """The same requests through the engine."""
    engine = OpenAIEngine(model="test", base_url=url, max_concurrency=concurrency, api_key="x")
    decoding = Decoding(max_tokens=32)
    requests = (
        Generate(Prompt([{"role": "user", "content": f"Question {n}: what is {n} plus {n}?"}]), decoding)
        for n in range(count)
    )
    answered = sum(response.failure is None for _, response in engine.generate(requests))
    if answered != count:
        raise SystemExit(f"{count - answered} of {count} requests failed")


def measure(run: Callable[[str, int, int], None], url: str, count: int, concurrency: int) -> tuple[float, float]:
    """Return requests per second, and CPU milliseconds per request."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(url, count, concurrency)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return count / wall, cpu / count * 1000


def main() -> None:
    """Print rates, CPU and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    options = ["--latency", str(given.latency)] + (["--max-concurrency", str(given.limit)] if given.limit else [])
    bare, engine = [], []
    with server(*options) as url:
        for run in (run_bare, run_engine):
            run(url, 200, given.concurrency)
        for _ in range(given.rounds):
            bare.append(measure(run_bare, url, given.count, given.concurrency))
            engine.append(measure(run_engine, url, given.count, given.concurrency))
            print(
                f"bare {bare[-1][0]:6.0f}/s {bare[-1][1]:.3f} ms   engine {engine[-1][0]:6.0f}/s {engine[-1][1]:.3f} ms"
            )
    rates = statistics.median(ours[0] / theirs[0] for ours, theirs in zip(engine, bare, strict=True))
    extra = statistics.median(ours[1] - theirs[1] for ours, theirs in zip(engine, bare, strict=True))
    print(f"engine / bare rate: {rates:.2f} (median)   CPU beyond the bare loop: {extra:+.3f} ms/request (median)")
    if given.latency and given.limit:
        best = max(rate for rate, _ in engine)
        print(f"share of the server's maximum: {best * given.latency / given.limit:.3f}")


if __name__ == "__main__":
    main()
