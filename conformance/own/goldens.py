"""The files that goldens are kept in, and what is different between two of them."""

from __future__ import annotations

import gzip
import json
import math
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]
Records = Mapping[str, Record]

FOLDER = Path(__file__).parent / "goldens"
SHOWN = 3
"""Differences that are printed of each case: the first ones say where to look."""
CLOSE = 1e-9
"""Relative difference that floats may have on another machine: sums of other SIMD widths differ in the last digits."""


def path_of(name: str) -> Path:
    """Return the file of a dialect's goldens."""
    return FOLDER / f"{name}.jsonl.gz"


def machine() -> dict[str, str]:
    """Return what decides the last bits of a float: these equal, goldens are compared to the last bit."""
    version = ".".join(platform.python_version_tuple()[:2])
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return {"python": version, "numpy": np.__version__, "machine": platform.machine(), "simd": " ".join(sorted(found))}


def write(name: str, records: Records) -> None:
    """Write a dialect's goldens: a line on the machine, then a line for each case; equal goldens give equal bytes."""
    FOLDER.mkdir(exist_ok=True)
    lines = [
        json.dumps(machine()),
        *(json.dumps([case, record], ensure_ascii=False) for case, record in records.items()),
    ]
    path_of(name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))


def read(name: str) -> dict[str, Record]:
    """Return a dialect's goldens by case."""
    _, *lines = gzip.decompress(path_of(name).read_bytes()).decode().splitlines()
    return dict(map(json.loads, lines))


def is_of_this_machine(name: str) -> bool:
    """Return whether a dialect's goldens were recorded with the same Python, NumPy and processor."""
    first, *_ = gzip.decompress(path_of(name).read_bytes()).decode().splitlines()
    return bool(json.loads(first) == machine())


def count(records: Records) -> int:
    """Return the number of exams in records."""
    return sum(len(record) for record in records.values())


def differences(known: Records, found: Records, *, exact: bool = True) -> Iterator[str]:
    """Yield where records differ: the case, the exam, the place, what it was and what it is.

    Args:
        known: The goldens.
        found: What is done now.
        exact: Whether floats are compared to the last bit.
    """
    for case in dict.fromkeys([*known, *found]):
        if case not in known or case not in found:
            yield f"{case}: {'new' if case in found else 'gone'}"
            continue
        changes = list(_changes(case, known[case], found[case], exact))
        yield from changes[:SHOWN]
        if len(changes) > SHOWN:
            yield f"{case}: and {len(changes) - SHOWN} more"


def _changes(place: str, known: Any, found: Any, exact: bool) -> Iterator[str]:
    if known == found:
        return
    if isinstance(known, dict) and isinstance(found, dict) and set(known) == set(found):
        if not exact and set(known) == {"float"}:
            if not _is_close(known["float"], found["float"]):
                yield f"{place}: was {known['float']}, is {found['float']}"
            return
        for name, value in known.items():
            yield from _changes(f"{place} / {name}", value, found[name], exact)
    elif isinstance(known, list) and isinstance(found, list) and len(known) == len(found):
        for number, (one, other) in enumerate(zip(known, found, strict=True)):
            yield from _changes(f"{place}[{number}]", one, other, exact)
    else:
        yield f"{place}: was {_short(known)}, is {_short(found)}"


def _is_close(one: str, other: str) -> bool:
    first, second = float.fromhex(one), float.fromhex(other)
    return math.isclose(first, second, rel_tol=CLOSE, abs_tol=CLOSE) or (math.isnan(first) and math.isnan(second))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"
