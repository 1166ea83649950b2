"""Tables of scores with a row for each dataset and metric: OpenCompass' and AISBench's text, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.results.tables import simple_table

_WIDE = 128  # columns of the lines between blocks: upstream's text file to the letter


@dataclass(slots=True)
class SummaryTable:
    """A table of scores: a row for each dataset and metric, a column for each model.

    Attributes:
        rows: Cells as text, the header first.
        raw: Results of each model, by dataset: numbers, or an ``error``.
        notes: What the reader should know about the table.
    """

    rows: list[list[str]]
    raw: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def renamed(self, names: Mapping[str, str]) -> SummaryTable:
        """Return the table with datasets called otherwise.

        Args:
            names: What datasets are called, by the name they have.
        """
        header, *rest = self.rows
        rows = [header, *([names.get(row[0], row[0]), *row[1:]] for row in rest)]
        raw = {
            model: {names.get(name, name): each for name, each in found.items()} for model, found in self.raw.items()
        }
        return SummaryTable(rows, raw, self.notes)

    def to_text(self, time: str | None = None, raw: str | None = None, *, with_markdown: bool = True) -> str:
        """Return the table for people; with a time, the whole text file that upstream writes.

        Args:
            time: What the file's first line says.
            raw: The file's last part; :meth:`raw_text` where it is not said.
            with_markdown: Whether the file has the table as Markdown, too.
        """
        table = simple_table(self.rows)
        if time is None:
            return table
        lines = "\n".join(",".join(row) for row in self.rows)
        divider = f"{'-' * _WIDE} THIS IS A DIVIDER {'-' * _WIDE}\n\n"
        blocks: tuple[tuple[str, str, str], ...] = (
            ("tabulate format", f"{table}\n", "\n" + divider),
            ("csv format", f"{lines}\n", "\n"),
            ("markdown format", f"{self.to_markdown()}\n", divider),
            ("raw format", f"{self.raw_text() if raw is None else raw}\n", ""),
        )
        if not with_markdown:
            blocks = (blocks[0], (*blocks[1][:2], "\n" + divider), blocks[3])
        made = [f"{name}\n{'^' * _WIDE}\n{text}{'$' * _WIDE}\n{after}" for name, text, after in blocks]
        return f"{time}\n" + "".join(made)

    def to_csv(self) -> str:
        """Return the table as CSV; commas in cells become spaces, as upstream."""
        return "".join(",".join(cell.replace(",", " ") for cell in row) + "\n" for row in self.rows)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        header, *rows = self.rows
        middle = "|" + " | ".join("-----" for _ in header) + "|\n"
        return f"| {' | '.join(header)} |\n{middle}" + "".join(f"| {' | '.join(row)} |\n" for row in rows)

    def raw_text(self) -> str:
        """Return results as upstream's text file shows them, model by model."""
        names = list(dict.fromkeys(name for results in self.raw.values() for name in results))
        lines = []
        for model, results in self.raw.items():
            lines += ["-------------------------------", f"Model: {model}"]
            lines += [f"{name}: {results.get(name, '{}')}" for name in names]
        return "\n".join(lines)
