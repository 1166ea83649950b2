"""A million samples through plan, log and results: peak memory and time, the log on disk, samples written.

The exam is as small as an exam can be, so that what is measured is running itself; its grade keeps a prediction and
a score of every instance, as exams do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proctor.engines.engine import Answers, Engine
from proctor.ir import Decoding, Exchange, Generate, Prompt, Response, Timing, Usage, turn
from proctor.recipes.exam import Answered, Item
from proctor.running import run_exams
from proctor.scoring.grade import Grade

COUNT = int(os.environ.get("PROCTOR_BENCH_SAMPLES", "1000000"))
_DECODING = Decoding(max_tokens=16, stop=("\n",))


class SmallExam:
    """Sums, asked in one line."""

    name = "sums"
    description = "sums"

    def items(self) -> Iterator[Item]:
        """Yield the items."""
        for number in range(COUNT):
            prompt = Prompt(f"Question: What is {number} + {number}?\nAnswer:")
            exchange = Exchange((turn("user", "What?"),), references=(str(2 * number),))
            yield Item(number, {"number": number}, exchange, (Generate(prompt, _DECODING),))

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Return the share of right answers."""
        predictions: list[str] = []
        scores = array("d")
        for each in answered:
            predictions.append(each.responses[0].text)
            scores.append(float(predictions[-1] == each.item.exchange.references[0]))
        return Grade({"score": sum(scores) / len(scores), "score_name": "right"}, {"right": scores}, predictions)

    def specification(self) -> dict[str, Any]:
        """Return what decides the items."""
        return {"count": COUNT}


class Adder(Engine):
    """Answers at once."""

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Add."""
        for position, request in enumerate(requests):
            number = int(request.prompt.text.split()[3])
            timing = Timing(1.79e9 + position, 0.25)
            yield position, Response((str(2 * number),), (), ("stop",), (), Usage(12, 3), timing)


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def child(folder: str) -> None:
    """Run once and print peak memory and seconds."""
    began = time.perf_counter()
    result = run_exams([SmallExam()], Adder(), log=Path(folder) / "log.db", output=Path(folder) / "out")
    if result.results["sums"]["n"] != COUNT or result.results["sums"]["score"] != 1.0:
        sys.exit("the run is not right")
    print(peak_megabytes(), time.perf_counter() - began)


def measure() -> dict[str, Any]:
    """Return peak memory and seconds of a fresh run and of one that the log answers."""
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for name in ("fresh", "from the log"):
            command = [sys.executable, __file__, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(done.stderr.strip())
            memory, seconds = done.stdout.split()
            found[f"{COUNT:,} samples, {name}: peak memory"] = {
                "value": float(memory),
                "unit": "MB",
                "budget": "<= 500",
            }
            found[f"{COUNT:,} samples, {name}: time"] = {"value": float(seconds), "unit": "s"}
    return found


if __name__ == "__main__":
    child(sys.argv[1])
