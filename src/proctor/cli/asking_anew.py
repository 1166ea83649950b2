"""Options that ask anew what the response log has answers to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from proctor.errors import UsageError

if TYPE_CHECKING:
    from proctor.running.anew import Anew

retry_verdicts_option = click.option(
    "--retry-verdicts", is_flag=True, help="Ask judges again whose verdicts could not be read."
)
refresh_option = click.option(
    "--refresh", is_flag=True, help="Ask everything anew, judges too; earlier answers are set aside in the log."
)
ONCE = frozenset({"refresh", "retry_verdicts"})
"""What is asked anew is not asked anew once more by the command that goes on."""


def anew_of(*, refresh: bool, retry_verdicts: bool) -> Anew | None:
    """Return what is asked anew; ``None`` where that is nothing."""
    return "everything" if refresh else "verdicts" if retry_verdicts else None


def check_anew(given: dict[str, Any]) -> None:
    """Refuse options that contradict asking anew.

    Raises:
        UsageError: One is given.
    """
    chosen = [f"--{name.replace('_', '-')}" for name in sorted(ONCE) if given.get(name)]
    if not chosen:
        return
    if len(chosen) > 1:
        raise UsageError(
            f"{chosen[0]} and {chosen[1]} are both given", why="--refresh asks all judges anew", hint="leave one out"
        )
    if given.get("precision") is not None:
        raise UsageError(
            f"{chosen[0]} cannot be used with --precision, of the command or of run.yaml",
            why="which questions are drawn depends on the answers that the log has",
            hint="run without precision, or name another log with --log",
        )
    if given.get("refresh") and not given.get("retry_failed", True):
        raise UsageError(
            "--refresh and --keep-failed contradict each other",
            why="the one asks everything anew, the other not what failed",
            hint="leave one out",
        )
