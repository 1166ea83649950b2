"""Running exams: plan, ask, grade, write; the response log is the only state."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proctor.running.log import Key, LogStats, ResponseLog, default_log_path
    from proctor.running.progress import LineObserver, LiveObserver, Observer, Progress, SilentObserver, observer_for
    from proctor.running.run import RunResult, run_exams
    from proctor.running.spec import RunSpec

_HOMES = {
    "log": ("Key", "LogStats", "ResponseLog", "default_log_path"),
    "progress": ("LineObserver", "LiveObserver", "Observer", "Progress", "SilentObserver", "observer_for"),
    "run": ("RunResult", "run_exams"),
    "spec": ("RunSpec",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

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


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: looking after a log needs nothing of exams."""
    if name not in _HOME_OF:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
