"""Running exams: plan, ask, grade, write; the response log is the only state."""

from __future__ import annotations

from proctor.running.log import Key, LogStats, ResponseLog, default_log_path
from proctor.running.progress import LineObserver, LiveObserver, Observer, Progress, SilentObserver, observer_for
from proctor.running.run import RunResult, run_exams
from proctor.running.spec import RunSpec

__all__ = [
    "Key",
    "LineObserver",
    "LiveObserver",
    "LogStats",
    "Observer",
    "Progress",
    "ResponseLog",
    "RunResult",
    "RunSpec",
    "SilentObserver",
    "default_log_path",
    "observer_for",
    "run_exams",
]
