"""How long ``import proctor`` and ``proctor --help`` take, beyond an interpreter that does nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROUNDS = 15


def seconds(*command: str) -> float:
    """Return how long a command takes."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def measure() -> dict[str, Any]:
    """Return the medians of interleaved rounds, in seconds; the bare interpreter is subtracted."""
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
        "bare interpreter": {"value": bare, "unit": "s"},
        "import proctor": {"value": medians["import"] - bare, "unit": "s", "budget": "<= 0.1"},
        names: {"value": medians["names"] - bare, "unit": "s"},
        "proctor --help": {"value": medians["help"], "unit": "s", "budget": "<= 0.2", "note": "with the interpreter"},
    }
