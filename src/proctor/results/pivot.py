"""Scores of runs as papers show them: tasks down, models across; as Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.summary import UNITS, ScoreRow, score_rows, shown
from proctor.scoring.scores import Unit

_MARK: Final = "*"
"""Behind a score that was measured on other instances than the first one of its line, or by another metric."""


@dataclass(frozen=True, slots=True)
class PivotRun:
    """A run as a column.

    Attributes:
        name: Of its folder.
        model: What people call the model.
        results: What ``results.json`` has under ``results``.
    """

    name: str
    model: str
    results: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PivotCell:
    """A main score.

    Attributes:
        value, low, high: The score and its interval, in the unit of its line.
        is_unlike: Whether it was measured on other instances, or otherwise, than the first score of the line.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    is_unlike: bool = False


@dataclass(frozen=True, slots=True)
class PivotLine:
    """A task with its score under every model; ``None`` where a run has none.

    Attributes:
        task, metric, unit: What is scored, and how.
        cells: One for each run.
    """

    task: str
    metric: str
    unit: Unit
    cells: tuple[PivotCell | None, ...]


@dataclass(frozen=True, slots=True)
class Pivot:
    """Tasks down, models across.

    Attributes:
        columns: Models; with the run's name where a model has several runs.
        lines: The tasks, in the order in which the runs have them.
    """

    columns: tuple[str, ...]
    lines: tuple[PivotLine, ...]

    @property
    def has_unlike(self) -> bool:
        """Whether some score is marked."""
        return any(cell is not None and cell.is_unlike for line in self.lines for cell in line.cells)


NOTE: Final = f"{_MARK} measured on other instances, or by another metric, than the first score of the line"


def pivot_of(runs: Sequence[PivotRun]) -> Pivot:
    """Return the main scores of runs; scores of one task under other names stand on lines of their own.

    Shares and percentages of one line become shares.
    """
    models = [run.model for run in runs]
    columns = [run.model if models.count(run.model) == 1 else f"{run.model} ({run.name})" for run in runs]
    found = [{(row.task, row.metric): row for row in score_rows(run.results)} for run in runs]
    keys = dict.fromkeys(key for rows in found for key in rows)
    return Pivot(tuple(columns), tuple(_line(key, found, runs) for key in keys))


def _line(
    key: tuple[str, str], found: Sequence[Mapping[tuple[str, str], ScoreRow]], runs: Sequence[PivotRun]
) -> PivotLine:
    rows = [each.get(key) for each in found]
    units = list(dict.fromkeys(row.unit for row in rows if row is not None))
    unit: Unit = units[0] if len(units) == 1 else "share" if "raw" not in units else "raw"
    prints = [Fingerprint.from_dict(run.results.get(key[0], {}).get(FINGERPRINT)) for run in runs]
    first = next(
        (known for row, known in zip(rows, prints, strict=True) if row is not None and known is not None), None
    )
    cells = [
        None if row is None else _cell(row, unit, is_unlike=_is_unlike(first, known))
        for row, known in zip(rows, prints, strict=True)
    ]
    return PivotLine(*key, unit, tuple(cells))


def _is_unlike(first: Fingerprint | None, other: Fingerprint | None) -> bool:
    return first is not None and other is not None and bool({"rows", "metrics"} & set(other.differences(first)))


def _cell(row: ScoreRow, unit: Unit, *, is_unlike: bool) -> PivotCell:
    factor = 0.01 if (row.unit, unit) == ("percent", "share") else 1.0
    value, low, high = (None if each is None else each * factor for each in (row.value, row.low, row.high))
    return PivotCell(value, low, high, is_unlike)


# -- as text --------------------------------------------------------------------------------------------------


def pivot_markdown(pivot: Pivot) -> str:
    """Return the pivot as a Markdown table, intervals in brackets."""
    headers = ["task", "metric", *pivot.columns]
    lines = [_joined(headers), "|---|---|" + "---:|" * len(pivot.columns)]
    lines += [_joined([line.task, _metric(line), *map(_text, line.cells)]) for line in pivot.lines]
    return "\n".join([*lines, *(["", NOTE.replace("*", "\\*")] if pivot.has_unlike else [])]) + "\n"


