"""The response log: answers written and looked up per second, one process, answers of a usual size.

python benchmarks/log_rates.py postgresql://user@host/empty_database measures a log in a database.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proctor.ir import Response, Scored, Timing, Usage
from proctor.running.log import Key, ResponseLog
from proctor.running.log_writer import LogWriter

COUNT = 200_000
LOOKUP_BATCH = 256


def responses() -> list[Response]:
    """Return what models usually give: a sentence, or the scores of four choices."""
    text = Response(
        texts=("The answer is that the river flows north, because the land falls in that direction. #### 42",),
        finish_reasons=("stop",),
        usage=Usage(412, 27),
        timing=Timing(1_790_000_000.25, 0.731),
    )
    scored = Response(scores=tuple(Scored(-3.25 - place, place == 0, 2) for place in range(4)), usage=Usage(800, 8))
    return [text, scored]


def measure(database: str | None = None) -> dict[str, Any]:
    """Return the rates of a log in a file, or in a database."""
    answers = responses()
    keys = [Key(os.urandom(16)) for _ in range(COUNT)]
    with TemporaryDirectory() as folder, ResponseLog(database or Path(folder) / "log.db") as log:
        engine = log.engine_number("benchmark")
        began = time.perf_counter()
        with LogWriter(log, engine) as writer:
            for place, key in enumerate(keys):
                writer.put(key, answers[place % 2])
        writes = COUNT / (time.perf_counter() - began)
        journal = Path(f"{log.path}-wal")
        size = (log.stats().size_bytes + (journal.stat().st_size if journal.exists() else 0)) / COUNT
        random.Random(0).shuffle(keys)
        began = time.perf_counter()
        for start in range(0, COUNT, LOOKUP_BATCH):
            log.get_many(engine, keys[start : start + LOOKUP_BATCH])
        gets = COUNT / (time.perf_counter() - began)
        began = time.perf_counter()
        for start in range(0, COUNT, LOOKUP_BATCH):
            log.has_many(engine, keys[start : start + LOOKUP_BATCH])
        has = COUNT / (time.perf_counter() - began)
    return {
        "writes, durable": {
            "value": round(writes),
            "unit": "responses/s",
            "budget": ">= 5000" if database else ">= 20000",
        },
        "look-ups, decoded": {
            "value": round(gets),
            "unit": "responses/s",
            "budget": ">= 20000" if database else ">= 50000",
        },
        "look-ups, presence only": {"value": round(has), "unit": "keys/s", "budget": ">= 50000"},
        "size": {"value": round(size), "unit": "bytes/response"},
    }


if __name__ == "__main__":
    print(measure(*sys.argv[1:2]))
