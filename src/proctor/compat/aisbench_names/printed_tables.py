"""Tables on the terminal, as AISBench's programs print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table_text(rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as a table, the first as its header: by ``tabulate`` where it is installed, else in plain columns."""
    try:
        import tabulate  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return _plain(rows)
    shape = {"headers": "firstrow", "tablefmt": "fancy_grid", "floatfmt": ".2f", "numalign": "center"}
    return str(tabulate.tabulate(rows, stralign="left", missingval="N/A", **shape))


def _plain(rows: Sequence[Sequence[Any]]) -> str:
    shown = [[f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in shown)
