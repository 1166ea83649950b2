"""Terminals: what they can show."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from proctor.cli.error_reporting import wants_colour
from proctor.terminal_text import printable, printable_json

WIDTH_OF_PIPES = 1000
"""Columns of an output that is not a terminal: tables there are read by programs, which want no wrapped cells."""


class PatientConsole(Console):
    """A console that leaves it to the program what happens when its reader goes away."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Yield the parts of what is printed; texts are shown, and not obeyed."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(printable(part.text), part.style)

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error instead of ending the process."""
        raise BrokenPipeError


def console(stderr: bool = False) -> Console:
    """Return a console for a standard stream, with colours where that stream shows them."""
    stream = sys.stderr if stderr else sys.stdout
    colour = wants_colour(stream)
    return PatientConsole(
        file=stream,
        no_color=not colour,
        force_terminal=True if colour else None,
        highlight=False,
        markup=False,
        width=None if stream.isatty() else WIDTH_OF_PIPES,
        emoji=False,
    )


def print_json(value: object, indent: int | None = None) -> None:
    """Write a value as JSON on standard output; one line unless ``indent`` is given."""
    unicode = (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=not unicode, indent=indent)) + "\n")
