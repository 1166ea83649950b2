"""A sweep on a terminal and in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.cli.error_reporting import say, show

if TYPE_CHECKING:
    from rich.table import Table

    from proctor.runs.sweep_tables import Section


def tell(record: Mapping[str, Any], folder: Path, most: int, *, as_json: bool) -> None:
    """Print what a sweep came to, and say where it lies.

    Args:
        record: What the file of the sweep holds.
        folder: Where it lies.
        most: Questions that are listed of those that flip.
        as_json: Whether JSON is printed.
    """
    from proctor.cli.console import console
    from proctor.cli.json_output import print_json
    from proctor.runs.sweep_tables import sections

    if as_json:
        print_json(record, indent=2)
    else:
        target = console()
        for number, part in enumerate(sections(record, most)):
            if number:
                show(f"\n{part.title}")
            for line in part.said:
                target.print(line, markup=False, highlight=False, soft_wrap=True)
            if part.rows:
                target.print(_table(part))
    say(f"sweep folder: {folder}")


def _table(part: Section) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from proctor.terminal_text import printable

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, value in zip(part.header, part.rows[0], strict=True):
        is_number = value[:1].isdigit() or value[:1] == "-"
        table.add_column(name, overflow="fold", justify="right" if is_number else "left")
    for row in part.rows:
        table.add_row(*(Text(printable(each)) for each in row))
    return table
