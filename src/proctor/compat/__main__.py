"""``python -m proctor.compat program.py arguments…``: run a program of another system, unchanged."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from proctor.compat import install
from proctor.errors import ProctorError
from proctor.terminal_text import printable

USAGE = """usage: python -m proctor.compat PROGRAM.py [ARGUMENTS…]

runs a program written for Unitxt, OpenCompass or AISBench, unchanged"""


def main(arguments: list[str] | None = None) -> int:
    """Run a program; return the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in {"-h", "--help"}:
        print(USAGE)  # noqa: T201 - the help
        return 0 if given else 2
    program = Path(given[0])
    if not program.is_file():
        print(f"error: there is no program {program}", file=sys.stderr)  # noqa: T201 - no console is needed for this
        return 2
    sys.argv = given
    sys.path.insert(0, str(program.resolve().parent))
    try:
        install()
        runpy.run_path(str(program), run_name="__main__")
    except ProctorError as error:
        print(printable(f"error: {error}"), file=sys.stderr)  # noqa: T201 - no console is needed for this
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
