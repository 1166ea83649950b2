"""Error messages for people, and exit codes for scripts.

====  =====================================================================================
code  meaning
====  =====================================================================================
0     done
1     done, but something failed: the table counts it (``--allow-failures`` makes this a 0)
2     the command line, a task, a template or the data cannot mean anything; nothing was asked
3     the model, the response log, the disk or a missing package stood in the way; what was
      answered is kept
4     undecided, of what asks for a verdict: ``proctor gate``, ``compare --fail-if-worse``,
      ``run --fail-under``, ``same --fail-if-different``
70    an error in Proctor itself
130   interrupted (Ctrl-C); what was answered is kept
141   whoever read the output stopped reading
====  =====================================================================================
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TextIO

import click

from proctor.cli.installing import for_this_environment
from proctor.errors import (
    Diagnostic,
    EngineError,
    ForgedError,
    LogError,
    MissingExtraError,
    OutputError,
    ProctorError,
    RunInterruptedError,
)
from proctor.secrets import redacted
from proctor.terminal_text import printable
from proctor.translation import label, translated

# 1 and 2 as grep and click have them: it ran but not all is well, and what was asked for is wrong. 3 is the world
# around it (model, disk, network); 70 is EX_SOFTWARE of sysexits.h; from 128 on a shell's number of the signal.
DONE = 0
FAILURES = 1
BAD_INPUT = 2
TROUBLE = 3
UNDECIDED = 4
INTERNAL = 70
INTERRUPTED = 130
BROKEN_PIPE = 141


_TROUBLES = (EngineError, ForgedError, LogError, MissingExtraError, OutputError)


def exit_code_of(error: ProctorError) -> int:
    """Return the exit code for an error."""
    if isinstance(error, RunInterruptedError):
        return INTERRUPTED
    return TROUBLE if isinstance(error, _TROUBLES) else BAD_INPUT


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream shows colours: ``NO_COLOR`` forbids, ``FORCE_COLOR`` asks, otherwise a terminal decides."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def report(error: ProctorError) -> None:
    """Write every problem of an error on standard error."""
    for diagnostic in error.diagnostics:
        _write(_paint(diagnostic))


def report_unexpected(error: BaseException, show_traceback: bool) -> None:
    """Write what is known about an error that nobody foresaw, and how to report it."""
    if show_traceback:
        import traceback

        _write(printable(redacted("".join(traceback.format_exception(error)))))
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    hint = "please report it with the traceback above" if show_traceback else "run the command again with --traceback"
    _write(_paint(Diagnostic(f"unexpected error: {what}", why="this is a fault of Proctor, not yours", hint=hint)))


_quiet: ContextVar[bool] = ContextVar("proctor_quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Leave out what is only nice to know, while the block runs: progress, notes, where files are."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def is_quiet() -> bool:
    """Whether only results, warnings and errors are wanted."""
    return _quiet.get()


def say(text: str) -> None:
    """Write what is nice to know on standard error; ``--quiet`` leaves it out."""
    if not is_quiet():
        _write(printable(redacted(translated(text))))


def warn(text: str) -> None:
    """Write what has to be known on standard error, ``--quiet`` or not."""
    _write(printable(redacted(translated(text))))


def show(text: str) -> None:
    """Write what was asked for on standard output, for people."""
    click.echo(printable(text))


def _write(painted: str) -> None:
    click.echo(painted, err=True, color=wants_colour(sys.stderr))


def abandon_output() -> None:
    """Send what is left of standard output nowhere: its reader has gone, and the flush at exit must not fail."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, suppress(OSError, ValueError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _paint(problem: Diagnostic) -> str:
    place = " ".join(part for part in (str(problem.location or ""), problem.path and f"@ {problem.path}") if part)
    what = click.style(label("error"), fg="red", bold=True) + click.style(
        _readable(translated(problem.what)), bold=True
    )
    lines = [what + (click.style(f" ({_readable(place)})", fg="cyan") if place else "")]
    if problem.location and (excerpt := problem.location.excerpt()):
        lines.append(_readable(excerpt))
    if problem.why:
        lines.append(f"  {label('why')}{_readable(translated(problem.why))}")
    if problem.hint:
        lines.append(
            click.style(f"  {label('hint')}", fg="green") + _readable(for_this_environment(translated(problem.hint)))
        )
    return "\n".join(lines)


_LONGEST = 4_000
"""Characters of one part of a message: a screen full. A stranger's pattern or name may have millions."""


def _readable(text: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} characters more)"
    return printable(shown)
