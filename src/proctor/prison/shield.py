"""Keeps programs without a prison from reading this process: its environment, with the keys in it, and its memory."""

from __future__ import annotations

import threading
from contextlib import suppress

from proctor.prison.inside import kernel

_lock = threading.Lock()
_raised = 0


class Shield:
    """Closes ``/proc/<this process>`` to others of the same user while it is raised (Linux only)."""

    def __init__(self) -> None:
        self._is_up = False

    def rise(self) -> None:
        """Close it."""
        if not self._is_up:
            self._is_up = True
            _count(1)

    def lower(self) -> None:
        """Open it, where nobody else needs it closed."""
        if self._is_up:
            self._is_up = False
            _count(-1)


def _count(change: int) -> None:
    global _raised  # noqa: PLW0603 - a fact about the process
    with _lock:
        _raised += change
        if kernel.MACHINE:
            with suppress(OSError):
                kernel.prctl(kernel.PR_SET_DUMPABLE, 0 if _raised else 1)
