"""Every problem of configs of promptfoo."""

from __future__ import annotations

from pathlib import Path

from proctor.dialects.promptfoo import is_config
from proctor.dialects.promptfoo.providers import models_in
from proctor.dialects.promptfoo.resolve import resolve_name
from proctor.errors import Diagnostic, ProctorError
from proctor.recipes.options import ExamOptions


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return such files that a path is or has in it, and their problems; nobody is asked."""
    found = sorted(path.rglob("promptfooconfig*")) if path.is_dir() else [path]
    files = [each for each in found if is_config(each)]
    return files, [problem for file in files for problem in _problems(file)]


def _problems(file: Path) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for look in (lambda: resolve_name(str(file), ExamOptions()), lambda: models_in(file)):
        try:
            look()
        except ProctorError as error:
            found += error.diagnostics
    return found
