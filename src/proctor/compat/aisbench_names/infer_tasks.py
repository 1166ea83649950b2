"""AISBench's tasks that ask a model (``ais_bench.benchmark.tasks``), as programs drive them.

They write ``predictions/MODEL/DATASET.jsonl`` of a folder of work. ``proctor run`` asks for exams.
"""
# ruff: noqa: PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import argparse
import copy
import os.path as osp
import sys
from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.builders import build_dataset_from_cfg
from proctor.compat.aisbench_names.failures import NOT_MEASURED, failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import model_abbr_from_cfg, task_abbr_from_cfg
from proctor.compat.aisbench_names.registries import ICL_INFERENCERS, ICL_RETRIEVERS, TASKS
from proctor.compat.aisbench_names.task_names import BaseTask
from proctor.compat.aisbench_names.type_checks import check_type

logger = AISLogger()
_LOAD_MODES = ("perf", "perf_viz")


@TASKS.register_module()
class OpenICLInferTask(BaseTask):
    """Asks one model about datasets.

    Args:
        cfg: The config of the task: ``models``, ``datasets``, ``work_dir``, ``cli_args``.
    """

    name_prefix = "OpenICLInfer"
    log_subdir = "logs/infer"
    output_subdir = "predictions"
    inferencer: Any
    task_state_manager: Any = None

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        super().__init__(cfg)
        said = self.model_cfg.get("run_cfg", {})
        self.num_gpus, self.num_procs = said.get("num_gpus", 0), said.get("num_procs", 1)
        self.nnodes, self.node_rank = said.get("nnodes", 1), said.get("node_rank", 0)
        self.master_addr = said.get("master_addr", "localhost")

    def get_command(self, cfg_path: str, template: str) -> str:
        """Return the command that runs this task by itself."""
        return template.format(task_cmd=f"{sys.executable} -m {__name__} {cfg_path}")

    def run(self, task_state_manager: Any = None) -> None:
        """Ask everything, and write the answers.

        Raises:
            ParameterValueError: Rows are to be asked less than once.
            AISBenchNotImplementedError: Load is to be made.
        """
        if self.cli_args.get("mode") in _LOAD_MODES or self.cli_args.get("pressure"):
            raise failure("AISBenchNotImplementedError", "TINFER_CODES", "UNKNOWN_ERROR", NOT_MEASURED)
        self.task_state_manager = task_state_manager
        repeats = (self.model_cfg.get("generation_kwargs") or {}).pop("num_return_sequences", 1)
        check_type(repeats, int)
        if repeats <= 0:
            what = f"num_return_sequences is {repeats}, and must be at least 1"
            raise failure("ParameterValueError", "TINFER_CODES", "NUM_RETURN_SEQUENCES_NOT_POSITIVE", what)
        self._inference()

    def build_inference(self) -> None:
        """Make the inferencer, with what the model's config says of it."""
        cfg = copy.deepcopy(dict(self.dataset_cfgs[0]["infer_cfg"]["inferencer"]))
        cfg["model_cfg"] = self.model_cfg
        for key in ("max_out_len", "min_out_len", "batch_size"):
            self._set_default_value(cfg, key, self.model_cfg.get(key))
        cfg["max_seq_len"] = self.model_cfg.get("max_seq_len")
        self.inferencer = ICL_INFERENCERS.build(cfg)
        self.inferencer.set_task_state_manager(self.task_state_manager)

    def _set_default_value(self, cfg: Any, key: str, value: Any) -> None:
        if key not in cfg:
            cfg[key] = value

    def _retriever(self, dataset_cfg: Mapping[str, Any]) -> Any:
        infer_cfg = dataset_cfg["infer_cfg"]
        templates = {key: infer_cfg.get(key) for key in ("prompt_template", "ice_template")}
        dataset = build_dataset_from_cfg(dataset_cfg, task_state_manager=self.task_state_manager)
        return ICL_RETRIEVERS.build({**infer_cfg["retriever"], "dataset": dataset, **templates})

    def _inference(self) -> None:
        self.logger.info(
            "asking for %s", task_abbr_from_cfg({"models": [self.model_cfg], "datasets": [self.dataset_cfgs]})
        )
        retrievers = [self._retriever(each) for each in self.dataset_cfgs]
        if self.task_state_manager is not None:
            self.task_state_manager.update_task_state({"status": "load model"})
        self.build_inference()
        folder = osp.join(self.work_dir, "predictions", model_abbr_from_cfg(self.model_cfg))
        self.inferencer.inference(retrievers, output_json_filepath=folder)


@TASKS.register_module()
class OpenICLApiInferTask(OpenICLInferTask):
    """Asks a model behind a server; arguments as of :class:`OpenICLInferTask`. Load is not made."""

    name_prefix = "OpenICLApiInfer"

    def _inference(self) -> None:
        """Ask row by row, in the order of rows, as many at once as ``batch_size`` says."""
        from proctor.compat.aisbench_names.asking_servers import ask_all

        retrievers = [self._retriever(each) for each in self.dataset_cfgs]
        self.build_inference()
        rows = [row for each in retrievers for row in self.inferencer.get_data_list(each)]
        ask_all(self.inferencer, rows, osp.join(self.work_dir, "predictions", model_abbr_from_cfg(self.model_cfg)))


def run_single_inferencer(*_: Any, **__: Any) -> Any:
    """Refuse: it is the process of a load test.

    Raises:
        AISBenchNotImplementedError: Always.
    """
    raise failure("AISBenchNotImplementedError", "TINFER_CODES", "UNKNOWN_ERROR", NOT_MEASURED)


def parse_args() -> argparse.Namespace:
    """Return the arguments of this process: ``config``."""
    parser = argparse.ArgumentParser(description="Ask a model for the answers of a task")
    parser.add_argument("config", help="the task's config")
    return parser.parse_args()
