"""What a golden is taken of: exams, what a run changes about them, and who answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LOST = ("t05", "p03")
"""Marks of the questions whose answers fail where a case says so: in the middle, and one that is asked twice."""


@dataclass(frozen=True, slots=True)
class Case:
    """Exams that are asked together, in one run.

    Attributes:
        name: Unique among the cases of a dialect.
        exams: What a user would type after ``--tasks``; files stand in the folder of the case's dialect.
        options: Fields of :class:`~proctor.recipes.options.ExamOptions`.
        engine: Fields of :class:`~conformance.own.adapter.MadeUpEngine`.
        trusts_code: Whether code of the exams may run.
        judge: What the judge of the exams may say; none is named where it is empty.
        folder: The folder of the exams, below that of the case's dialect.
        to: The form that the exams are converted to, instead of being asked.
    """

    name: str
    exams: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    engine: Mapping[str, Any] = field(default_factory=dict)
    trusts_code: bool = False
    judge: tuple[str, ...] = ()
    folder: str = ""
    to: str = ""
