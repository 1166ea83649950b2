"""Records what the other systems answer to made-up cases; prints every difference that is not explained.

    python -m conformance.recorded.record lm_eval --python ENV/bin/python

ENV is an environment with the system (``python -m conformance.run`` makes them all). Exits with 1 where a difference has
no explanation; the recording is written in any case, and then fails the tests.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from conformance.recorded.recording import Comparison, Header, path_of, read, record, write

PACKAGES = {"unitxt": "unitxt", "lm_eval": "lm_eval", "aisbench": "ais_bench_benchmark"}
SHOWN = 8


def comparisons_of(dialect: str, python: str = "") -> list[Comparison]:
    """Return what is compared with a system."""
    found: list[Comparison] = import_module(f"conformance.recorded.{dialect}").comparisons(python)
    return found


def version_of(package: str, python: str) -> str:
    """Return the version of a package in an environment."""
    program = f"from importlib.metadata import version; print(version('{package}'))"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Record; return 1 where a difference is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialect", choices=sorted(PACKAGES))
    parser.add_argument("--python", required=True, help="Python of an environment with the system")
    parser.add_argument("--only", help="one comparison (unitxt/metrics); the others stay as they are recorded")
    parser.add_argument("--differences", type=Path, help="write all differences to this file")
    args = parser.parse_args()
    command = f"python -m conformance.recorded.record {args.dialect} --python ENV/bin/python"
    date = datetime.now(UTC).date().isoformat()
    recordings, wrong = read(args.dialect) if path_of(args.dialect).is_file() else {}, 0
    for comparison in comparisons_of(args.dialect, args.python):
        if args.only not in (None, comparison.name):
            continue
        began = time.monotonic()
        version = version_of(PACKAGES.get(comparison.peer, comparison.peer), args.python)
        header = Header(comparison.name, comparison.peer, version, command, date)
        recording, differences = record(comparison, header)
        recordings[comparison.name] = recording
        wrong += len(differences)
        explained = recording.explanations()
        print(
            f"{comparison.name}: {len(recording.cases)} cases, {recording.count} answers, {len(differences)} differ,"
            f" {explained.total()} differ on purpose; {time.monotonic() - began:.0f} s",
            flush=True,
        )
        for difference in differences[:SHOWN]:
            print(difference)
        if args.differences:
            with args.differences.open("a", encoding="utf-8") as file:
                file.writelines(f"{difference}\n" for difference in differences)
    write(args.dialect, recordings.values())
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
