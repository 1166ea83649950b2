"""Running exams: plan, ask, grade, write; the response log is the only state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.running.exporting import ExportedRun, Exporter
    from proctor.running.log import Key, LogStats, ResponseLog
    from proctor.running.log_file import default_log_path
    from proctor.running.progress import LineObserver, LiveObserver, Observer, Progress, SilentObserver, observer_for
    from proctor.running.run import RunResult, run_exams
    from proctor.running.spec import RunSpec

_HOMES = {
    "exporting": ("ExportedRun", "Exporter"),
    "log": ("Key", "LogStats", "ResponseLog"),
    "log_file": ("default_log_path",),
    "progress": ("LineObserver", "LiveObserver", "Observer", "Progress", "SilentObserver", "observer_for"),
    "run": ("RunResult", "run_exams"),
    "spec": ("RunSpec",),
}

__all__ = [
    "ExportedRun", "Exporter", "Key", "LineObserver", "LiveObserver", "LogStats", "Observer", "Progress",
    "ResponseLog", "RunResult", "RunSpec", "SilentObserver", "default_log_path", "observer_for", "run_exams",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
