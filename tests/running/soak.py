"""What CI does for a minute, for as long as one likes: kills and failing writes, with other seeds each time.

    python tests/running/soak.py --kills 1000 --rounds 1

It prints a line for each round and ends with 1 at the first problem, leaving the folder to look at.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
KILLS_PER_PROCESS = 100


def kills(folder: Path, count: int, seed: int) -> dict:
    command = [sys.executable, str(HERE / "kill_loop.py"), "--kills", str(count), "--seed", str(seed)]
    return report(subprocess.run([*command, "--folder", str(folder)], capture_output=True, text=True, check=False))


def failing_writes(folder: Path, library: Path, *arguments: str) -> dict:
    command = [sys.executable, str(HERE / "write_faults.py"), "--folder", str(folder), *arguments]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    return report(subprocess.run(command, env=environment, capture_output=True, text=True, check=False))


def report(done: subprocess.CompletedProcess[str]) -> dict:
    if not done.stdout:
        return {"problems": [done.stderr.strip()]}
    return json.loads(done.stdout)


def compile_library(folder: Path) -> Path | None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return None
    library = folder / "failing_writes.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing_writes.c", "-ldl"], check=True)
    return library


def one_round(folder: Path, count: int, seed: int) -> list[str]:
    folder.mkdir(parents=True)
    problems = []
    total = {"kills": 0, "asked_again": 0, "committed_asked_again": 0}
    began = time.monotonic()
    for part in range(0, count, KILLS_PER_PROCESS):
        place = folder / f"kills{part}"
        found = kills(place, min(KILLS_PER_PROCESS, count - part), seed * 1000 + part)
        problems += found["problems"]
        total = {name: total[name] + found.get(name, 0) for name in total}
        if not found["problems"]:
            shutil.rmtree(place)
    print(f"seed {seed}: {total} in {time.monotonic() - began:.0f} s", flush=True)
    library = compile_library(folder)
    for number, arguments in enumerate((["--path", "log.db"], ["--path", "log.db", "--once"], ["--path", "/out/"])):
        if library is not None:
            found = failing_writes(folder / f"writes{number}", library, *arguments)
            problems += found["problems"]
            print(f"seed {seed}: {arguments} {found.get('writes')} writes, {found.get('endings')}", flush=True)
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="proctor-soak-", dir=memory))
    for number in range(options.rounds):
        if problems := one_round(folder / str(number), options.kills, options.seed + number):
            print("\n".join(problems), file=sys.stderr)
            print(f"what is left is in {folder}", file=sys.stderr)
            return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
