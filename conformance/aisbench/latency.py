"""Compares latency figures with those of AISBench's own calculator, on the same points in time.

Usage: ``python -m conformance.aisbench.latency``. Needs AISBench's environment (``AISBENCH_PYTHON``). Most sets
of requests are drawn; the others were taken from a server that streams with pauses of known lengths.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.paced_server import PacedServer

from proctor.ir import Generate, Prompt, Response, Timing, Usage
from proctor.running.latency import Latency

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
_ROUNDED = 0.0501
"""AISBench rounds seconds to four decimals before it makes milliseconds of them: half a tenth of a millisecond."""


def drawn(seed: int) -> list[dict[str, Any]]:
    """Return requests with points in time that are drawn."""
    stream = random.Random(seed)
    requests = []
    for _ in range(stream.randint(1, 60)):
        written = stream.choice([1, 2, 5, stream.randint(1, 300)])
        gaps = [round(stream.expovariate(20) + 0.0002, 6) for _ in range(written + 1)]
        pieces = [round(sum(gaps[: end + 1]), 6) for end in range(len(gaps))]
        started = round(1_000 + stream.random() * 3, 6)
        requests.append({"started": started, "pieces": pieces, "read": stream.randint(1, 4000), "written": written})
    return requests


def paced(seed: int) -> list[dict[str, Any]]:
    """Return requests that a server answered with known pauses."""
    from proctor.engines.http.openai_engine import OpenAIEngine

    stream = random.Random(seed)
    plans = [[stream.choice([0.0, 0.01, 0.03]) for _ in range(stream.randint(2, 8))] for _ in range(6)]
    with PacedServer(plans) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, stream=True, max_concurrency=2)
        answers = dict(engine.generate([Generate(Prompt(f"{number}")) for number in range(len(plans))]))
    first = min(each.timing.started for each in answers.values())  # AISBench's clock starts near 0: nothing cancels out
    return [
        {
            "started": each.timing.started - first, "pieces": list(each.timing.piece_seconds),
            "read": each.usage.prompt_tokens, "written": each.usage.completion_tokens,
        }
        for each in answers.values()
    ]  # fmt: skip


def ours(requests: list[dict[str, Any]]) -> dict[str, Any]:
    """Return our figures."""
    latency = Latency()
    for each in requests:
        pieces = tuple(each["pieces"])
        timing = Timing(1 + each["started"], pieces[-1], pieces[0], pieces)
        usage = Usage(each["read"], each["written"])
        latency.add([Generate(Prompt("q"))], [Response(texts=("a",), usage=usage, timing=timing)])
    return latency.summary(4)


def differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return each figure that differs by more than AISBench rounds."""
    told = []
    for name, stages in wanted["metrics"].items():
        for statistic, value in stages["total"].items():
            factor = 1_000 if name in ("E2EL", "TTFT", "TPOT", "ITL") and statistic != "N" else 1
            mine = found["requests"].get(name, {}).get(statistic)
            if mine is None or abs(mine - value * factor) > (_ROUNDED if factor > 1 else 0.0001):
                told.append(f"{name} {statistic}: {mine} / {value * factor}")
    for name, stages in wanted["common"].items():
        mine = found["common"].get(name)
        if mine is None or abs(mine - stages["total"]) > max(0.001, 1e-5 * abs(stages["total"])):
            told.append(f"{name}: {mine} / {stages['total']}")
    return told


def main() -> int:
    """Print each difference and the counts; the exit status says whether all are equal."""
    sets = [*map(drawn, range(40)), *map(paced, range(4))]
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "asked.json"), Path(folder, "told.json")
        asked.write_text(json.dumps(sets))
        oracle = str(Path(__file__).with_name("latency_oracle.py"))
        subprocess.run([PYTHON, oracle, str(asked), str(told)], check=True, stdout=subprocess.DEVNULL)
        wanted = json.loads(told.read_text())
    wrong = [
        (number, differences(ours(each), theirs))
        for number, (each, theirs) in enumerate(zip(sets, wanted, strict=True))
    ]
    for number, told_of in wrong:
        for text in told_of:
            print(f"set {number}: {text}")
    figures = sum(len(stages["total"]) for theirs in wanted for stages in theirs["metrics"].values())
    print(f"{sum(not told_of for _, told_of in wrong)} of {len(sets)} sets equal ({figures} statistics of requests)")
    return 1 if any(told_of for _, told_of in wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
