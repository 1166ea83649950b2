"""Every problem of ``eval.yaml`` files."""

from __future__ import annotations

from pathlib import Path

from proctor.dialects.hub_yaml import is_eval_file
from proctor.dialects.hub_yaml.reader import read_tasks
from proctor.dialects.hub_yaml.resolve import exam_of
from proctor.errors import Diagnostic, Location, ProctorError


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return such files that a path is or has in it, and their problems; nothing is run and no data is loaded."""
    found = sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]
    files = [each for each in found if is_eval_file(each)]
    return files, [problem for file in files for problem in _problems(file)]


def _problems(file: Path) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    try:
        for task in read_tasks(file, str(file.parent)):
            try:
                exam_of(task.id or file.stem, task, file)
            except ProctorError as error:
                found += error.located(task.location or Location(str(file))).diagnostics
    except ProctorError as error:
        found += error.diagnostics
    return found
