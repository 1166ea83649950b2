"""``python -m proctor.compat program.py arguments…``: run a program of another system, unchanged."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from proctor.compat import install
from proctor.errors import ProctorError
from proctor.guests.table import TABLES
from proctor.terminal_text import printable

USAGE = """usage: python -m proctor.compat PROGRAM.py [ARGUMENTS…]
       python -m proctor.compat -m MODULE [ARGUMENTS…]

runs a program written for lm-eval, Unitxt, OpenCompass or AISBench, unchanged; as a module
unitxt.evaluate_cli, for one, or pytest with tests of such a program"""


def main(arguments: list[str] | None = None) -> int:
    """Run a program; return the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0] in {"-h", "--help"}:
        print(USAGE)  # noqa: T201 - the help
        return 0 if given else 2
    if given[0] == "-m" and len(given) > 1:
        return _run(given[1:], _run_module)
    program = Path(given[0])
    if not program.is_file():
        print(f"error: there is no program {program}", file=sys.stderr)  # noqa: T201 - no console is needed for this
        return 2
    sys.path.insert(0, str(program.resolve().parent))
    return _run(given, lambda name: runpy.run_path(name, run_name="__main__"))


def _run_module(name: str) -> None:
    sys.path.insert(0, "")
    if name.partition(".")[0] in TABLES:  # one of ours under another name, which has no source to run
        import_module(name).main()
    else:
        runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run(arguments: list[str], run: Callable[[str], Any]) -> int:
    sys.argv = arguments
    try:
        install()
        run(arguments[0])
    except ProctorError as error:
        print(printable(f"error: {error}"), file=sys.stderr)  # noqa: T201 - no console is needed for this
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
