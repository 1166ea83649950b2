"""Several processes on one exam and one log, killed at random times and started again. Prints one JSON object.

With ``--postgres`` the log is in a database, which is killed and started again, too, one time in five; and one time in
five the network parts a process from it for some seconds, or, once, for longer than its lease.

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
from contextlib import ExitStack, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from cable import Cable
from postgres import PostgresServer

from proctor.running.log_schema import LEASE_SECONDS
from proctor.testing.server import FaultServer

SLOTS = 4
"""Requests that a process has on their way at once: each kill may lose as many."""


TROUBLE = 3
"""The exit code of a run that could not begin."""

DATABASE_KILLS = CUTS = 0.2
"""Share of the kills that hit the database, and of those that are cuts of the network."""

FEW = 10
"""With so few kills nothing is cut off for longer than a lease, which takes most of a minute."""

AHEAD = 3 * SLOTS
"""What a process has claimed beside what is on its way: whoever is cut off for longer than its lease loses it."""


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
    """Kill, cut and start."""
    draw = random.Random(given.seed)
    rows = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(given.questions)]
    (given.folder / "q.jsonl").write_text("\n".join(rows))
    counts = dict.fromkeys(("kills", "of_the_database", "cuts", "long_cuts"), 0)
    with ExitStack() as stack:
        server = stack.enter_context(FaultServer(answer=lambda *_: "yes", latency_seconds=0.4))
        place = "log.db" if database is None else database.address()
        cables = [stack.enter_context(Cable(database.port)) for _ in range(given.processes)] if database else []
        logs = [place.replace(f":{database.port}/", f":{each.port}/") for each in cables] if database else []

        def start(number: int) -> subprocess.Popen[bytes]:
            return started(given.folder, server.url, logs[number] if logs else place, number)

        running = {number: start(number) for number in range(given.processes)}
        while sum(counts.values()) < given.kills:
            time.sleep(draw.uniform(0.3, 1.5))
            for number, process in running.items():
                if process.poll() == TROUBLE and database is not None:  # whatever schedules processes does the same
                    running[number] = start(number)
            chance = draw.random() if database is not None else 1.0
            if database is not None and chance < DATABASE_KILLS:
                database.kill()
                time.sleep(draw.uniform(0.1, 1.0))
                database.start()
                counts["of_the_database"] += 1
                continue
            alive = [number for number, process in running.items() if process.poll() is None]
            if not alive:
                break
            number = draw.choice(alive)
            if chance < DATABASE_KILLS + CUTS:
                is_long = given.kills > FEW and not counts["long_cuts"]
                counts["long_cuts" if is_long else "cuts"] += 1
                cables[number].cut(silently=is_long or draw.random() < 1 / 2)
                time.sleep(LEASE_SECONDS + 5 if is_long else draw.uniform(1.0, 8.0))
                cables[number].mend()
                continue
            running[number].send_signal(signal.SIGKILL)
            running[number].wait()
            running[number] = start(number)
            counts["kills"] += 1
        codes = set()
        for number, process in running.items():
            code = process.wait(timeout=900)
            if code == TROUBLE and database is not None:  # it began while there was no database
                code = start(number).wait(timeout=900)
            codes.add(code)
        asked = server.statistics()["requests"]
    lines = {file.read_bytes() for file in given.folder.glob("*/samples.jsonl")}
    most = given.questions + counts["kills"] * SLOTS + counts["long_cuts"] * (SLOTS + AHEAD)
    found = {**counts, "questions": given.questions, "asked": asked}
    print(
        json.dumps({**found, "codes": sorted(codes), "results": len(lines), "once": given.questions <= asked <= most})
    )


if __name__ == "__main__":
    main()
