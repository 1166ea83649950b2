"""Every problem of configs of promptfoo."""

from __future__ import annotations

from functools import partial
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
    problems: list[Diagnostic] = []
    for file in files:
        for look in (partial(resolve_name, str(file), ExamOptions()), partial(models_in, file)):
            try:
                look()
            except ProctorError as error:
                problems += error.diagnostics
    return files, problems
