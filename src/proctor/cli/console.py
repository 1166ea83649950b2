"""Terminals: what they can show."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NoReturn, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from proctor.cli.error_reporting import wants_colour
from proctor.terminal_text import printable

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
    return console_on(sys.stderr if stderr else sys.stdout)


def console_on(stream: TextIO) -> Console:
    """Return a console for a stream, with colours where it shows them."""
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
