"""Runs programs, each in a child of a process that has imported the slow packages once.

    python run_programs.py [--compat] OUTPUT PROGRAM…

With --compat they run under the names of Unitxt. OUTPUT/<program>.txt has what a program printed; the last line is its exit status.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from importlib import import_module
from pathlib import Path

SLOW = ("datasets", "pandas", "scipy.stats", "proctor.recipes", "proctor.results.evaluate", "proctor.scoring.pipeline")


def run(program: Path, output: Path) -> None:
    """Run a program with its output in a file; never returns."""
    status = 0
    with (output / f"{program.stem}.txt").open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = [str(program)]
    try:
        runpy.run_path(str(program), run_name="__main__")
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    os.write(1, f"\n{status}".encode())
    os._exit(0)


def main() -> None:
    """Run the programs, two at a time."""
    arguments = [each for each in sys.argv[1:] if each != "--compat"]
    for name in SLOW:
        import_module(name)
    if len(arguments) < len(sys.argv) - 1:
        import_module("proctor.compat").install()
    output = Path(arguments[0])
    running = 0
    for program in map(Path, arguments[1:]):
        if running == 2:
            os.wait()
            running -= 1
        if os.fork() == 0:
            run(program, output)
        running += 1
    for _ in range(running):
        os.wait()


if __name__ == "__main__":
    main()
