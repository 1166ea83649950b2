"""AISBench's tasks as programs use them (``ais_bench.benchmark.tasks.base``): their state in a file, their names."""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.config_files import write_status
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import get_infer_output_path, task_abbr_from_cfg
from proctor.safe_files import write_text

_ENDS = ("error", "finish")


def extract_role_pred(s: str, begin_str: str | None, end_str: str | None) -> str:
    """Return a prediction as it is.

    AISBench means to cut it between two marks, and never does: the marks are tested with an expression that fits every
    text. Scores are those of the whole text, here as there.
    """
    del begin_str, end_str
    return s


class BaseTask:
    """One model and the datasets that it is asked about.

    Args:
        cfg: ``models``, ``datasets`` (a list for each model), ``work_dir`` and ``cli_args``.
    """

    name_prefix: str = ""
    log_subdir: str = ""
    output_subdir: str = ""

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        self.logger = AISLogger()
        self.cfg: Any = copy.deepcopy(cfg)
        if len(cfg["models"]) > 1:
            self.logger.warning("a task has one model; of %d the first is taken", len(cfg["models"]))
        self.model_cfg, self.dataset_cfgs = self.cfg["models"][0], self.cfg["datasets"][0]
        self.work_dir, self.cli_args = self.cfg["work_dir"], self.cfg["cli_args"]

    def run(self) -> None:
        """Do the work: override it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'run'")

    def get_command(self, cfg_path: str, template: str) -> str:
        """Return the command that runs the task: override it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'get_command' for {cfg_path}, {template}")

    @property
    def name(self) -> str:
        """What the task is called."""
        return self.name_prefix + task_abbr_from_cfg({"models": [self.model_cfg], "datasets": [self.dataset_cfgs]})

    def get_log_path(self, file_extension: str = "json") -> str:
        """Return where the task's log is filed."""
        folder = os.path.join(self.work_dir, self.log_subdir)  # noqa: PTH118 - texts, as upstream
        return get_infer_output_path(self.model_cfg, self.dataset_cfgs, folder, file_extension)

    def get_output_paths(self, file_extension: str = "json") -> list[str]:
        """Return where the answers to each dataset are filed."""
        folder = os.path.join(self.work_dir, self.output_subdir)  # noqa: PTH118 - texts, as upstream
        listed: Sequence[Any] = self.dataset_cfgs
        return [get_infer_output_path(self.model_cfg, each, folder, file_extension) for each in listed]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cfg})"


class EmptyTask(BaseTask):
    """A task without work."""

    def run(self) -> None:
        """Do nothing."""

    def get_command(self, cfg_path: str, template: str) -> str:
        """Return no command."""
        del cfg_path, template
        return ""


class TaskStateManager:
    """The state of a task, in a file that others read.

    Args:
        tmp_path: The folder of the file.
        task_name: What the task is called.
        is_debug: Whether the state is not written.
        refresh_interval: Seconds between two writings.
    """

    def __init__(self, tmp_path: str, task_name: str, is_debug: bool, refresh_interval: float = 0.5) -> None:
        self.logger = AISLogger()
        self.tmp_file = os.path.join(tmp_path, f"tmp_{task_name.replace('/', '_')}.json")  # noqa: PTH118 - a text, as upstream
        write_text(Path(self.tmp_file), json.dumps([]))
        self.task_state: dict[str, Any] = {"task_name": task_name, "process_id": os.getpid()}
        self.is_debug, self.refresh_interval = is_debug, refresh_interval

    def launch(self) -> None:
        """Write the state until it says that the task has ended; when debugging, not at all."""
        self.task_state["start_time"] = time.time()
        if self.is_debug:
            self._display_task_state()
        else:
            self._post_task_state()

    def update_task_state(self, task_state: Mapping[str, Any]) -> None:
        """Add to the state."""
        self.task_state.update(task_state)

    def _post_task_state(self) -> None:
        while True:
            write_status(self.tmp_file, self.task_state)
            if self.task_state.get("status") in _ENDS:
                break
            time.sleep(self.refresh_interval)

    def _display_task_state(self) -> None:
        """Show nothing: progress is shown where it is made."""
