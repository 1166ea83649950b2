"""``proctor show --steps``: how rows become prompts, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.cli.console import console
from proctor.errors import ProctorError
from proctor.recipes.exam import Exam
from proctor.terminal_text import printable

LONGEST_VALUE = 200
"""Characters of a value that are shown."""


def print_steps(exams: Iterable[Exam]) -> None:
    """Print, for each step of each exam, the number of instances of every split and one row.

    Raises:
        ProctorError: A step fails; the steps before it have been printed.
    """
    target = console()
    for exam in exams:
        target.print(exam.name, style="bold", soft_wrap=True)
        for number, (title, streams) in enumerate(exam.stages(), 1):
            target.print(f"\n{number}. {title}", style="bold", soft_wrap=True)
            shown = False
            for name, stream in streams.items():
                try:
                    rows = list(stream)
                except ProctorError as error:
                    raise error.within(f"step {number}, {name}:") from None
                target.print(f"   {name}: {len(rows)} instances", soft_wrap=True)
                if rows and not shown:
                    print_row(rows[0])
                    shown = True


def print_row(row: Mapping[str, Any]) -> None:
    """Print the fields of a row, one a line."""
    target = console()
    for name, value in row.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        text = text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
        target.print(printable(f"      {name}  {text}"), soft_wrap=True)
