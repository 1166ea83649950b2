"""Lets the N-th write of a run fail, for every N, and checks that nothing is lost and that the error is clear.

A program of its own, started with ``failing_writes.c`` preloaded; each run is a forked child. It prints one JSON
object: how many writes there were, how the runs ended, and what went wrong.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from running_fakes import ToyEngine, ToyExam, choice, question, talk

from proctor.errors import LogError, OutputError
from proctor.running import ResponseLog, run_exams

FAULTS = ctypes.CDLL(None)
CODES = {0: "finished", 10: "log error", 11: "output error", 12: "another error"}


class NotingEngine(ToyEngine):
    """Notes in a file what it was asked, so that another process can read it."""

    transient_fields = ToyEngine.transient_fields | {"notes"}
    notes: str = ""

    def _answer(self, requests):
        with Path(self.notes).open("a") as file:
            for position, response in super()._answer(requests):
                file.write(f"{list(self.asked)[-1]}\n")
                file.flush()
                yield position, response


def sit(folder: Path, notes: str) -> None:
    exams = [ToyExam("a", 4, question, choice), ToyExam("b", 2, talk)]
    run_exams(exams, NotingEngine(notes=str(folder / notes)), log=folder / "log.db", output=folder / "out")


def child(folder: Path, notes: str, arm: tuple[int, bool, str] | None) -> tuple[str, int, str]:
    """Run in a child; return how it ended, the writes counted and the message."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code, message = 12, ""
        try:
            if arm is not None:
                FAULTS.proctor_arm(ctypes.c_long(arm[0]), int(arm[1]), arm[2].encode())
            sit(folder, notes)
            code = 0
        except LogError as error:
            code, message = 10, str(error)
        except OutputError as error:
            code, message = 11, str(error)
        except BaseException:
            message = traceback.format_exc()
        finally:
            counted = FAULTS.proctor_writes()
            os.write(writing, json.dumps([counted, message]).encode())
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        counted, message = json.loads(pipe.read())
    _, status = os.waitpid(pid, 0)
    return CODES[os.waitstatus_to_exitcode(status)], counted, message


def asked(folder: Path, notes: str) -> set[str]:
    path = folder / notes
    return set(path.read_text().split()) if path.exists() else set()


def stored(folder: Path) -> set[str]:
    with ResponseLog(folder / "log.db") as log:
        if problems := log.check():
            raise AssertionError(problems)
        return {row[0].hex() for row in log.connect().execute("SELECT request FROM responses")}


def fingerprint(folder: Path) -> tuple[str, str]:
    results = json.loads((folder / "out" / "results.json").read_text())["results"]
    return json.dumps(results), (folder / "out" / "samples.jsonl").read_text()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--path", default="log.db", help="the writes that fail: to files whose path contains this")
    parser.add_argument("--once", action="store_true", help="only the N-th write fails, not all after it")
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warm = options.folder / "warm"
    warm.mkdir()
    sit(warm, "first")  # children find imported what a run imports
    child(options.folder / "calm", "first", None)
    expected = fingerprint(options.folder / "calm")
    gc.freeze()  # children would copy what a search for garbage touches
    endings: Counter[str] = Counter()
    problems: list[str] = []
    messages: set[str] = set()
    number = 1
    while True:
        folder = options.folder / f"trial{number}"
        folder.mkdir()
        ended, counted, message = child(folder, "first", (number, options.once, options.path))
        endings[ended] += 1
        if ended == "another error":
            problems.append(f"write {number}: {message}")
        elif ended != "finished":
            messages.add(" | ".join(line.replace(str(folder), "") for line in message.splitlines()))
            if "hint:" not in message:
                problems.append(f"write {number}: no hint in {message}")
        kept = stored(folder)
        ended, _, message = child(folder, "second", None)
        if ended != "finished":
            problems.append(f"write {number}: the second run ended with {message}")
        elif fingerprint(folder) != expected:
            problems.append(f"write {number}: other results")
        if again := kept & asked(folder, "second"):
            problems.append(f"write {number}: {len(again)} stored answers were asked again")
        shutil.rmtree(folder)
        if counted < number:
            break
        number += options.step
    print(json.dumps({"writes": number - 1, "endings": endings, "messages": sorted(messages), "problems": problems}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
