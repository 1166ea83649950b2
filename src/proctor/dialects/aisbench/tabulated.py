"""A table for people, laid out as the package ``tabulate`` lays it out by default."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_GAP = "  "
_BESIDE_HEADER = 2


def tabulated(rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts: header, a line of dashes, rows; columns of numbers to the right.

    Args:
        rows: Cells; the first row is the header.
    """
    header, *body = [list(row) for row in rows]
    columns = [[row[i] for row in body] for i in range(len(header))]
    made = [_column(title, cells) for title, cells in zip(header, columns, strict=True)]
    lines = [_GAP.join(cells).rstrip() for cells in zip(*made, strict=True)]
    return "\n".join(lines)


def _column(title: str, cells: Sequence[str]) -> list[str]:
    kind = _kind(cells)
    shown = _at_their_points([f"{float(cell):.2f}" for cell in cells]) if kind is float else cells
    width = max([len(title) + _BESIDE_HEADER, *map(len, shown)])
    pad: Callable[[str, int], str] = str.ljust if kind is str else str.rjust
    return [pad(title, width), "-" * width, *(pad(cell, width) for cell in shown)]


def _at_their_points(numbers: Sequence[str]) -> list[str]:
    """Return numbers with their decimal points below each other; what has none stands one digit to the left."""
    behind = [len(number.partition(".")[2]) if "." in number else -1 for number in numbers]
    return [number + " " * (max(behind) - digits) for number, digits in zip(numbers, behind, strict=True)]


def _kind(cells: Sequence[str]) -> type:
    if not cells or not all(_is(float, cell) for cell in cells):
        return str
    return int if all(_is(int, cell) for cell in cells) else float


def _is(kind: type, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True
