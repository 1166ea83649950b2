"""AISBench's partitioners: which datasets a task asks a model about (``ais_bench.benchmark.partitioners``)."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.dataset_helpers import MM_APIS, MM_DATASETS, ONLY_PERF_DATASETS
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import dataset_abbr_from_cfg, get_infer_output_path, model_abbr_from_cfg

Config = dict[str, Any]
_KEPT = (
    "eval.runner.task.judge_cfg", "eval.runner.task.dump_details", "eval.given_pred",
    "eval.runner.task.cal_extract_rate", "VBENCH_CACHE_DIR", "vbench_cache_dir",
)  # fmt: skip
"""Keys of an experiment that its tasks need, too."""


class BasePartitioner:
    """Cuts an experiment into tasks: override :meth:`partition`.

    Args:
        out_dir: The folder of results.
        keep_keys: Keys of the experiment, with dots between their levels, that tasks get.
    """

    def __init__(self, out_dir: str, keep_keys: Sequence[str] | None = None) -> None:
        self.logger = AISLogger()
        self.out_dir, self.keep_keys = out_dir, list(_KEPT if keep_keys is None else keep_keys)

    def __call__(self, cfg: Mapping[str, Any]) -> list[Config]:
        """Return the tasks of an experiment: ``models``, ``datasets`` (a list for each model), ``work_dir``.

        Raises:
            ValueError: There is none.
        """
        cfg = deepcopy(dict(cfg))
        parts = self.parse_model_dataset_args(cfg)
        tasks = self.partition(**parts, work_dir=cfg["work_dir"], out_dir=self.out_dir, add_cfg=self._kept(cfg))
        for task in tasks:
            task["cli_args"] = cfg.get("cli_args", {})
        return self._check_task_cfg(tasks)

    def _kept(self, cfg: Mapping[str, Any]) -> Config:
        found: Config = {}
        for name in self.keep_keys:
            *above, last = name.split(".")
            source: Any = cfg
            for key in above:
                source = source.get(key) if isinstance(source, Mapping) else None
            if isinstance(source, Mapping) and last in source:
                target = found
                for key in above:
                    target = target.setdefault(key, {})
                target[last] = source[last]
        return found

    def _check_task_cfg(self, tasks: Sequence[Config]) -> list[Config]:
        found = [task for task in tasks if self._can_run(task)]
        if not found:
            raise ValueError("there is no task that can be run: look at models, datasets and mode")
        return found

    def _can_run(self, task: Config) -> bool:
        mode = task.get("cli_args", {}).get("mode")
        dataset, model = task["datasets"][0][0].get("type"), task["models"][0].get("type")
        if mode not in ("perf", "perf_viz") and dataset in ONLY_PERF_DATASETS:
            self.logger.warning("'%s' is for load tests alone, and the mode is '%s': left out", dataset, mode)
            return False
        if dataset in MM_DATASETS and model not in MM_APIS:
            self.logger.warning("'%s' has media, which '%s' takes none of: left out", dataset, model)
            return False
        return True

    def parse_model_dataset_args(self, cfg: Mapping[str, Any]) -> Config:
        """Return what :meth:`partition` takes of an experiment's models and datasets.

        Raises:
            AISBenchConfigError: A combination names what the experiment does not have.
        """
        combinations = cfg.get("model_dataset_combinations")
        if "model_dataset_combinations" not in inspect.signature(self.partition).parameters:
            if combinations is not None:
                self.logger.warning("%s takes no model_dataset_combinations", type(self).__name__)
            return {"models": cfg["models"], "datasets": cfg["datasets"]}
        for kind, name_of in (("models", model_abbr_from_cfg), ("datasets", dataset_abbr_from_cfg)):
            known = [name_of(each) for each in cfg[kind]]
            named = [name_of(each) for part in combinations or () for each in part[kind]]
            if missing := [name for name in named if name not in known]:
                code = error_codes.PARTI_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
                raise errors.AISBenchConfigError(code, f"the config's {kind} have no {', '.join(missing)}")  # type: ignore[attr-defined]
        return {"model_dataset_combinations": combinations or [{"models": cfg["models"], "datasets": cfg["datasets"]}]}

    def partition(self, **parts: Any) -> list[Config]:
        """Return tasks: override it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'partition' for {', '.join(parts)}")


class NaivePartitioner(BasePartitioner):
    """Makes a task of every ``n`` datasets of a model.

    Args:
        out_dir: The folder of results.
        n: How many datasets a task has.
        keep_keys: As of :class:`BasePartitioner`.
    """

    def __init__(self, out_dir: str = "", n: int = 1, keep_keys: Sequence[str] | None = None) -> None:
        super().__init__(out_dir, keep_keys)
        self.n = n

    def partition(  # type: ignore[override]
        self,
        model_dataset_combinations: Sequence[Mapping[str, Sequence[Config]]],
        work_dir: str,
        out_dir: str = "",
        add_cfg: Mapping[str, Any] | None = None,
    ) -> list[Config]:
        """Return the tasks; datasets whose answers are in the folder of predictions are left out."""
        tasks = []
        for part in model_dataset_combinations:
            for model in part["models"]:
                open_ones = [each for each in part["datasets"] if not self._is_done(model, each, out_dir)]
                chunks = [open_ones[start : start + self.n] for start in range(0, len(open_ones), self.n)]
                rest = {"work_dir": work_dir, **(add_cfg or {})}
                tasks += [{"models": [model], "datasets": [chunk], **rest} for chunk in chunks]
        return tasks

    def _is_done(self, model: Config, dataset: Config, out_dir: str) -> bool:
        path = get_infer_output_path(model, dataset, out_dir)
        is_predictions = os.path.basename(os.path.normpath(out_dir)) == "predictions"  # noqa: PTH119 - texts, as upstream
        if not is_predictions or not os.path.exists(path):  # noqa: PTH110 - programs replace it
            return False
        name = dataset_abbr_from_cfg(dataset)
        if os.stat(path).st_uid != os.getuid():  # noqa: PTH116 - programs replace it
            self.logger.error(
                error_codes.PARTI_CODES.OUT_DIR_PERMISSION_DENIED,  # type: ignore[attr-defined]
                f"{path} is somebody else's, and is not written to",
            )
            return True
        return not os.path.exists(os.path.join(os.path.dirname(path), f"tmp_{name}"))  # noqa: PTH110, PTH118, PTH120
