"""How much the ``openai`` engine costs beyond a bare loop of the same HTTP client.

Both send the same chat requests to the same server, which runs in a process of its own and answers at once; they take
turns, so that other work on the machine meets both. Budget (issue 7): at least 0.9 of the bare rate, at most 0.3 ms CPU
per request beyond it. With ``--latency 0.05 --limit 16`` the server is slow and limited; budget: 0.95 of its maximum,
which is what it gives to the bare loop that keeps twice as many requests in flight as it serves: on a busy machine less
than limit / latency, which is printed as well. ``max_concurrency=auto`` has to find the limit by itself; a run of 200
times the limit (10 seconds) is long enough for that.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any, Literal

from http_clients import server, with_aiohttp  # beside this file

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Decoding, Generate, Prompt


def run_bare(url: str, count: int, concurrency: int) -> None:
    """The bare loop: encode, post, read, decode."""
    asyncio.run(with_aiohttp(f"{url}/chat/completions", count, concurrency))


def run_auto(url: str, count: int, _: int) -> None:
    """The same requests through an engine that finds out by itself how many the server can take."""
    run_engine(url, count, "auto")


def run_engine(url: str, count: int, concurrency: int | Literal["auto"]) -> None:
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


def timed(run: Callable[[str, int, int], None], url: str, count: int, concurrency: int) -> tuple[float, float]:
    """Return requests per second, and CPU milliseconds per request."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(url, count, concurrency)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return count / wall, cpu / count * 1000


def compare(url: str, count: int, concurrency: int, rounds: int) -> tuple[float, float, float]:
    """Return the engine's rate over the bare rate, its CPU beyond it in ms per request, and its best rate."""
    bare, engine = [], []
    for run in (run_bare, run_engine):
        run(url, 200, concurrency)
    for _ in range(rounds):
        bare.append(timed(run_bare, url, count, concurrency))
        engine.append(timed(run_engine, url, count, concurrency))
        for name, (rate, cpu) in (("bare", bare[-1]), ("engine", engine[-1])):
            print(f"{name:8} {rate:6.0f} requests/s  {cpu:.3f} ms CPU/request", flush=True)
    ratio = statistics.median(ours[0] / theirs[0] for ours, theirs in zip(engine, bare, strict=True))
    extra = statistics.median(ours[1] - theirs[1] for ours, theirs in zip(engine, bare, strict=True))
    return ratio, extra, max(rate for rate, _ in engine)


def shares(latency: float, limit: int, rounds: int, each: int = 200) -> tuple[float, float, float]:
    """Return the engine's share of a limited server's maximum, the same with ``auto``, and limit * latency's share."""
    plain, found, bare = [], [], []
    count, enough = each * limit, 2 * limit
    with server("--latency", str(latency), "--max-concurrency", str(limit)) as url:
        for _ in range(rounds):
            bare.append(timed(run_bare, url, count, enough)[0])
            plain.append(timed(run_engine, url, count, enough)[0])
            found.append(timed(run_auto, url, count, enough)[0])
            rates = f"bare {bare[-1]:.1f}  engine {plain[-1]:.1f}  auto {found[-1]:.1f} requests/s"
            print(f"{rates}  (limit / latency: {limit / latency:.1f})", flush=True)
    return (
        statistics.median(ours / most for ours, most in zip(plain, bare, strict=True)),
        statistics.median(ours / most for ours, most in zip(found, bare, strict=True)),
        max(bare) * latency / limit,
    )


def measure(count: int = 4000, limit: int = 16, rounds: int = 5, each: int = 200) -> dict[str, Any]:
    """Return what ``make bench`` writes down."""
    with server() as url:
        ratio, extra, best = compare(url, count, 32, rounds)
    plain, found, reached = shares(0.05, limit, min(rounds, 3), each)
    note = f"{limit} at once, 50 ms each; the bare loop reached {reached:.3f} of {20 * limit} requests/s"
    return {
        "engine / bare loop, requests per second": {"value": round(ratio, 2), "budget": ">= 0.9"},
        "CPU beyond the bare loop": {"value": round(extra, 3), "unit": "ms/request", "budget": "<= 0.3"},
        "requests per second": {"value": round(best), "unit": "/s", "note": "server and client on this machine"},
        "share of a limited server's maximum": {"value": round(plain, 3), "budget": ">= 0.95", "note": note},
        "the same with max_concurrency=auto, runs of 10 s": {"value": round(found, 3), "budget": ">= 0.95"},
    }


def main() -> None:
    """Print rates, CPU and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--limit", type=int)
    given = parser.parse_args()
    if given.limit:
        plain, found, reached = shares(given.latency, given.limit, given.rounds)
        print(
            f"share of the server's maximum: {plain:.3f}   auto: {found:.3f}   bare / (limit / latency): {reached:.3f}"
        )
        return
    with server("--latency", str(given.latency)) as url:
        ratio, extra, _ = compare(url, given.count, given.concurrency, given.rounds)
    print(f"engine / bare rate: {ratio:.2f} (median)   CPU beyond the bare loop: {extra:+.3f} ms/request (median)")


if __name__ == "__main__":
    main()
