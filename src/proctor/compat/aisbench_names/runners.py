"""AISBench's runners (``ais_bench.benchmark.runners``): tasks are done one after the other, in this process.

No process is started on behalf of a task: ``proctor run`` asks many rows at once, and several models in one run.
"""
# ruff: noqa: PTH103, PTH107, PTH110, PTH118, PTH208 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import os
import shutil
import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from tqdm import tqdm  # type: ignore[import-untyped]

from proctor.compat.aisbench_names.config_files import read_and_clear_statuses
from proctor.compat.aisbench_names.config_objects import Config
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.mmengine_files import is_npu_available
from proctor.compat.aisbench_names.registries import RUNNERS, TASKS

_ENDS = ("finish", "error", "killed")
_STATED = ("process_id", "finish_count", "total_count", "progress_description")
_BAR = 30  # characters


def create_progress_bar(
    finished_count: int | None = 0, total_count: int = 1000, description: str = "", length: int = _BAR
) -> str:
    """Return how far a task is, as text: ``[###   ] 1/2 asking``; ``NA`` where nobody knows."""
    if finished_count is None or not total_count:
        return "NA"
    total = max(total_count, 0)
    done = min(max(finished_count, 0), total)
    filled = done * length // total if total else 0
    return f"[{'#' * filled}{' ' * (length - filled)}] {done}/{total} {description}"


def format_time(seconds: float) -> str:
    """Return a time as hours, minutes and seconds: ``0:02:05``."""
    return str(timedelta(seconds=int(seconds)))


