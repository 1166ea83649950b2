"""Records what the other systems answer to made-up cases; prints every difference that is not explained.

    python -m conformance.recorded.record lm_eval --python ENV/bin/python

ENV is an environment with the system (``make conformance`` makes them all). Exits with 1 where a difference has no
explanation; the recording is written in any case, and then fails the tests.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from conformance.recorded.recording import (
    Comparison,
    Difference,
    Header,
    Recording,
    changed,
    explain_anew,
    path_of,
    read,
    record,
    write,
)

PACKAGES = {"unitxt": "unitxt", "lm_eval": "lm_eval", "aisbench": "ais_bench_benchmark", "hub_yaml": "inspect_ai"}
_NAMES = {"inspect": "inspect_ai"}
"""Packages of peers that are no dialect."""
SHOWN = 8


def comparisons_of(dialect: str, python: str = "") -> list[Comparison]:
    """Return what is compared with a system."""
    found: list[Comparison] = import_module(f"conformance.recorded.{dialect}").comparisons(python)
    return found


def version_of(package: str, python: str) -> str:
    """Return the version of a package in an environment, or of OpenCompass' unpacked wheel."""
    unpacked = os.environ.get("OPENCOMPASS_WHEEL", "")
    program = (
        f"import sys; sys.path.append({unpacked!r}); import importlib.metadata as m; print(m.version('{package}'))"
    )
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def renewed(comparison: Comparison, dialect: str, python: str) -> tuple[Recording, list[Difference]]:
    """Ask the peers of a comparison; print the counts, and return what they answered and what differs."""
    began = time.monotonic()
    peers = comparison.peer.split(" and ")
    version = " and ".join(version_of(PACKAGES.get(peer, _NAMES.get(peer, peer)), python) for peer in peers)
    command = f"python -m conformance.recorded.record {dialect} --python ENV/bin/python"
    header = Header(comparison.name, comparison.peer, version, command, datetime.now(UTC).date().isoformat())
    recording, differences = record(comparison, header)
    print(
        f"{comparison.name}: {len(recording.cases)} cases, {recording.count} answers, {len(differences)} differ,"
        f" {recording.explanations().total()} differ on purpose; {time.monotonic() - began:.0f} s",
        flush=True,
    )
    for difference in differences[:SHOWN]:
        print(difference)
    return recording, differences


def kept_or_new(before: Recording | None, now: Recording) -> Recording:
    """Return the recording that stands where only the date is another, else the new one; print which."""
    name, count = now.header.comparison, changed(before, now)
    if before and not count and replace(before.header, date="") == replace(now.header, date=""):
        print(f"{name}: {len(now.cases)} cases equal to those recorded on {before.header.date}, which stay", flush=True)
        return before
    print(f"{name}: recorded anew, {'none before' if count is None else f'{count} cases are others than before'}")
    return now


def main() -> int:
    """Record; return 1 where a difference is not explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialect", choices=sorted(PACKAGES))
    parser.add_argument("--python", default="", help="Python of an environment with the system")
    parser.add_argument("--explain", action="store_true", help="explain what changed on purpose; ask nobody")
    parser.add_argument("--only", help="one comparison (unitxt/metrics); the others stay as they are recorded")
    parser.add_argument("--differences", type=Path, help="write all differences to this file")
    args = parser.parse_args()
    os.environ["PYTHONHASHSEED"] = "0"  # of the peers: Unitxt's loaders go through splits in the order of a set
    comparisons = comparisons_of(args.dialect, args.python)
    recordings = read(args.dialect) if path_of(args.dialect).is_file() else {}
    found: list[Difference] = []
    for comparison in comparisons:
        if args.only not in (None, comparison.name):
            continue
        if args.explain:
            differences = explain_anew(comparison, recordings[comparison.name])
        else:
            recording, differences = renewed(comparison, args.dialect, args.python)
            recordings[comparison.name] = kept_or_new(recordings.get(comparison.name), recording)
        found += differences
        write(args.dialect, [recordings[each.name] for each in comparisons if each.name in recordings])  # may be ended
    if args.differences:
        args.differences.write_text("".join(f"{each}\n" for each in found), encoding="utf-8")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
