"""The response log at ten million answers: rates of writing and looking up as it grows, and its size.

Takes minutes and gigabytes, so it is no part of ``make bench``: run it as a program.

    python benchmarks/log_large.py [COUNT] [FOLDER]
"""

from __future__ import annotations

import random
import sys
import time
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.ir import Response, Scored, Usage
from proctor.running.log import Key, ResponseLog
from proctor.running.log_writer import LogWriter

BATCH = 256
SAMPLE = 100_000


def key(number: int) -> Key:
    """Return a key that is as random as those of requests."""
    return Key(blake2b(number.to_bytes(8, "big"), digest_size=16).digest())


def response(number: int) -> Response:
    """Return a short text, or the scores of four choices."""
    if number % 2:
        return Response((f"The answer is {number}.",), finish_reasons=("stop",), usage=Usage(300, 8))
    return Response(scores=tuple(Scored(-1.5 - place, place == 0, 1) for place in range(4)), usage=Usage(500, 4))


def look_up(log: ResponseLog, engine: int, count: int) -> float:
    """Return how many random answers are found in a second."""
    numbers = random.Random(0).sample(range(count), min(SAMPLE, count))
    began = time.perf_counter()
    found = 0
    for start in range(0, len(numbers), BATCH):
        found += len(log.get_many(engine, [key(number) for number in islice(numbers, start, start + BATCH)]))
    if found != len(numbers):
        sys.exit(f"{len(numbers) - found} answers are missing")
    return found / (time.perf_counter() - began)


def main(count: int, folder: Path) -> None:
    """Write and look up, telling the rates for each tenth."""
    with ResponseLog(folder / "log.db") as log:
        engine = log.engine_number("benchmark")
        for tenth in range(10):
            began = time.perf_counter()
            with LogWriter(log, engine) as writer:
                for number in range(count * tenth // 10, count * (tenth + 1) // 10):
                    writer.put(key(number), response(number))
            writes = count / 10 / (time.perf_counter() - began)
            reads = look_up(log, engine, count * (tenth + 1) // 10)
            size = log.path.stat().st_size / 1e9
            total = count * (tenth + 1) // 10
            print(
                f"{total:>12,} answers  {writes:>9,.0f} writes/s  {reads:>9,.0f} look-ups/s  {size:.2f} GB", flush=True
            )
        began = time.perf_counter()
        print(log.stats(), f"{time.perf_counter() - began:.1f} s to count", flush=True)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    if len(sys.argv) > 2:
        main(number, Path(sys.argv[2]))
    else:
        with TemporaryDirectory() as temporary:
            main(number, Path(temporary))