class TasksMonitor:
    """Watches tasks by the files in which they say how far they are.

    Args:
        task_names: What the tasks are called.
        output_path: The folder of work.
        is_debug: Whether nothing is shown.
        refresh_interval: Seconds between two looks.
    """

    def __init__(
        self, task_names: Sequence[str], output_path: str, is_debug: bool = False, refresh_interval: float = 0.3
    ) -> None:
        self.logger = AISLogger()
        self.output_path = output_path
        self.tmp_file_path = os.path.join(output_path, "status_tmp")
        self.tmp_file_name_list = [f"tmp_{name.replace('/', '_')}.json" for name in task_names]
        if not os.path.exists(self.tmp_file_path):
            os.makedirs(self.tmp_file_path, mode=0o750)
        self.tasks_state_map: dict[str, dict[str, Any]] = {name: {"status": "not start"} for name in task_names}
        self._ended: dict[str, list[Any]] = {}
        self.is_debug, self.refresh_interval = is_debug, refresh_interval
        self.run_in_background = True

    @staticmethod
    def rm_tmp_files(work_dir: str, preserve: Sequence[str] = ()) -> None:
        """Remove the files in which tasks said how far they were.

        Args:
            work_dir: The folder of work.
            preserve: Names of files that stay.
        """
        folder = os.path.join(work_dir, "status_tmp")
        if not os.path.exists(folder):
            return
        kept = [name for name in os.listdir(folder) if name in preserve] if preserve else []
        if not kept:
            shutil.rmtree(folder)
            return
        for name in os.listdir(folder):
            if name not in kept:
                os.remove(os.path.join(folder, name))

    def launch_state_board(self) -> None:
        """Show how far tasks are until all have ended; when debugging, not at all."""
        if not self.is_debug:
            self._update_tasks_progress()

    def _is_all_task_done(self) -> bool:
        return all(state.get("status") in _ENDS for state in self.tasks_state_map.values())

    def _refresh_task_state(self) -> None:
        found = read_and_clear_statuses(self.tmp_file_path, self.tmp_file_name_list)
        for stated in found:
            state = self.tasks_state_map[stated["task_name"]]
            if not state.get("start_time"):
                state.update(start_time=time.time(), status="start")
            if not state.get("task_log_path"):
                state["task_log_path"] = stated.get("task_log_path")
            state.update({key: stated.get(key) for key in (*_STATED, "other_kwargs")})
            state["status"] = stated.get("status") or state["status"]
        if not found:
            self._find_killed()

    def _find_killed(self) -> None:
        for state in self.tasks_state_map.values():
            if state.get("process_id") and state.get("status") not in _ENDS and not _is_alive(state["process_id"]):
                state["status"] = "killed"

    def _get_task_states(self) -> list[list[Any]]:
        """Return a row for each task: name, process, progress, time, status, log, more."""
        rows = []
        for name, state in self.tasks_state_map.items():
            done = (state.get("finish_count"), state.get("total_count", 0), state.get("progress_description") or "")
            row = [
                name,
                state.get("process_id"),
                create_progress_bar(*done),
                format_time(time.time() - state["start_time"]) if state.get("start_time") else "NA",
                state.get("status"),
                state.get("task_log_path"),
                str(state.get("other_kwargs")),
            ]
            rows.append(self._ended.setdefault(name, row) if state.get("status") in _ENDS[:2] else row)
        return rows

    def _update_tasks_progress(self) -> None:
        progress = tqdm(total=len(self.tasks_state_map), desc="Monitoring tasks progress")
        while True:
            self._refresh_task_state()
            self._get_task_states()
            done = sum(state.get("status") in _ENDS[:2] for state in self.tasks_state_map.values())
            if done > progress.n:
                progress.update(done - progress.n)
            if done >= progress.total or self._is_all_task_done():
                progress.close()
                return
            time.sleep(self.refresh_interval)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)  # sends nothing: it asks whether the process is there
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class BaseRunner:
    """Does tasks: override :meth:`launch`.

    Args:
        task: The config of the tasks' type.
        debug: Whether a failure is raised where it happens.
    """

    def __init__(self, task: Mapping[str, Any], debug: bool = False) -> None:
        self.logger = AISLogger()
        self.task_cfg = Config(task)
        self.debug = debug

    def __call__(self, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Do tasks, and say which failed."""
        self.summarize(list(self.launch(tasks)))

    @abstractmethod
    def launch(self, tasks: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
        """Do tasks, and return the name of each and how it ended: 0 is well.

        Raises:
            AISBenchNotImplementedError: This class is a base.
        """
        what = f"{type(self).__name__} needs a method 'launch' for {len(tasks)} tasks"
        raise failure("AISBenchNotImplementedError", "RUNNER_CODES", "UNKNOWN_ERROR", what)

    def summarize(self, status: Sequence[tuple[str, int]]) -> None:
        """Say which tasks failed."""
        if failed := [name for name, code in status if code != 0]:
            self.logger.warning("%d of %d tasks failed: %s", len(failed), len(status), ", ".join(failed))


@RUNNERS.register_module()
class LocalRunner(BaseRunner):
    """Does tasks in this process, one after the other.

    Args:
        task: The config of the tasks' type.
        max_num_workers: Kept for programs: there is one worker.
        debug: As of :class:`BaseRunner`.
        max_workers_per_gpu: Kept for programs.
        keep_tmp_file: Kept for programs: no config of a task is written.
        **kwargs: Named in a warning, and without effect.
    """

    def __init__(
        self,
        task: Mapping[str, Any],
        max_num_workers: int = 16,
        debug: bool = False,
        max_workers_per_gpu: int = 1,
        keep_tmp_file: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(task, debug)
        self.max_num_workers, self.max_workers_per_gpu = max_num_workers, max_workers_per_gpu
        self.keep_tmp_file = keep_tmp_file
        for name in kwargs:
            self.logger.warning(f"{name} is nothing that this runner knows, and has no effect")  # noqa: G004 - programs look for the name

    def launch(self, tasks: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
        """Do tasks, and return the name of each and 0, or 1 where it failed; when debugging, a failure is raised."""
        return self._run_debug(tasks) if self.debug else self._run_normal(tasks)

    def _run_debug(
        self, tasks: Sequence[Mapping[str, Any]], all_gpu_ids: Sequence[int] = (), monitor_p: Any = None
    ) -> list[tuple[str, int]]:
        """Do tasks; a failure is raised."""
        del all_gpu_ids, monitor_p  # of processes, which upstream starts for tasks
        return [self._done(each, raising=True) for each in tasks]

    def _run_normal(
        self, tasks: Sequence[Mapping[str, Any]], all_gpu_ids: Sequence[int] = (), monitor_p: Any = None
    ) -> list[tuple[str, int]]:
        """Do tasks; a failure is said."""
        del all_gpu_ids, monitor_p
        return [self._done(each, raising=False) for each in tasks]

    def _done(self, cfg: Mapping[str, Any], *, raising: bool) -> tuple[str, int]:
        task = TASKS.build({"cfg": cfg, "type": self.task_cfg["type"]})
        try:
            task.run(_Silent())
        except Exception as error:
            if raising:
                raise
            self.logger.warning("%s failed: %s: %s", task.name, type(error).__name__, error)
            return task.name, 1
        return task.name, 0


class _Silent:
    """Is told how far a task is, and tells nobody: the task is done in this process."""

    def update_task_state(self, task_state: Mapping[str, Any]) -> None:
        """Take note of nothing."""


def get_command_template(gpu_ids: Sequence[int]) -> str:
    """Return the command in which a task's command stands (``{task_cmd}``), with the accelerators that it may see."""
    shown = ",".join(map(str, gpu_ids))
    if is_npu_available():
        return f"ASCEND_RT_VISIBLE_DEVICES={shown} {{task_cmd}}"
    if sys.platform == "win32":
        return f"set CUDA_VISIBLE_DEVICES={shown} & {{task_cmd}}"
    return f"CUDA_VISIBLE_DEVICES={shown} {{task_cmd}}"
