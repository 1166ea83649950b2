"""A sweep on a terminal and in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proctor.cli.error_reporting import say, show
from proctor.cli.report_labels import markdown_tables
from proctor.running.sweeps import Design
from proctor.runs.sweep_tables import sentences, tables


def concluded(folder: Path, design: Design, flips: int, *, as_json: bool) -> None:
    """Read the cells of a sweep, file what they come to in its folder, print it, and say where it lies.

    Args:
        folder: The sweep's.
        design: What was asked.
        flips: Questions that are listed of those that flip.
        as_json: Whether JSON is printed.
    """
    from proctor.cli.json_output import print_json
    from proctor.dialects.run_file import exam_of_run
    from proctor.runs.sweep import result_of
    from proctor.runs.sweep_scores import sweep_scores

    record = design.write(folder, result_of(sweep_scores(folder, design, exam_of_run), design))
    if as_json:
        print_json(record, indent=2)
    else:
        show(sweep_text(record, flips))
    say(f"sweep folder: {folder}")


def sweep_text(record: Mapping[str, Any], flips: int) -> str:
    """Return what a sweep came to as Markdown, in columns."""
    return "\n".join([*sentences(record), *markdown_tables(tables(record, flips))])
