"""The result of a conversion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Part = Literal["requests", "scores", "elsewhere"]
"""What a loss changes: what is asked, how it is scored, or only what other programs make of the file."""


class Loss(NamedTuple):
    """Something that the other form cannot express, with the reason."""

    part: Part
    text: str

    def __str__(self) -> str:
        """Return the reason."""
        return self.text


class Losses(list[Loss]):
    """Losses, each once."""

    def add(self, part: Part, *texts: str) -> None:
        """Add reasons."""
        self.extend(each for text in texts if (each := Loss(part, text)) not in self)


@dataclass(frozen=True, slots=True)
class ConvertedExam:
    """An exam in another form.

    Attributes:
        name: Its name, fit for a file.
        text: YAML, JSON or Python.
        rows: The rows it reads from ``rows_file``, beside it.
        rows_file: The name of that file. The text names it by this name, without a folder.
        lost: What the other form does not say, each with its reason and with what it changes.
    """

    name: str
    text: str
    rows: Sequence[Mapping[str, Any]] = field(repr=False, default=())
    rows_file: str = ""
    lost: tuple[Loss, ...] = ()

    def rows_text(self) -> str:
        """Return the content of ``rows_file``: one JSON object in a line."""
        return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in self.rows)
