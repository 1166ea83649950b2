"""AISBench's command line from beginning to end (``ais_bench.benchmark.cli.task_manager``, ``…cli.main``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.cli_names import ArgumentParser
from proctor.compat.aisbench_names.config_managing import ConfigManager
from proctor.compat.aisbench_names.failures import NOT_MEASURED, failure
from proctor.compat.aisbench_names.logger import AISLogger

_ANOMALIES = "answers are not searched for anomalies, which msProbe does for AISBench"
_NOT_HERE: Mapping[str, str] = {
    "response_anomaly": _ANOMALIES,
    "response_anomaly_payload_retention": _ANOMALIES,
    "spec_decode": NOT_MEASURED,
}
"""Options of AISBench's that end in an error, and why."""


class TaskManager:
    """Reads the arguments of this process, and does what they say."""

    workflow: Sequence[Any]

    def __init__(self) -> None:
        self.logger = AISLogger()
        self.args_parser = ArgumentParser()
        self.args = self.args_parser.parse_args()
        self.config_manager = ConfigManager(self.args)

    def run(self) -> None:
        """Find configs (``--search``), or do the steps of ``--mode``.

        Raises:
            CommandError: An option asks for what is not here.
        """
        for name, why in _NOT_HERE.items():
            if getattr(self.args, name, None):
                what = f"--{name.replace('_', '-')} is not here: {why}"
                raise failure("CommandError", "TMAN_CODES", "INVALID_ARG_VALUE_IN_CMD", what)
        if self.args.search:
            self.config_manager.search_configs_location()
            return
        from proctor.compat.aisbench_names.workers import WORK_FLOW, WorkFlowExecutor

        mode = self.args.mode
        if mode == "perf" and self.args.reuse:
            self.logger.warning("--reuse in performance mode: nothing is asked, what was measured is summed up")
            mode = "perf_viz"
        self.workflow = [worker(self.args) for worker in WORK_FLOW[mode]]
        WorkFlowExecutor(self.config_manager.load_config(self.workflow), self.workflow).execute()


def main() -> None:
    """Do what the arguments of this process say."""
    TaskManager().run()
