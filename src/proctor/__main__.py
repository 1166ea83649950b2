"""``python -m proctor`` and the program ``proctor``: the command line."""

from __future__ import annotations

import gc
import sys

_INTERRUPTED = 130
"""As :data:`proctor.cli.error_reporting.INTERRUPTED`, which may not be there yet."""


def main() -> int:
    """Run the command line and return its exit code; Ctrl-C while it is imported does not print a traceback either."""
    try:
        from proctor.cli.__main__ import main as run

        return run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)  # noqa: T201 - what else says so is not imported yet
        return _INTERRUPTED
    finally:
        gc.freeze()  # the process ends: nobody need search all classes for cycles once more


if __name__ == "__main__":
    sys.exit(main())
