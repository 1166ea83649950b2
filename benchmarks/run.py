"""Run the benchmarks and write ``benchmarks/RESULTS.md``: ``make bench``, or ``python benchmarks/run.py [NAME…]``.

A benchmark is a module of this folder with a function ``measure() -> dict``. Each runs in a process of its own, one
after the other. A key of the dict names what was measured. Its value is a number or a text, or a dict with ``value``
and, as far as they apply, ``unit``, ``budget`` (such as ``"<= 0.1"``) and ``note``.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import operator
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "RESULTS.md"
COMPARE = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
TIMEOUT_SECONDS = 1800
PACKAGES = (
    "proctor",
    "numpy",
    "pydantic",
    "jinja2",
    "datasets",
    "torch",
    "transformers",
    "aiohttp",
    "unitxt",
    "lm_eval",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement."""

    benchmark: str
    name: str
    value: Any
    unit: str = ""
    budget: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """``ok`` or ``MISSED`` against the budget; ``""`` where there is none."""
        sign, _, bound = self.budget.partition(" ")
        if sign not in COMPARE:
            return ""
        return "ok" if COMPARE[sign](self.value, float(bound)) else "MISSED"

    @property
    def shown(self) -> str:
        """The value with its unit, to three significant digits."""
        if not isinstance(self.value, float):
            return f"{self.value} {self.unit}".rstrip()
        digits = f"{self.value:,.0f}" if abs(self.value) >= 1000 else f"{self.value:.3g}"
        return f"{digits} {self.unit}".rstrip()


def benchmarks() -> list[str]:
    """Return the names of the modules that define ``measure``."""
    found = []
    for path in sorted(set(FOLDER.glob("*.py")) - {Path(__file__).resolve()}):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(isinstance(node, ast.FunctionDef) and node.name == "measure" for node in body):
            found.append(path.stem)
    return found


def run(name: str) -> list[Line]:
    """Run one benchmark in a process of its own; a failure is a line with its reason."""
    command = [sys.executable, str(Path(__file__)), "--measure", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [Line(name, "failed", f"no result within {TIMEOUT_SECONDS} s")]
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        return [Line(name, "failed", reason)]
    measured: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return [line_of(name, key, value) for key, value in measured.items()]


def line_of(benchmark: str, name: str, value: Any) -> Line:
    """Return a measurement as it came out of ``measure()``."""
    return Line(benchmark, name, **value) if isinstance(value, dict) else Line(benchmark, name, value)


def measure(name: str) -> None:
    """Run ``measure()`` of one module here, and print what it returns as the last line."""
    sys.path.insert(0, str(FOLDER))
    print(json.dumps(importlib.import_module(name).measure()))


def versions() -> Iterator[str]:
    """Yield the packages that matter for the numbers, as ``name version``."""
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            continue


def table(lines: list[Line]) -> str:
    """Return a Markdown table."""
    rows = [
        f"| {each.benchmark} | {each.name} | {each.shown} | {each.budget} | {each.verdict} | {each.note} |"
        for each in lines
    ]
    head = ["| benchmark | measured | value | budget | verdict | note |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def main() -> int:
    """Run the named benchmarks, or all; return 1 where one failed or missed its budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which benchmarks to run")
    parser.add_argument("--measure", metavar="NAME", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return 0
    known = benchmarks()
    if unknown := sorted(set(given.names) - set(known)):
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(known)}")
    lines: list[Line] = []
    for name in given.names or known:
        started = time.perf_counter()
        lines += (found := run(name))
        print(f"{name} ({time.perf_counter() - started:.0f} s)", flush=True)
        for each in found:
            print(f"  {each.name}: {each.shown}  {each.budget} {each.verdict} {each.note}".rstrip(), flush=True)
    if not given.names:
        write(lines)
    return int(any(each.verdict == "MISSED" or each.name == "failed" for each in lines))


def write(lines: list[Line]) -> None:
    """Write ``RESULTS.md``."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    text = f"# Measured by `make bench`\n\n{machine}; {', '.join(versions())}.\n\n{table(lines)}\n"
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
