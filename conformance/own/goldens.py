"""The files that goldens are kept in, a text for each case, and what is different between two of them."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

Records = Mapping[str, str]

FOLDER = Path(__file__).parent / "goldens"
SHOWN = 12
"""Lines that are printed of each case: the first ones say where to look."""
LONGEST = 400
"""Characters that are printed of a line."""
CLOSE = 1e-9
"""Relative difference that floats may have: on another processor libraries sum otherwise, and last digits differ."""


def folder_of(name: str) -> Path:
    """Return the folder of a dialect's goldens."""
    return FOLDER / name


def write(name: str, records: Records) -> None:
    """Write a dialect's goldens, a file for each case, and take away those of cases that are gone."""
    folder = folder_of(name)
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.txt"):
        if file.stem not in records:
            file.unlink()
    for case, text in records.items():
        (folder / f"{case}.txt").write_text(text, encoding="utf-8")


def read(name: str) -> dict[str, str]:
    """Return a dialect's goldens by case."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(folder_of(name).glob("*.txt"))}


def differences(known: Records, found: Records, *, exact: bool = True) -> Iterator[str]:
    """Yield where records differ: the case, then the lines that were (``-``) and are (``+``), below their exam.

    Args:
        known: The goldens.
        found: What is done now.
        exact: Whether floats are compared to the last bit.
    """
    for case in dict.fromkeys([*known, *found]):
        if case not in known or case not in found:
            yield f"{case}: {'new' if case in found else 'gone'}"
        elif changes := list(_changes(known[case], found[case], exact=exact)):
            yield f"{case}:\n" + "\n".join(changes[:SHOWN])
            if len(changes) > SHOWN:
                yield f"{case}: and {len(changes) - SHOWN} more lines"


def _changes(known: str, found: str, *, exact: bool) -> Iterator[str]:
    """Yield the lines that differ, with the exam that each belongs to."""
    if known == found:
        return
    before, after = known.splitlines(), found.splitlines()
    for tag, start, end, other, last in difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        old, new = before[start:end], after[other:last]
        if tag == "equal" or (not exact and len(old) == len(new) and all(map(_is_close, old, new))):
            continue
        exam = next((line for line in reversed(before[: start + 1]) if line.startswith("== ")), "")
        yield exam
        yield from (f"-{line}"[:LONGEST] for line in old)
        yield from (f"+{line}"[:LONGEST] for line in new)


_FLOAT = re.compile(r"(?<![\w\"])-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|inf|nan)(?![\w\"])")


def _is_close(one: str, other: str) -> bool:
    """Whether two lines are equal but for the last digits of floats."""
    if _FLOAT.sub("#", one) != _FLOAT.sub("#", other):
        return False
    pairs = zip(map(float, _FLOAT.findall(one)), map(float, _FLOAT.findall(other)), strict=True)
    return all(
        math.isclose(first, second, rel_tol=CLOSE, abs_tol=CLOSE) or (math.isnan(first) and math.isnan(second))
        for first, second in pairs
    )
