"""Every problem of configs of promptfoo."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from proctor.dialects.promptfoo import is_config
from proctor.dialects.promptfoo.providers import models_in
from proctor.dialects.promptfoo.resolve import resolve_name
from proctor.errors import Diagnostic, ProctorError
from proctor.logs import say_once
from proctor.recipes.options import ExamOptions
from proctor.scoring.assertion_metrics import NO_JUDGE


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
                problems += [each for each in error.diagnostics if each not in problems and each.what != NO_JUDGE]
                if any(each.what == NO_JUDGE for each in error.diagnostics):
                    say_once(f"{file} asks a judge: run it with --judge MODEL")
    return files, problems
