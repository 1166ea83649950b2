"""Batches under faults: for each provider, schedules of kills, lost replies, refusals and expiry on a virtual clock.

Each schedule asks twelve questions of a simulated provider (``tests/running/batch_providers.py``), is killed and
started again until all are answered, and counts what was paid twice, lost or wrong: none may be.

    python benchmarks/batch_schedules.py [--count 1000] [--kinds open-ai aws]
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TESTS = Path(__file__).resolve().parent.parent / "tests"
MEMORY = Path("/dev/shm")  # noqa: S108 - where logs need no disk


def shared(name: str) -> Any:
    """Return a module that the tests share, as ``tests/conftest.py`` makes it."""
    known = f"tests_{Path(name).name}"
    if known not in sys.modules:
        spec = spec_from_file_location(known, TESTS / f"{name}.py")
        sys.modules[known] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def run(count: int, kinds: Sequence[str] = ()) -> dict[str, Counter[str]]:
    """Return what happened in so many schedules of each provider."""
    shared("virtual")
    sys.path.insert(0, str(TESTS / "running"))
    providers = shared("running/batch_providers")
    found: dict[str, Counter[str]] = {}
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        for kind in kinds or providers.KINDS:
            found[kind] = Counter()
            with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
                for seed in range(count):
                    happened = providers.schedule(kind, seed, Path(folder))
                    found[kind] += happened
                    if happened["lost"] or happened["paid twice"] or happened["wrong"]:
                        print(f"{kind}, seed {seed}: {dict(happened)}", file=sys.stderr)
    finally:
        logging.disable(before)
    return found


def measure(count: int = 1000) -> dict[str, Any]:
    """Return the sums over all providers."""
    total = sum(run(count).values(), Counter())
    names = ("lost", "paid twice", "wrong")
    bad: dict[str, Any] = {f"requests {name}": {"value": total[name], "budget": "<= 0"} for name in names}
    return {**bad, **{name: total[name] for name in ("starts", "kills", "batches")}}


def main() -> None:
    """Print a line for each provider."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--kinds", nargs="*", default=[])
    options = parser.parse_args()
    began = time.perf_counter()
    for kind, happened in run(options.count, options.kinds).items():
        said = ", ".join(f"{happened[name]} {name}" for name in ("lost", "paid twice", "wrong", "starts", "batches"))
        print(f"{kind:12} {said}")
        print(" " * 13 + ", ".join(f"{name} {times}" for name, times in sorted(happened.items()) if times))
    print(f"{time.perf_counter() - began:,.0f} seconds")


if __name__ == "__main__":
    main()
