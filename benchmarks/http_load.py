"""Memory under load: many requests at 256 in flight, through the ``openai`` engine, against a server on this machine.

Budget (issue 7): flat in the number of requests. Each count runs in a process of its own, so that peaks do not mix.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from typing import Any

from http_clients import server  # beside this file

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Generate, Prompt


def load(url: str, count: int, concurrency: int) -> None:
    """Send requests and print the rate and the peak of memory."""
    engine = OpenAIEngine(model="test", base_url=url, max_concurrency=concurrency)
    began = time.perf_counter()
    requests = (Generate(Prompt(f"Question {number}: {'words ' * 50}")) for number in range(count))
    failed = sum(response.failure is not None for _, response in engine.generate(requests))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:7} requests  {count / seconds:6.0f}/s  peak {peak:5.0f} MiB  {failed} failed", flush=True)


def peak_mib(count: int, concurrency: int) -> float:
    """Return the peak of memory of a process that sends so many requests."""
    with server() as url:
        arguments = ["--url", url, "--counts", str(count), "--concurrency", str(concurrency)]
        done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    print(done.stdout, end="", flush=True)
    return float(done.stdout.split("peak")[1].split()[0])


def measure(few: int = 5_000, many: int = 50_000) -> dict[str, Any]:
    """Return what ``make bench`` writes down."""
    low, high = peak_mib(few, 256), peak_mib(many, 256)
    return {
        f"peak memory, {many:,} requests at 256 in flight": {"value": round(high), "unit": "MiB"},
        f"peak with {many:,} requests / with {few:,}": {"value": round(high / low, 2), "budget": "<= 1.2"},
    }


def main() -> None:
    """Run each count in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--url", help="load this server in this process")
    given = parser.parse_args()
    if given.url:
        load(given.url, given.counts[0], given.concurrency)
        return
    for count in given.counts:
        peak_mib(count, given.concurrency)


if __name__ == "__main__":
    main()
