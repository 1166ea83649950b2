"""Scores as a table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from proctor.cli.error_reporting import printable
from proctor.results.summary import ScoreRow, interval, shown


def score_table(rows: Sequence[ScoreRow]) -> Table:
    """Return a table with task, metric, value, 95% interval, n and failed."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("task", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in ("value", "95% interval", "n", "failed"):
        table.add_column(name, justify="right", no_wrap=name != "95% interval")
    for row in rows:
        table.add_row(
            Text(printable(row.task) if row.is_main else ""),
            Text(printable(row.metric)),
            Text(shown(row.value), style="bold" if row.is_main else ""),
            Text(interval(row)),
            Text(str(row.n)),
            Text(str(row.failed), style="bold red" if row.failed else ""),
        )
    return table
