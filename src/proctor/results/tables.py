"""Tables as text, laid out as the package ``tabulate`` lays them out: the systems that we follow print theirs with it.

A column whose values all read as numbers is aligned at the decimal point; any other column is text on the left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

PADDING = 2
"""Characters that tabulate leaves free beside a header."""

_GAP = "  "


def pipe_table(headers: Sequence[str], rows: Sequence[Sequence[Any]], *, index: bool = False) -> str:
    """Return a Markdown table (``tabulate``'s ``pipe``); numbers have six significant digits.

    Args:
        headers: Names of columns. Cells may have several lines.
        rows: One sequence per row, as long as ``headers``.
        index: Whether to number the rows, from 0, in a first column without a name.
    """
    if index:
        headers = ["", *headers]
        rows = [[number, *row] for number, row in enumerate(rows)]
    columns = [_Column(str(header), [row[i] for row in rows]) for i, header in enumerate(headers)]
    lines = [_line([column.header for column in columns]), "|" + "|".join(column.rule for column in columns) + "|"]
    for position in range(len(rows)):
        lines += _lines([column.cells[position] for column in columns], [column.width for column in columns])
    return "\n".join(lines)


def simple_table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table for terminals (``tabulate``'s ``simple``): header, a line of dashes, rows; two decimal places.

    Args:
        rows: Cells; the first row is the header.
    """
    header, *body = [list(row) for row in rows]
    made = [_simple_column(title, [row[i] for row in body]) for i, title in enumerate(header)]
    return "\n".join(_GAP.join(cells).rstrip() for cells in zip(*made, strict=True))


def _simple_column(title: str, cells: Sequence[str]) -> list[str]:
    kinds = {_kind_of_text(cell) for cell in cells}
    numeric = bool(kinds) and kinds <= {"int", "float"}
    shown = _at_decimal_point([f"{float(cell):.2f}" for cell in cells]) if numeric and "float" in kinds else cells
    width = max([len(title) + PADDING, *map(len, shown)])
    pad = str.rjust if numeric else str.ljust
    return [pad(title, width), "-" * width, *(pad(cell, width) for cell in shown)]


class _Column:
    """One column, formatted and padded."""

    def __init__(self, header: str, values: list[Any]) -> None:
        kinds = {_kind(value) for value in values} - {"none"}
        self.numeric = kinds <= {"int", "float"} and bool(kinds)
        texts = [
            _text(value, "float" if "float" in kinds else "int") if self.numeric else _plain(value) for value in values
        ]
        texts = _at_decimal_point(texts) if self.numeric else [text.strip() for text in texts]
        self.width = max([len(header) + PADDING, *(len(line) for text in texts for line in text.splitlines() or [""])])
        pad = str.rjust if self.numeric else str.ljust
        self.header = pad(header, self.width)
        self.cells = [[pad(line, self.width) for line in text.splitlines() or [""]] for text in texts]
        dashes = "-" * (self.width + 1)
        self.rule = f"{dashes}:" if self.numeric else f":{dashes}"


def _kind(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "bool"
    if isinstance(value, int) or (type(value).__module__ == "numpy" and "int" in type(value).__name__):
        return "int"
    if isinstance(value, float):
        return "float"
    return _kind_of_text(value) if isinstance(value, str) else "text"


def _kind_of_text(text: str) -> str:
    for kind, read in (("int", int), ("float", float)):
        try:
            number = read(text)
        except ValueError:
            continue
        if kind == "float" and not math.isfinite(number) and text.lower() not in ("inf", "-inf", "nan"):
            continue
        return kind
    return "text"


def _text(value: Any, kind: str) -> str:
    if value is None:
        return ""
    return format(float(value), "g") if kind == "float" else str(value)


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _at_decimal_point(texts: Sequence[str]) -> list[str]:
    after = [_digits_after_point(text) for text in texts]
    most = max(after)
    return [text + " " * (most - digits) for text, digits in zip(texts, after, strict=True)]


def _digits_after_point(text: str) -> int:
    if _kind_of_text(text) != "float":
        return -1
    place = text.rfind(".")
    place = text.lower().rfind("e") if place < 0 else place
    return len(text) - place - 1 if place >= 0 else -1


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _lines(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    height = max(len(cell) for cell in cells)
    return [
        _line([cell[row] if row < len(cell) else " " * width for cell, width in zip(cells, widths, strict=True)])
        for row in range(height)
    ]
