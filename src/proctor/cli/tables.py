"""Scores as a table on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from proctor.results.summary import ScoreRow, interval, shown, unit_of
from proctor.terminal_text import printable

MOST_GROUPS = 30
"""Groups of an exam that a terminal shows, about a screen; ``results.json`` and the viewer have all."""

_WIDE = 100
"""Columns of a terminal from which on an interval stands on one line; below, names need the room."""


def score_table(
    rows: Sequence[ScoreRow],
    groups: Mapping[str, Sequence[tuple[str, ScoreRow]]] | None = None,
    *,
    width: int = _WIDE,
) -> Table:
    """Return a table with task, metric, value, unit, 95% interval, and instances asked, scored and failed.

    Args:
        rows: The scores of the exams.
        groups: The main scores of groups of their instances, by exam and label; they stand below their exam.
        width: Columns of the terminal.
    """
    is_narrow = width < _WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("task", overflow="fold")
    table.add_column("metric", overflow="fold")
    for name in ("value", "unit", "95% interval", "asked", "scored", "failed"):
        justify: Literal["left", "right"] = "left" if name == "unit" else "right"
        table.add_column(name.replace(" ", "\n") if is_narrow else name, justify=justify, no_wrap=True)
    for row in rows:
        _add(table, row.task if row.is_main else "", row, style="bold" if row.is_main else "", is_narrow=is_narrow)
        if row.is_main and groups:
            found = groups.get(row.task, ())
            for label, group in found[:MOST_GROUPS]:
                _add(table, f"  {label}", group, is_narrow=is_narrow)
            if len(found) > MOST_GROUPS:
                table.add_row(Text(f"  and {len(found) - MOST_GROUPS} more groups", style="dim"))
    return table


def _add(table: Table, task: str, row: ScoreRow, style: str = "", *, is_narrow: bool) -> None:
    table.add_row(
        Text(printable(task)),
        Text(printable(row.metric)),
        Text(shown(row.value), style=style),
        Text(unit_of(row)),
        Text(interval(row).replace(" to ", " to\n") if is_narrow else interval(row)),
        Text(str(row.asked)),
        Text(str(row.scored)),
        Text(str(row.failed), style="bold red" if row.failed else ""),
    )
