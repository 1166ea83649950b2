"""A sweep: one exam in every combination of wordings, each combination a run of its own.

The design lies in the sweep's folder (:data:`SWEEP`), beside a run folder for each cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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

SCHEMA: Final = 1
_MOST_BYTES: Final = 256 << 20  # of the file: a thousand cells, and a hundred thousand questions
_LONGEST: Final = 80  # characters of a folder's name that people recognise it by

TEMPLATE, FORMAT, DEMOS, DRAW = "template", "format", "demos", "demo draw"
SYSTEM, ORDER, PERTURBATION, EXTRACTION = "system prompt", "choice order", "perturbation", "extraction"
NO_DRAW: Final = "none"
"""The draw of a prompt without demos."""


@dataclass(frozen=True, slots=True)
class Level:
    """One way in which a dimension of a sweep may be.

    Attributes:
        name: What it is called.
        changes: What it gives to a run: options by name, and ``tasks`` where it is an exam of its own.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Factor:
    """One dimension of a sweep.

    Attributes:
        name: What it is called.
        levels: Its levels, with names of their own.
    """

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        """Refuse levels that are one.

        Raises:
            UsageError: Two have the same name, or give the same to a run.
        """
        seen: list[Level] = []
        for level in self.levels:
            for other in seen:
                if level.name == other.name or dict(level.changes) == dict(other.changes):
                    both = f"'{level.name}'" if level.name == other.name else f"'{other.name}' and '{level.name}'"
                    raise UsageError(
                        f"the same {self.name} is named twice: {both}",
                        why="each would be asked the same, and count as another wording",
                        hint="leave one of them out",
                    )
            seen.append(level)


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of levels.

    Attributes:
        levels: The name of the level of each dimension.
        changes: What its run is given.
    """

    levels: Mapping[str, str]
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What people call it."""
        return " · ".join(self.levels.values()) or "as written"

    @property
    def folder(self) -> str:
        """The name of its run folder, which no other wording has, though it be called the same."""
        said = "+".join(f"{_SHORT.get(name, name)}-{level}" for name, level in self.levels.items()) or "as-written"
        content = json.dumps([sorted(self.levels.items()), jsonable(self.changes)], sort_keys=True)
        digest = blake2b(content.encode(), digest_size=3).hexdigest()
        return f"{re.sub(r'[^A-Za-z0-9_+.=-]+', '-', said)[:_LONGEST].strip('-.')}-{digest}"


_SHORT: Final = {TEMPLATE: "t", FORMAT: "f", DRAW: "draw", SYSTEM: "sys", ORDER: "order", PERTURBATION: "p"}


def crossed(factors: Sequence[Factor]) -> list[Cell]:
    """Return the cells of a design: every combination of levels. Prompts without demos have one draw of them.

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
            levels[DRAW] = NO_DRAW
            changes.pop("seed")
        cell = Cell(levels, changes)
        found.setdefault(cell.name, cell)
    return list(found.values())


# -- the folder -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Design:
    """What a sweep asks.

    Attributes:
        exam: The exam, as it was named.
        model: Who is asked.
        cells: The combinations that are asked, in order.
        readings: How their answers are read; nothing where it is as the exam reads.
        share: Of the questions that each cell is asked about; 1 is all.
    """

    exam: str
    model: str
    cells: tuple[Cell, ...]
    readings: tuple[str, ...] = ()
    share: float = 1.0

    def record(self) -> dict[str, Any]:
        """Return it as JSON-like data."""
        return {
            "schema_version": SCHEMA,
            "exam": self.exam,
            "model": self.model,
            "cells": [{"name": each.name, "folder": each.folder, "levels": dict(each.levels)} for each in self.cells],
            "readings": list(self.readings),
            "share": self.share,
        }


def is_sweep(folder: Path) -> bool:
    """Whether a folder is that of a sweep."""
    return (folder / SWEEP).is_file()


def sweeps_in(root: Path, depth: int = 2) -> Iterator[Path]:
    """Yield the folders of sweeps in a folder, itself included."""
    if is_sweep(root):
        yield root
    elif depth and root.is_dir():
        for path in sorted(each for each in root.iterdir() if each.is_dir() and not each.is_symlink()):
            yield from sweeps_in(path, depth - 1)


def read_sweep(folder: Path) -> dict[str, Any]:
    """Return what the file of a sweep says.

    Raises:
        UsageError: The folder has none, or it cannot be read.
    """
    try:
        found = parse_json(read_bytes(folder / SWEEP, _MOST_BYTES, within=folder).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{folder} is not the folder of a sweep", why=str(error), hint="proctor sweep makes one"
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("cells"), list) or found.get("schema_version") != SCHEMA:
        raise UsageError(f"{folder / SWEEP} is not what proctor sweep writes", hint="run the sweep again")
    return found


def check_folder(folder: Path, design: Design) -> None:
    """See to it that a folder is free for a sweep: empty, new, or that of the same exam and model.

    Raises:
        UsageError: It is another's.
    """
    if not is_sweep(folder):
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds something else", hint="choose another --output, or leave it out")
        return
    before = read_sweep(folder)
    for what in ("exam", "model"):
        if before[what] != getattr(design, what):
            raise UsageError(
                f"{folder} is a sweep of another {what}",
                why=f"it is of {before[what]}, and this one of {getattr(design, what)}",
                hint="choose another --output, or leave it out",
            )


def write_sweep(folder: Path, record: Mapping[str, Any]) -> None:
    """Write the file of a sweep, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / SWEEP, json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
