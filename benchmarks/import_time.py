"""The CPU time of ``import proctor`` and ``proctor --help``, which other work on the machine hardly changes."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROUNDS = 9


def seconds(*command: str) -> float:
    """Return the CPU time of a command, in user and system mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> dict[str, Any]:
    """Return the medians of interleaved rounds, in CPU seconds; the bare interpreter is subtracted."""
    program = str(Path(sys.executable).with_name("proctor"))
    rounds: dict[str, list[float]] = {"bare": [], "import": [], "names": [], "help": []}
    names = "from proctor import load_dataset, evaluate, settings"
    for _ in range(ROUNDS):
        rounds["bare"].append(seconds(sys.executable, "-c", "pass"))
        rounds["import"].append(seconds(sys.executable, "-c", "import proctor"))
        rounds["names"].append(seconds(sys.executable, "-c", names))
        rounds["help"].append(seconds(program, "--help"))
    medians = {name: statistics.median(times) for name, times in rounds.items()}
    bare = medians["bare"]
    return {
        "bare interpreter": {"value": bare, "unit": "CPU s"},
        "import proctor": {"value": medians["import"] - bare, "unit": "CPU s", "budget": "<= 0.1"},
        names: {"value": medians["names"] - bare, "unit": "CPU s"},
        "proctor --help": {
            "value": medians["help"],
            "unit": "CPU s",
            "budget": "<= 0.2",
            "note": "with the interpreter",
        },
    }
