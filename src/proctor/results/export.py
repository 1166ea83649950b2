"""Scores of runs for other programs: Markdown, CSV, Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from proctor.errors import needed
from proctor.results.summary import ScoreRow, ending_notes, interval, shown, unit_of
from proctor.safe_files import written_for_user

COLUMNS = ("run", "model", "task", "metric", "value", "unit", "low", "high", "asked", "scored", "failed", "is_main")


def score_records(runs: Iterable[tuple[str, str, Iterable[ScoreRow]]]) -> list[dict[str, Any]]:
    """Return one record per score; ``runs`` has the name, the model and the rows of each run."""
    return [
        {"run": run, "model": model, **{name: getattr(row, name) for name in COLUMNS[2:]}}
        for run, model, rows in runs
        for row in rows
    ]


def to_csv(records: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> str:
    """Return records as CSV with a header; what is missing is empty."""
    target = StringIO()
    writer = csv.DictWriter(target, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(record[name]) for name in columns} for record in records)
    return target.getvalue()


def _safe(value: Any) -> Any:
    """Keep spreadsheets from taking a text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@")) else value


def to_markdown(runs: Iterable[tuple[str, str, Iterable[ScoreRow]]]) -> str:
    """Return a table for documents and issues, with a line on each exam whose answers did not end as answers do."""
    runs = [(run, model, list(rows)) for run, model, rows in runs]
    lines = [
        "| run | model | task | metric | value | unit | 95% interval | asked | scored | failed |",
        "|---|---|---|---|---:|---|---|---:|---:|---:|",
    ]
    for run, model, rows in runs:
        for row in rows:
            cells = [run, model, row.task, row.metric, shown(row.value), unit_of(row), interval(row)]
            cells += map(str, (row.asked, row.scored, row.failed))
            lines.append(markdown_row(cells))
    notes = [f"- {markdown_cell(run)}: {markdown_cell(note)}" for run, _, rows in runs for note in ending_notes(rows)]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def markdown_row(cells: Iterable[str]) -> str:
    """Return the line of a table."""
    return "| " + " | ".join(map(markdown_cell, cells)) + " |"


def markdown_cell(text: str) -> str:
    """Return a text of others on one line, without markup or the ends of a cell."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def write_parquet(records: list[dict[str, Any]], path: Path) -> None:
    """Write records as Parquet.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    with needed("pyarrow", "loaders", "writing Parquet"):
        import pyarrow as pa
        from pyarrow import parquet
    columns = {name: [record[name] for record in records] for name in COLUMNS}
    with written_for_user(path) as file:
        parquet.write_table(pa.table(columns), file)
