"""Runs every comparison with the other systems, renews the recordings, and lists the explained differences.

    python -m conformance.run [--environments FOLDER] [--only GLOB] [--jobs N] [--again]

Or ``make conformance``. The environments of the other systems are made once and kept in FOLDER. A comparison that needs
what is not here (real datasets, a document) is left out, and the table at the end says so. One that has passed for this
tree is not run again without ``--again``, so that a run that was ended goes on where it was; one that takes longer than
it may is ended. Exits with 1 where one differs or was ended.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase
from pathlib import Path

from conformance import page
from conformance.comparisons import COMPARISONS, Comparison
from conformance.passed import Passed, State, digest
from conformance.places import ABSENT, ROOT, places, variables

KEPT = Path(tempfile.gettempdir()) / "proctor-conformance"
LAST_LINES = 3
"""Lines of a comparison that are shown where none has counts that are known by their words."""
MOST_COUNTS = 6
"""Lines with counts that are shown: one for each kind of thing that most programs compare."""
_COUNTED = re.compile(r"\d[\d,]* (?:\w+ ){0,2}(?:equal|agree)\b|\b0 differ\b|\bcompared\b|\bunexplained\b")
_NAMES = re.compile(r"\{(\w+)\}")
EQUAL, DIFFERS, ENDED, LEFT_OUT = "equal", "differs", "ended", "left out"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a comparison."""

    module: str
    state: str
    seconds: float = 0.0
    said: str = ""


def needs(comparison: Comparison) -> set[str]:
    """Return the names of the places that a comparison needs."""
    return {*comparison.needs, *(name for each in comparison.arguments for name in _NAMES.findall(each))}


def compare(comparison: Comparison, known: dict[str, str], state: State) -> Outcome:
    """Run a comparison, unless it has passed or something is not here."""
    name = comparison.module
    if absent := sorted(needs(comparison) - known.keys()):
        return Outcome(name, LEFT_OUT, said="needs " + ", ".join(ABSENT.get(each, each) for each in absent))
    if passed := state.get(key(comparison)):
        return Outcome(name, EQUAL, passed.seconds, f"{passed.said} (passed before, for this tree)")
    log = KEPT / "logs" / f"{name.replace(':', '-')}.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    ended = run(comparison, known, log)
    seconds = time.monotonic() - began
    text = log.read_text(encoding="utf-8", errors="replace")
    if comparison.table and ended == EQUAL:
        ended, said = against_table(comparison.table, text)
    else:
        said = counts(text) + (f" [{comparison.part}]" if comparison.part else "")
    if ended == EQUAL:
        state.add(key(comparison), Passed(seconds, said))
        return Outcome(name, EQUAL, seconds, said)
    return Outcome(name, ended, seconds, f"{said}; all of it: {log}")


def counts(text: str) -> str:
    """Return what a program says about how much it compared: its last counts, or its last lines."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return "; ".join([line for line in lines if _COUNTED.search(line)][-MOST_COUNTS:] or lines[-LAST_LINES:])


def against_table(table: str, text: str) -> tuple[str, str]:
    """Return whether a program wrote the table that stands in the repository, and that in words."""
    stands, writes = (ROOT / table).read_text(encoding="utf-8").splitlines(), text.splitlines()
    unlike = [line for line in unified_diff(stands, writes, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
    if not unlike:
        return EQUAL, f"{len(stands)} lines of {table} equal"
    return DIFFERS, f"{len(unlike)} lines of {table} differ: " + "; ".join(unlike[:LAST_LINES])


def key(comparison: Comparison) -> str:
    """Return the name that a comparison with its arguments has passed under."""
    return " ".join((comparison.module, *comparison.arguments))


def run(comparison: Comparison, known: dict[str, str], log: Path) -> str:
    """Run a comparison's program, whose words go to a file; return what became of it."""
    module = comparison.module.partition(":")[0]
    command = [sys.executable, "-m", f"conformance.{module}", *(each.format(**known) for each in comparison.arguments)]
    work = KEPT / "work" / comparison.module.replace(":", "-")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=variables(known, work),
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        _running.add(process)
        try:
            code = process.wait(timeout=comparison.minutes * 60)
        except subprocess.TimeoutExpired:
            file.write(f"\nended after {comparison.minutes} minutes\n")
            return ENDED
        finally:
            end(process)
            _running.discard(process)
    if code == 0:
        shutil.rmtree(work, ignore_errors=True)
    if code < 0:  # a signal: an interrupt of the whole, or a machine without memory
        return ENDED
    return DIFFERS if code else EQUAL


_running: set[subprocess.Popen[bytes]] = set()
"""Programs that run now. Each leads a session of its own, so that Ctrl-C does not reach it by itself."""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, with all that it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def outcomes(chosen: list[Comparison], known: dict[str, str], state: State, jobs: int) -> Iterator[Outcome]:
    """Run comparisons, some of them at the same time; say what became of each when it ends."""

    def told(comparison: Comparison) -> Outcome:
        outcome = compare(comparison, known, state)
        print(f"{outcome.state:8}  {outcome.module}  {outcome.seconds:.0f} s\n        {outcome.said}", flush=True)
        return outcome

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(told, chosen)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in tuple(_running):
            end(process)


def table(found: list[Outcome]) -> Iterator[str]:
    """Yield the lines of the table at the end: comparison, state, seconds, counts."""
    width = max((len(each.module) for each in found), default=0)
    for each in found:
        yield f"{each.module:{width}}  {each.state:8}  {each.seconds:6.0f} s  {each.said}"
    counts = {state: sum(each.state == state for each in found) for state in (EQUAL, DIFFERS, ENDED, LEFT_OUT)}
    yield ", ".join(f"{count} {state}" for state, count in counts.items())


def main() -> int:
    """Compare everything; return 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--environments", type=Path, default=KEPT / "environments", help="where the other systems are installed"
    )
    parser.add_argument(
        "--only", nargs="+", default=["*"], help="comparisons to run, as globs: 'recorded.*' renews the recordings"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="comparisons at the same time")
    parser.add_argument("--again", action="store_true", help="also those that have passed for this tree")
    args = parser.parse_args()
    chosen = [each for each in COMPARISONS if any(fnmatchcase(each.module, glob) for glob in args.only)]
    if not chosen:
        parser.error(f"no comparison is called {' or '.join(args.only)}")
    known = places(args.environments.resolve(), {name for each in chosen for name in needs(each)})
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the programs, too
    state_file = KEPT / "passed.json"
    state = State(state_file, digest(ROOT))
    if args.again:
        state.forget(map(key, chosen))
    found = list(outcomes(chosen, known, state, args.jobs))
    page.write()
    print("\n".join(table(found)))
    return int(any(each.state in (DIFFERS, ENDED) for each in found))


if __name__ == "__main__":
    sys.exit(main())
