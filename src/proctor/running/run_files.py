"""Recognises files and folders of runs, so that they are repeated and never read as exams or data."""

from __future__ import annotations

import json
import re
from pathlib import Path

from proctor.safe_files import opened

_SUFFIXES = frozenset({".yaml", ".yml", ".json", ""})
_KEYS = re.compile(
    r"""^["']?(?:model|schema_version)["']?\s*:
    |^["']?tasks["']?\s*:\s*(?:\[\s*["'\w]|\n\s*-\s*[^:{\s]+\s*$)
    """,
    re.MULTILINE | re.VERBOSE,
)
"""First keys that no exam has. ``tasks`` of a run are names; those of Hugging Face's ``eval.yaml`` are mappings."""

_LOOKED_AT = 65_536  # bytes of a file: its first keys


def can_be_repeated(path: Path) -> bool:
    """Whether a path is a run folder, or the file of a run."""
    return (path / "run.yaml").exists() if path.is_dir() else is_run_file(path)


def is_run_file(path: Path) -> bool:
    """Whether a file says what a run was: which model sat which exams."""
    return path.is_file() and path.suffix.lower() in _SUFFIXES and _holds_run(path)


def _holds_run(path: Path) -> bool:
    with opened(path) as file:
        start = file.read(_LOOKED_AT).decode("utf-8", "replace")
    if not start.lstrip().startswith("{"):
        return bool(_KEYS.search(start))
    try:
        return bool({"model", "schema_version"} & set(json.loads(start)))
    except (ValueError, RecursionError):
        return False  # a long recipe, or not JSON: whoever reads it says which
