"""``proctor report --labels``: scores as what people say of the answers corrects them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from proctor.cli.error_reporting import DONE, FAILURES, show
from proctor.jsonable import jsonable
from proctor.results.export import markdown_cell
from proctor.runs.corrected_scores import Corrections, correction_notes, correction_tables
from proctor.runs.item_tables import ItemTable


def print_corrections(found: Corrections, *, as_json: bool) -> int:
    """Print plain and corrected scores; return the exit code: 1 where labels of an exam did not do."""
    if as_json:
        from proctor.cli.json_output import print_json

        print_json(jsonable(asdict(found)), indent=2)
    else:
        show(corrections_text(found).strip())
    return FAILURES if any(each.labels and not each.corrected for each in found.scores) else DONE


def corrections_text(found: Corrections | None) -> str:
    """Return plain and corrected scores as a section of a Markdown report, in columns; empty where there are none."""
    if found is None:
        return ""
    notes = (f"- {markdown_cell(note)}" for note in correction_notes(found))
    return "\n".join([*markdown_tables(correction_tables(found)), "", *notes, ""])


def markdown_tables(tables: Iterable[ItemTable]) -> list[str]:
    """Return the lines of tables as Markdown, in columns."""
    lines: list[str] = []
    for table in tables:
        rows = [[markdown_cell(cell) for cell in row] for row in (table.header, *table.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        head, *told = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
        lines += ["", f"## {table.title}", "", head, "|" + "|".join("-" * (width + 2) for width in widths) + "|", *told]
        lines += ["", f"{table.left_out} more."] if table.left_out else []
    return lines
