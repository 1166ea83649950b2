"""Arguments of ``proctor run`` without an option: exams, a run's file, a config of OpenCompass or AISBench."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from proctor.errors import UsageError
from proctor.running.run_files import can_be_repeated

_FILES = frozenset({".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv", ".parquet", ".xlsx", ".py"})
"""How files of exams and runs end; no exam has a name that ends so."""


def exams_or_run(named: Sequence[str]) -> tuple[Path | None, tuple[str, ...]]:
    """Return the file or folder that repeats a run or is a config, or ``None``; and what names exams.

    Raises:
        UsageError: A file is not there, or a run or config stands beside something else.
    """
    for name in named:
        if Path(name).suffix.lower() in _FILES and not glob.has_magic(name) and not Path(name).exists():
            from proctor.dialects.missing_files import missing_file

            raise missing_file(Path(name))
    runs = [name for name in named if _is_run_or_config(Path(name))]
    if not runs:
        return None, tuple(named)
    if len(named) > 1:
        raise UsageError(
            f"{runs[0]} has a model and exams of its own, and {len(named) - 1} more stand beside it",
            why="what repeats a run, and a config of OpenCompass or AISBench, is run by itself",
            hint="name it alone; --tasks and --model give a config's datasets to another model",
        )
    return Path(runs[0]), ()


def _is_run_or_config(path: Path) -> bool:
    return path.suffix == ".py" or can_be_repeated(path)
