"""Problems that keep a table from being an exam: of its rows only the columns are looked at."""

from __future__ import annotations

from pathlib import Path

from proctor.dialects.tables.reader import is_table
from proctor.dialects.tables.resolve import resolve_name
from proctor.errors import Diagnostic, ProctorError
from proctor.recipes.options import ExamOptions


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return a table and its problems; tables in folders may be anything, and are not looked at."""
    if not is_table(str(path)):
        return [], []
    try:
        return [path], [problem for exam in resolve_name(str(path), ExamOptions()) or () for problem in exam.problems()]
    except ProctorError as error:
        return [path], list(error.diagnostics)
