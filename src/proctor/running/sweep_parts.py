"""A part of a sweep: the questions that each wording is asked, drawn at random from the whole grid."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from proctor.errors import UsageError
from proctor.recipes.exam import Exam
from proctor.running.drawn_questions import ORDER_SEED, part_of
from proctor.running.sweeps import Cell, Design
from proctor.scoring.grades import Grade

_BUDGET: Final = re.compile(r"(\d+(?:\.\d+)?)(%?)")
_FEWEST: Final = 5
"""Wordings: of fewer, the model that stands for the rest knows too little."""
CHOSEN: Final = "at random for the wording"


@dataclass(frozen=True, slots=True)
class GridPart:
    """The questions of one wording, by the digests of their rows.

    Attributes:
        digests: Those that are asked.
        seed: Of the draw.
    """

    digests: frozenset[str]
    seed: int

    def of(self, exams: Sequence[Exam]) -> tuple[dict[str, _Asked], list[Exam]]:
        """Return how the questions of exams were drawn, by name, and these questions as exams."""
        samples, parts = dict[str, _Asked](), list[Exam]()
        for exam in exams:
            questions = list(exam.questions())
            kept = [each for each in questions if each.digest in self.digests]
            samples[exam.name] = _Asked(len(kept), len(questions), self.seed)
            parts.append(part_of(exam, kept))
        return samples, parts


@dataclass(frozen=True, slots=True)
class _Asked:
    asked: int
    of: int
    seed: int

    def corrected(self, grade: Grade) -> Grade:
        """Return the grade: its score is an estimate of that of the whole exam as it stands."""
        grade.stands_for = self.of
        return grade

    def entry(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return results with how the questions were drawn."""
        return {**entry, "sample": {"asked": self.asked, "of": self.of, "chosen": CHOSEN, "seed": self.seed}}


def with_part(
    design: Design, budget: str, digests: Sequence[str], seed: int | None
) -> tuple[Design, dict[str, GridPart]]:
    """Return a design of which a part is asked, and the part of each cell by its folder.

    Each question under each wording has a number from 0 to 1 that derives from the seed, the row and the wording alone;
    it is asked where that is below the share, or among the lowest. So a larger budget keeps what was asked, a share
    does where wordings or questions are added, too, and two models are asked the same.

    Args:
        design: All wordings.
        budget: How many questions are put in all (``5000``), or which share of the grid (``5%``).
        digests: Those of the exam's rows.
        seed: Of the draw; by default that of drawn questions.

    Raises:
        UsageError: It is not a budget, there are too few wordings, or some wording would be asked nothing.
    """
    seed, rows = ORDER_SEED if seed is None else seed, list(dict.fromkeys(digests))
    whole = len(rows) * len(design.cells)
    share, number = _read(budget)
    if share == 1 or (number is not None and number >= whole):
        return design, {}
    if design.readings:
        why = "several readings of one answer are not several answers, and a model would count them as such"
        raise UsageError("--budget and --extraction cannot go together", why=why, hint="leave one of them out")
    if len(design.cells) < _FEWEST:
        why = f"what is not asked is estimated from how wordings differ, and {len(design.cells)} do not say that"
        raise UsageError("--budget is for many wordings", why=why, hint=f"leave it out, or vary {_FEWEST} or more")
    numbers = {cell.folder: {row: _number(seed, cell, row) for row in rows} for cell in design.cells}
    lowest = sorted(each for found in numbers.values() for each in found.values())
    limit = share if share is not None else lowest[number or 0]
    chosen = {folder: [row for row in rows if found[row] < limit] for folder, found in numbers.items()}
    if lacking := [cell.name for cell in design.cells if not chosen[cell.folder]]:
        needed = math.ceil(100 * max(min(found.values()) for found in numbers.values()))
        why = f"of {sum(map(len, chosen.values())):,} questions in all it gets none"
        raise UsageError(f"'{lacking[0]}' would be asked nothing", why=why, hint=f"--budget {needed}%")
    cells, parts = [], dict[str, GridPart]()
    for cell in design.cells:
        digest = blake2b("".join(sorted(chosen[cell.folder])).encode(), digest_size=3).hexdigest()
        cells.append(replace(cell, folder=f"{cell.folder}-{digest}"))
        parts[cells[-1].folder] = GridPart(frozenset(chosen[cell.folder]), seed)
    part = {
        "budget": budget,
        "asked": sum(map(len, chosen.values())),
        "of": whole,
        "questions": len(rows),
        "seed": seed,
    }
    return replace(design, cells=tuple(cells), part=part), parts


def _number(seed: int, cell: Cell, row: str) -> float:
    digest = blake2b(f"{seed}\n{cell.folder}\n{row}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def _read(budget: str) -> tuple[float | None, int | None]:
    """Return the share that a budget is, or its number."""
    found = _BUDGET.fullmatch(budget.strip())
    number = float(found[1]) if found else 0.0
    if not found or number <= 0 or (number > 100 if found[2] else not number.is_integer()):  # noqa: PLR2004 - percent
        raise UsageError(f"--budget is '{budget}'", hint="5% of all questions under all wordings, or 5000 of them")
    return (number / 100, None) if found[2] else (None, int(number))
