# Made by tools/update_stubs.py.

from proctor.running.exporting import ExportedRun as ExportedRun, Exporter as Exporter
from proctor.running.log import Key as Key, LogStats as LogStats, ResponseLog as ResponseLog
from proctor.running.log_file import default_log_path as default_log_path
from proctor.running.progress import LineObserver as LineObserver, LiveObserver as LiveObserver, Observer as Observer, Progress as Progress, SilentObserver as SilentObserver, observer_for as observer_for
from proctor.running.run import RunResult as RunResult, run_exams as run_exams
from proctor.running.spec import RunSpec as RunSpec
