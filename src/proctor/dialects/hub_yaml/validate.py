"""Every problem of ``eval.yaml`` files."""

from __future__ import annotations

from pathlib import Path

from proctor.dialects.hub_yaml.reader import is_eval_file, read_tasks
from proctor.dialects.hub_yaml.resolve import exam_of
from proctor.errors import Diagnostic, Location, ProctorError


def eval_files(path: Path) -> list[Path]:
    """Return the files of this dialect that a path means: itself, or those in the folder."""
    if path.is_dir():
        return [each for each in sorted(path.rglob("*.y*ml")) if is_eval_file(each)]
    return [path] if is_eval_file(path) else []


def validate(path: Path) -> list[Diagnostic]:
    """Return the problems of a file, or of all files in a folder; nothing is run and no data is loaded."""
    return [problem for file in eval_files(path) for problem in _problems(file)]


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
