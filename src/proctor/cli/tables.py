"""Scores as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from proctor.results.summary import ScoreRow, interval, shown, unit_of
from proctor.terminal_text import printable


def score_table(rows: Sequence[ScoreRow]) -> Table:
    """Return a table with task, metric, value, unit, 95% interval, and instances asked, scored and failed."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in ("value", "unit", "95% interval", "asked", "scored", "failed"):
        justify: Literal["left", "right"] = "left" if name == "unit" else "right"
        table.add_column(name, justify=justify, no_wrap=name != "95% interval")
    for row in rows:
        table.add_row(
            Text(printable(row.task) if row.is_main else ""),
            Text(printable(row.metric)),
            Text(shown(row.value), style="bold" if row.is_main else ""),
            Text(unit_of(row)),
            Text(interval(row)),
            Text(str(row.asked)),
            Text(str(row.scored)),
            Text(str(row.failed), style="bold red" if row.failed else ""),
        )
    return table
