"""A sweep: one exam in every combination of wordings, each combination a run of its own.

The design lies in the sweep's folder (:data:`SWEEP`), beside a run folder for each cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any, Final

from proctor.errors import UsageError
from proctor.foreign_text import parse_json
from proctor.jsonable import jsonable
from proctor.safe_files import read_bytes, write_text

SWEEP: Final = "sweep.json"
"""What makes a folder that of a sweep: its design, and what came out."""

_SCHEMA: Final = 1
_MOST_BYTES: Final = 64 << 20  # of the file: ten thousand cells
_ELSEWHERE: Final = "choose another --output, or leave it out"
_LONGEST: Final = 80  # characters of a folder's name that people recognise it by

TEMPLATE, FORMAT, DEMOS, DRAW = "template", "format", "demos", "demo draw"
SYSTEM, ORDER, PERTURBATION, EXTRACTION = "system prompt", "choice order", "perturbation", "extraction"


@dataclass(frozen=True, slots=True)
class Level:
    """One way in which a dimension of a sweep may be: its name, and the options of a run, ``tasks`` among them."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Factor:
    """One dimension of a sweep; a level that is named twice is refused."""

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        names = [level.name for level in self.levels]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise UsageError(f"{self.name}: '{twice}' is named twice", hint="leave one of them out")


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of levels: their names by dimension, its run folder in the sweep's, what its run is given."""

    levels: Mapping[str, str]
    folder: str
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What people call it."""
        return " · ".join(self.levels.values()) or "as written"


def crossed(factors: Sequence[Factor]) -> list[Cell]:
    """Return every combination of levels. Prompts without demos have one draw of them.

    >>> demos = Factor("demos", (Level("0", {"num_demos": 0}), Level("2", {"num_demos": 2})))
    >>> draws = Factor("demo draw", (Level("1", {"seed": 1}), Level("2", {"seed": 2})))
    >>> [cell.name for cell in crossed([demos, draws])]
    ['0 · none', '2 · 1', '2 · 2']
    """
    found: dict[str, Cell] = {}
    for chosen in product(*(factor.levels for factor in factors)):
        levels = {factor.name: level.name for factor, level in zip(factors, chosen, strict=True)}
        changes = {name: value for level in chosen for name, value in level.changes.items()}
        if DRAW in levels and changes.get("num_demos") == 0:
            levels[DRAW] = "none"
            changes.pop("seed")
        said = "+".join(f"{name.split()[-1]}-{level}" for name, level in levels.items()) or "as-written"
        content = json.dumps([sorted(levels.items()), jsonable(changes)], sort_keys=True)
        digest = blake2b(content.encode(), digest_size=3).hexdigest()  # wordings may be called the same
        folder = f"{re.sub(r'[^A-Za-z0-9_+.=-]+', '-', said)[:_LONGEST].strip('-.')}-{digest}"
        cell = Cell(levels, folder, changes)
        found.setdefault(cell.name, cell)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Design:
    """What a sweep asks: an exam as it was named, a model, combinations in order, and how answers are read.

    ``part`` says what was drawn where not every wording is asked every question: ``budget``, ``asked``, ``of``,
    ``questions`` and ``seed``.
    """

    exam: str
    model: str
    cells: tuple[Cell, ...]
    readings: tuple[str, ...] = ()
    part: Mapping[str, Any] | None = None

    def write(self, folder: Path, result: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Write the file of a sweep, whole or not at all, and return what it holds."""
        cells = [{"name": each.name, "folder": each.folder, "levels": dict(each.levels)} for each in self.cells]
        record = {"schema_version": _SCHEMA, "exam": self.exam, "model": self.model, "readings": list(self.readings)}
        record |= {"part": dict(self.part)} if self.part else {}
        record |= {"cells": cells, **({} if result is None else {"result": result})}
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / SWEEP, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        return record

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Design:
        """Return the design that a file of a sweep holds."""
        cells = tuple(Cell(each["levels"], Path(each["folder"]).name) for each in record["cells"])  # nowhere else
        return cls(record["exam"], record["model"], cells, tuple(record["readings"]), record.get("part"))


def is_sweep(folder: Path) -> bool:
    """Whether a folder is that of a sweep."""
    return (folder / SWEEP).is_file()


@contextmanager
def damage_told(folder: Path) -> Iterator[None]:
    """Say of a file of a sweep that is used within the block where it lacks what it should have.

    Raises:
        UsageError: It does.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise UsageError(f"{folder / SWEEP} is damaged: {error!r}", hint="run the sweep again") from None


def read_sweep(folder: Path) -> dict[str, Any]:
    """Return what the file of a sweep holds.

    Raises:
        UsageError: It cannot be read, or is none that this Proctor writes.
    """
    try:
        found = parse_json(read_bytes(folder / SWEEP, _MOST_BYTES, within=folder).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{folder / SWEEP} cannot be read", why=str(error)) from None
    if not isinstance(found, dict) or found.get("schema_version") != _SCHEMA or not found.get("cells"):
        raise UsageError(f"{folder / SWEEP} is not what proctor sweep writes", hint="run the sweep again")
    return found


def check_folder(folder: Path, design: Design) -> None:
    """See to it that a folder is free for a sweep: empty, new, or that of the same exam and model.

    Raises:
        UsageError: It is another's.
    """
    if is_sweep(folder):
        before = read_sweep(folder)
        for what, now in (("exam", design.exam), ("model", design.model)):
            if before[what] != now:
                why = f"it is of {before[what]}, and this one of {now}"
                raise UsageError(f"{folder} is a sweep of another {what}", why=why, hint=_ELSEWHERE)
    elif folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} holds something else", hint=_ELSEWHERE)
