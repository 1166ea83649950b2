"""JSON on standard output, for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TextIO

from proctor.terminal_text import printable_json

_PROGRAM: ContextVar[TextIO | None] = ContextVar("program", default=None)
"""Where a program reads JSON."""


@contextmanager
def json_alone() -> Iterator[None]:
    """Let what code of users prints go to standard error: a program reads standard output."""
    token = _PROGRAM.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _PROGRAM.reset(token)


def print_json(value: object, indent: int | None = None) -> None:
    """Write a value as JSON on standard output; one line unless ``indent`` is given."""
    out = _PROGRAM.get() or sys.stdout
    unicode = (out.encoding or "ascii").lower().replace("-", "").startswith("utf")
    out.write(printable_json(json.dumps(value, ensure_ascii=not unicode, indent=indent, default=str)) + "\n")
