"""Several processes on one exam and one log, killed at random times and started again. Prints one JSON object.

With ``--postgres`` the log is in a database, which is killed and started again, too, one time in five.

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
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from postgres import PostgresServer

from proctor.testing.server import FaultServer

SLOTS = 4
"""Requests that a process has on their way at once: each kill may lose as many."""


TROUBLE = 3
"""The exit code of a run that could not begin."""

DATABASE_KILLS = 0.2
"""Share of the kills that hit the database."""


def started(folder: Path, url: str, log: str, number: int) -> subprocess.Popen[bytes]:
    """Start a process; those with odd numbers share a run folder."""
    call = [sys.executable, "-m", "proctor", "run", "q.jsonl", "--model", "openai", "--quiet", "--log", log]
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
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    with PostgresServer() if given.postgres else nullcontext() as database:
        run(given, database)


def run(given: argparse.Namespace, database: PostgresServer | None) -> None:
    """Kill and start."""
    log = "log.db" if database is None else database.address()
    draw = random.Random(given.seed)
    rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(given.questions)]
    (given.folder / "q.jsonl").write_text("\n".join(rows))
    kills = database_kills = 0
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.4) as server:
        running = {number: started(given.folder, server.url, log, number) for number in range(given.processes)}
        while kills + database_kills < given.kills:
            time.sleep(draw.uniform(0.3, 1.5))
            if database is not None and draw.random() < DATABASE_KILLS:
                database.kill()
                time.sleep(draw.uniform(0.1, 1.0))
                database.start()
                database_kills += 1
                continue
            alive = [number for number, process in running.items() if process.poll() is None]
            if not alive:
                break
            number = draw.choice(alive)
            running[number].send_signal(signal.SIGKILL)
            running[number].wait()
            running[number] = started(given.folder, server.url, log, number)
            kills += 1
        codes = set()
        for number, process in running.items():
            code = process.wait(timeout=300)
            if code == TROUBLE and database_kills:  # it began while there was no database
                code = started(given.folder, server.url, log, number).wait(timeout=300)
            codes.add(code)
        asked = server.statistics()["requests"]
    lines = {file.read_bytes() for file in given.folder.glob("*/samples.jsonl")}
    whole = given.questions <= asked <= given.questions + kills * SLOTS
    found = {"kills": kills, "of_the_database": database_kills, "questions": given.questions, "asked": asked}
    print(json.dumps({**found, "codes": sorted(codes), "results": len(lines), "once": whole}))


if __name__ == "__main__":
    main()
