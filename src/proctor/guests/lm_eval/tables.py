"""Results of lm-eval's form as a table in Markdown, as lm-eval prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ARROWS: Mapping[Any, str] = {True: "↑", False: "↓"}
_NOT_METRICS = frozenset({"alias", "name", "sample_len", "sample_count"})


def table_of_results(results: Mapping[str, Any], column: str, *, sort_results: bool = False) -> str:
    """Return the scores of tasks or groups, members below their groups.

    Args:
        results: What ``simple_evaluate`` returns.
        column: ``results`` or ``groups``.
        sort_results: Sort by name instead.
    """
    there = results[column]
    depths, ordered = _order(results.get("group_subtasks") or {}, there)
    names = sorted(there) if sort_results else ordered
    rows = [row for name in names for row in _rows(results, there[name], name, depths.get(name, 0))]
    first = "Groups" if column == "groups" else "Tasks"
    return _laid_out([first, "Version", "Filter", "n-shot", "Metric", "", "Value", "", "Stderr"], rows)


def _order(members: Mapping[str, Sequence[str]], there: Mapping[str, Any]) -> tuple[dict[str, int], list[str]]:
    """Return how deep each name lies, and the names from the groups down."""
    depths: dict[str, int] = {}
    ordered: list[str] = []

    def visit(name: str, depth: int) -> None:
        depths[name] = depth
        if name in there:
            ordered.append(name)
        for each in sorted(members.get(name) or ()):
            visit(each, depth + 1)

    below = {name for each in members.values() for name in each}
    for name in sorted(members):
        if name not in below:
            visit(name, 0)
    return depths, [*ordered, *(name for name in sorted(there) if name not in depths)]


def _rows(results: Mapping[str, Any], row: Mapping[str, Any], name: str, depth: int) -> Iterator[list[str]]:
    directions = (results.get("higher_is_better") or {}).get(name) or {}
    shown = [
        f"{' ' * depth}- {row.get('alias', name)}" if depth else str(row.get("alias", name)),
        str((results.get("versions") or {}).get(name, "    N/A")),
    ]
    demos = str((results.get("n-shot") or {}).get(name, " "))
    for cell in sorted(set(row) - _NOT_METRICS):
        metric, _, pipeline = cell.partition(",")
        if metric.endswith("_stderr"):
            continue
        error = row.get(f"{metric}_stderr,{pipeline}")
        yield [
            *shown,
            pipeline,
            demos,
            metric,
            _ARROWS.get(directions.get(metric), ""),
            _number(row[cell]),
            "" if error is None else "±",
            "" if error is None else "   N/A" if error == "N/A" else _number(error),
        ]
        shown = ["", ""]


def _number(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _as_written(column: Sequence[str]) -> list[str]:
    """Return a column as lm-eval writes it: numbers with as many decimals as one of them needs."""
    cells = ["NaN" if each == "nan" else each for each in column]
    needed = [each.rstrip("0").rstrip(".") if "." in each and _is_number(each) else each for each in cells]
    most = max((len(each.partition(".")[2]) for each in needed if _is_number(each)), default=0)
    whole = not all(map(_is_number, filter(str.strip, cells)))  # beside texts, whole numbers stay whole
    short = [(whole and "." not in each) or not _is_number(each) for each in needed]
    return [each if is_short else f"{float(each):.{most}f}" for each, is_short in zip(needed, short, strict=True)]


def _laid_out(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rows = list(zip(*map(_as_written, zip(*rows, strict=True)), strict=True))
    widths = [max(len(header), 3, *(len(row[place]) for row in rows)) for place, header in enumerate(headers)]
    filled = [any(row[place].strip() for row in rows) for place in range(len(headers))]
    numeric = [
        filled[place] and all(row[place] == "NaN" or _is_number(row[place]) for row in rows if row[place].strip())
        for place in range(len(headers))
    ]
    marks = [
        f"{'-' * (width - 1)}:" if is_number and header else "-" * width
        for header, width, is_number in zip(headers, widths, numeric, strict=True)
    ]
    titles = "|".join(_centered(header, width) for header, width in zip(headers, widths, strict=True))
    return "\n".join([f"|{titles}|", f"|{'|'.join(marks)}|", *(_line(row, widths) for row in rows)]) + "\n"


def _centered(header: str, width: int) -> str:
    left = (width - len(header)) // 2
    return " " * left + header.ljust(width - left)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    laid = [
        cell.rjust(width) if cell == "NaN" or _is_number(cell) else cell.ljust(width)
        for cell, width in zip(cells, widths, strict=True)
    ]
    return f"|{'|'.join(laid)}|"


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).removeprefix("-").isdigit()
