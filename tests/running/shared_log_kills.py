"""Several processes on one exam and one log, killed at random times and started again. Prints one JSON object.

python tests/running/shared_log_kills.py --processes 8 --kills 50 --folder /tmp/kills
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from proctor.testing.server import FaultServer

SLOTS = 4
"""Requests that a process has on their way at once: each kill may lose as many."""


def started(folder: Path, url: str, number: int) -> subprocess.Popen[bytes]:
    """Start a process; those with odd numbers share a run folder."""
    call = [sys.executable, "-m", "proctor", "run", "q.jsonl", "--model", "openai", "--quiet", "--log", "log.db"]
    call += ["--model-args", f"model=m,base_url={url},max_concurrency={SLOTS}"]
    call += ["--output", "shared" if number % 2 else f"own{number}"]
    return subprocess.Popen(call, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    """Run it, and print how often questions were asked and whether all results are equal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=6)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--questions", type=int, default=1_200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(given.questions)]
    (given.folder / "q.jsonl").write_text("\n".join(rows))
    kills = 0
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.4) as server:
        running = {number: started(given.folder, server.url, number) for number in range(given.processes)}
        while kills < given.kills:
            time.sleep(draw.uniform(0.3, 1.5))
            alive = [number for number, process in running.items() if process.poll() is None]
            if not alive:
                break
            number = draw.choice(alive)
            running[number].send_signal(signal.SIGKILL)
            running[number].wait()
            running[number] = started(given.folder, server.url, number)
            kills += 1
        codes = sorted({process.wait(timeout=300) for process in running.values()})
        asked = server.statistics()["requests"]
    lines = {file.read_bytes() for file in given.folder.glob("*/samples.jsonl")}
    whole = given.questions <= asked <= given.questions + kills * SLOTS
    print(json.dumps({"kills": kills, "asked": asked, "codes": codes, "results": len(lines), "once": whole}))


if __name__ == "__main__":
    main()