def _joined(cells: Iterable[str]) -> str:
    escaped = (" ".join(cell.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _metric(line: PivotLine) -> str:
    unit = UNITS.get(line.unit, "")
    return f"{line.metric} ({unit})" if unit else line.metric


def _text(cell: PivotCell | None) -> str:
    if cell is None:
        return "-"
    bounds = f" [{shown(cell.low)}, {shown(cell.high)}]" if cell.low is not None and cell.high is not None else ""
    return f"{shown(cell.value)}{bounds}{_MARK if cell.is_unlike else ''}"


def pivot_csv(pivot: Pivot) -> str:
    """Return the pivot as CSV: a column of numbers for each model, and one that says which scores are marked."""
    target = StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(["task", "metric", "unit", *map(_safe, pivot.columns), "measured otherwise"])
    for line in pivot.lines:
        values = ["" if cell is None or cell.value is None else cell.value for cell in line.cells]
        unlike = [name for name, cell in zip(pivot.columns, line.cells, strict=True) if cell and cell.is_unlike]
        writer.writerow([_safe(line.task), _safe(line.metric), line.unit, *values, _safe("; ".join(unlike))])
    return target.getvalue()


def _safe(text: str) -> str:
    """Keep spreadsheets from taking a text for a formula."""
    return f"'{text}" if text[:1] in tuple("=+-@") else text


def pivot_latex(pivot: Pivot) -> str:
    r"""Return the pivot as a LaTeX table for ``\usepackage{booktabs}``, intervals in small print."""
    headers = ["Task", "Metric", *pivot.columns]
    rows = [[line.task, _metric(line), *line.cells] for line in pivot.lines]
    body = [[_latex_cell(cell) if not isinstance(cell, str) else latex(cell) for cell in row] for row in rows]
    notes = [latex(NOTE)] if pivot.has_unlike else []
    return _tabular([latex(each) for each in headers], body, "ll" + "r" * len(pivot.columns), notes)


def scores_latex(runs: Iterable[tuple[str, str, Iterable[ScoreRow]]]) -> str:
    """Return the scores of runs as a LaTeX table, one line for each."""
    headers = ["Run", "Model", "Task", "Metric", "Value", "n"]
    body = [
        [latex(run), latex(model), latex(row.task), latex(_metric_of(row)), _latex_score(row), str(row.scored)]
        for run, model, rows in runs
        for row in rows
    ]
    return _tabular(headers, body, "llllrr", [])


def _metric_of(row: ScoreRow) -> str:
    unit = UNITS.get(row.unit, "")
    return f"{row.metric} ({unit})" if unit else row.metric


def _latex_score(row: ScoreRow) -> str:
    return _latex_cell(PivotCell(row.value, row.low, row.high))


def _latex_cell(cell: PivotCell | None) -> str:
    if cell is None or cell.value is None:
        return "--"
    bounds = ""
    if cell.low is not None and cell.high is not None:
        bounds = rf" {{\scriptsize [{_number(cell.low)}, {_number(cell.high)}]}}"
    return f"{_number(cell.value)}{'$^{*}$' if cell.is_unlike else ''}{bounds}"


def _number(value: float | None) -> str:
    return f"${shown(value)}$" if value is not None and value < 0 else shown(value)


def _tabular(headers: Sequence[str], body: Sequence[Sequence[str]], layout: str, notes: Sequence[str]) -> str:
    lines = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", rf"{' & '.join(headers)} \\", r"\midrule"]
    lines += [rf"{' & '.join(row)} \\" for row in body]
    lines += [r"\bottomrule", r"\end{tabular}", *(rf"\par\smallskip{{\footnotesize {note}}}" for note in notes)]
    return "% needs \\usepackage{booktabs}\n" + "\n".join(lines) + "\n"


_SPECIAL: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def latex(text: str) -> str:
    """Return a text as LaTeX shows it: no command in a name of a model is one."""
    printable = "".join(mark if mark.isprintable() else " " for mark in " ".join(text.split()))
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found.group()], printable)
