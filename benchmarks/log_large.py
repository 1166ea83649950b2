"""The response log at ten million answers: several processes write at once; then look-ups, checks, removal, export.

Takes many minutes and gigabytes, so it is not part of ``make bench``: run it as a program.

    python benchmarks/log_large.py [--count N] [--writers N] [--folder FOLDER]

Every step runs in a process of its own, so that its peak of memory is its own. Writers share the file, and each uses an
engine of its own; the second engine's answers are removed in the end.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from proctor.ir import Response, Scored, Usage
from proctor.running.log import Key, ResponseLog
from proctor.running.log_export import export
from proctor.running.log_writer import LogWriter
from proctor.running.maintenance import collect, compact, verify

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


def engine_of(writer: int) -> str:
    """Return the identity of a writer's engine."""
    return f"benchmark-{writer}"


def write(log: ResponseLog, count: int, writer: int) -> str:
    """Write this writer's share."""
    began = time.perf_counter()
    with LogWriter(log, log.engine_number(engine_of(writer), engine_of(writer))) as out:
        for number in range(count):
            out.put(key(number), response(number))
    return f"{count / (time.perf_counter() - began):,.0f} writes/s by writer {writer}"


def look_up(log: ResponseLog, count: int, writer: int) -> str:
    """Look up random answers."""
    engine = log.engine_number(engine_of(writer))
    numbers = random.Random(0).sample(range(count), min(SAMPLE, count))
    began = time.perf_counter()
    found = 0
    for start in range(0, len(numbers), BATCH):
        found += len(log.get_many(engine, [key(number) for number in islice(numbers, start, start + BATCH)]))
    if found != len(numbers):
        sys.exit(f"{len(numbers) - found} answers are missing")
    return f"{found / (time.perf_counter() - began):,.0f} look-ups/s"


def check(log: ResponseLog, *_: int) -> str:
    """Verify the file and count its answers."""
    found = verify(log)
    if not found.is_sound:
        sys.exit(f"the log is damaged: {found.faults or found.damaged[:5]}")
    return f"{found.entries:,} answers verified"


def to_parquet(log: ResponseLog, *_: int) -> str:
    """Export everything."""
    target = log.path.with_name("log.parquet")
    rows = export(log, target)
    return f"{rows:,} rows exported, {target.stat().st_size / 1e9:.2f} GB"


def remove(log: ResponseLog, _: int, writer: int) -> str:
    """Remove one engine's answers."""
    return f"{collect(log, engine_of(writer)):,} answers removed"


def shrink(log: ResponseLog, *_: int) -> str:
    """Give the space back."""
    return f"{compact(log) / 1e9:.2f} GB freed"


STEPS: dict[str, Callable[[ResponseLog, int, int], str]] = {
    "write": write,
    "look up": look_up,
    "verify": check,
    "export": to_parquet,
    "remove": remove,
    "compact": shrink,
    "verify again": check,
}


def step(arguments: argparse.Namespace) -> None:
    """Run one step in this process, and say what it took."""
    began, busy = time.perf_counter(), time.process_time()
    with ResponseLog(arguments.folder / "log.db") as log:
        said = STEPS[arguments.step](log, arguments.count, arguments.writer)
        size = log.path.stat().st_size / 1e9
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter() - began, time.process_time() - busy
    print(f"{arguments.step:13} {wall:7.1f} s  {cpu:7.1f} CPU s  {peak:5.0f} MiB  {size:5.2f} GB  {said}", flush=True)


def run(folder: Path, count: int, writers: int) -> None:
    """Run all steps one after the other; the writers all at once."""
    share = count // writers

    def start(name: str, writer: int) -> subprocess.Popen[bytes]:
        options = ["--folder", str(folder), "--count", str(share), "--step", name, "--writer", str(writer)]
        return subprocess.Popen([sys.executable, __file__, *options])

    for name in STEPS:
        running = [start(name, writer) for writer in (range(writers) if name == "write" else (writers - 1,))]
        codes = [process.wait() for process in running]
        if any(codes):
            sys.exit(f"the step '{name}' failed")


def main() -> None:
    """Run the program, or one step of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--step", choices=STEPS)
    parser.add_argument("--writer", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.step:
        step(arguments)
    elif arguments.folder:
        run(arguments.folder, arguments.count, arguments.writers)
    else:
        with TemporaryDirectory() as temporary:
            run(Path(temporary), arguments.count, arguments.writers)


if __name__ == "__main__":
    main()
