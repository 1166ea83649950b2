"""Running exams: plan, ask, grade, write; the response log is the only state."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "exporting": "ExportedRun Exporter",
    "log": "Key LogStats ResponseLog",
    "log_file": "default_log_path",
    "progress": "LineObserver LiveObserver Observer Progress SilentObserver observer_for",
    "run": "RunResult run_exams",
    "spec": "RunSpec",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
