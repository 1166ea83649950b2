"""The counts of a run that is going on, in a file beside its results, so that others can watch it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

from proctor.running.progress import Observer, Progress
from proctor.safe_files import write_text

PROGRESS = ".progress.json"
STALE_SECONDS = 20.0
"""Age at which the file is that of a run that died: twenty times as old as it gets while answers arrive."""

_EVERY_SECONDS = 1.0  # as often as a reader looks; a file for each answer would wear the disk


class ProgressFileObserver:
    """Tells another observer everything, and writes the counts into the run folder about once a second.

    Args:
        inner: The other observer.
        folder: The run folder; nothing is written while it does not exist.
    """

    wants_total = True

    def __init__(self, inner: Observer, folder: Path) -> None:
        self._inner = inner
        self.wants_total = inner.wants_total
        self.started, self.grading, self.judging, self.graded = (
            inner.started,
            inner.grading,
            inner.judging,
            inner.graded,
        )
        self._file = folder / PROGRESS
        self._last = 0.0

    def asking(self, progress: Progress) -> None:
        """Write the counts if the last time is long enough ago."""
        self._inner.asking(progress)
        now = time.monotonic()
        if now - self._last >= _EVERY_SECONDS:
            self._last = now
            self._write(progress)

    def finished(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self._file.unlink()
        self._inner.finished()

    def _write(self, progress: Progress) -> None:
        counts = {
            "total": progress.total,
            "done": progress.done,
            "cached": progress.cached,
            "failed": progress.failed,
            "rate": round(progress.rate, 3),
            "eta_seconds": progress.eta_seconds,
            **progress.usage.as_data(),
        }
        with suppress(OSError):  # who watches may wait; a full disk is reported where it matters
            write_text(self._file, json.dumps(counts))
