"""Results as AISBench writes them (``ais_bench.benchmark.utils.results``)."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.safe_files import own_file, write_text


def safe_write(results_dict: Mapping[Any, Any], filename: str | os.PathLike[str]) -> None:
    """Add results to a file of JSON lines; other processes that do it wait."""
    lines = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in results_dict.values())
    descriptor = own_file(filename)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.lseek(descriptor, 0, os.SEEK_END)
        data = lines.encode()
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)  # which also lets go of the lock


def dump_results_dict(results_dict: Any, filename: str | os.PathLike[str], formatted: bool = True) -> None:
    """Write results to a file of JSON, indented where they are to be read."""
    write_text(Path(filename), json.dumps(results_dict, indent=4 if formatted else None, ensure_ascii=False))
