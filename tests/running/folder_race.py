"""Two runs into one folder at once, again and again: one completes, the other is refused, or helps where both
share a log. Prints one JSON object.

python tests/running/folder_race.py --rounds 60 --folder /tmp/race
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from running_fakes import ToyEngine, ToyExam, question

from proctor.errors import OutputError
from proctor.running import run_exams

COUNT = 96
SECONDS_PER_ANSWER = 0.0005


class SlowEngine(ToyEngine):
    """Takes its time, so that two runs overlap."""

    def _answer(self, requests):
        for each in super()._answer(requests):
            time.sleep(SECONDS_PER_ANSWER)
            yield each


def without_locks() -> None:
    """Let this process believe that the file system has no locks."""
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    fcntl.flock = refuse


def sit(folder: Path, log: str, start: float, *, locks: bool) -> int:
    if not locks:
        without_locks()
    while time.time() < start:
        time.sleep(0.0001)
    try:
        run_exams(
            [ToyExam("exam", COUNT, question)],
            SlowEngine(),
            log=log if "://" in log else folder / log,
            output=folder / "out",
        )
    except OutputError as error:
        return 3 if "another run is going on" in str(error) and "process " in str(error) else 4
    return 0


def forked(folder: Path, log: str, start: float, *, locks: bool) -> int:
    pid = os.fork()
    if pid == 0:
        code = 5
        try:
            code = sit(folder, log, start, locks=locks)
        finally:
            os._exit(code)
    return pid


def one_round(folder: Path, log: str, *, locks: bool) -> str:
    """Return how the two ended, and whether what is in the folder is whole; without a log each has one of its own."""
    start = time.time() + 0.05
    children = [forked(folder, log or f"log{me}.db", start, locks=locks) for me in range(2)]
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children)
    lines = (folder / "out" / "samples.jsonl").read_text().splitlines()
    numbers = [json.loads(line)["doc_id"] for line in lines]
    n = json.loads((folder / "out" / "results.json").read_text())["results"]["exam"]["n"]
    files = sorted(path.name for path in (folder / "out").iterdir())
    whole = numbers == list(range(COUNT)) and n == COUNT and files == ["results.json", "run.yaml", "samples.jsonl"]
    return f"{codes} {'whole' if whole else f'broken: {len(lines)} lines, {files}'}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--no-locks", action="store_true")
    parser.add_argument("--log", nargs="*", default=[], help="shared, one after the other")
    options = parser.parse_args()
    ends: Counter[str] = Counter()
    (options.folder / "warm").mkdir(parents=True)
    sit(options.folder / "warm", "log.db", 0.0, locks=True)  # rounds find imported what a run imports
    for number in range(options.rounds):
        folder = options.folder / str(number)
        folder.mkdir(parents=True)
        log = options.log[number % len(options.log)] if options.log else ""
        ends[one_round(folder, log, locks=not options.no_locks)] += 1
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
