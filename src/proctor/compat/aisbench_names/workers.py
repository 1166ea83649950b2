"""AISBench's workers (``ais_bench.benchmark.cli.workers``): the steps of a run, as programs drive them.

``proctor run CONFIG.py`` runs configs by Proctor's own pipeline; these classes serve programs that put steps together.
"""
# ruff: noqa: PTH107, PTH110, PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import copy
import os
import os.path as osp
import shutil
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.cli_names import clear_repeat_tasks, get_config_type
from proctor.compat.aisbench_names.config_files import dump_jsonl, load_jsonl
from proctor.compat.aisbench_names.eval_tasks import OpenICLEvalTask
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.infer_tasks import OpenICLApiInferTask, OpenICLInferTask
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.partitioning import NaivePartitioner
from proctor.compat.aisbench_names.perf_calculators import DefaultPerfMetricCalculator
from proctor.compat.aisbench_names.perf_summarizing import DefaultPerfSummarizer
from proctor.compat.aisbench_names.registries import PARTITIONERS, RUNNERS, build_from_cfg
from proctor.compat.aisbench_names.runners import LocalRunner
from proctor.compat.aisbench_names.summarizing import DefaultSummarizer
from proctor.compat.aisbench_names.task_names import EmptyTask

logger = AISLogger()
Task = dict[str, Any]


class BaseWorker(ABC):
    """A step of a run.

    Args:
        args: What :class:`ArgumentParser` returns.
    """

    def __init__(self, args: Any) -> None:
        self.args = args
        self.skip = False

    @abstractmethod
    def update_cfg(self, cfg: Any) -> Any:
        """Write into a config what the step needs, and return it."""

    @abstractmethod
    def do_work(self, cfg: Any) -> Any:
        """Do the step."""


class _AskingWorker(BaseWorker):
    """What the steps that ask and that score share: tasks, and who does them."""

    def _complete(self, cfg: Any, name: str, task: type, **more: Any) -> None:
        """Write a step's section: what the config says of it, and what it leaves unsaid."""
        section = cfg.get(name) or {"runner": {"task": {"type": task}}}
        if not section.get("partitioner"):
            section["partitioner"] = {"type": NaivePartitioner}
        runner = section["runner"]
        if runner.get("type") is None:
            runner["type"] = LocalRunner
        runner["max_num_workers"] = self.args.max_num_workers
        runner["max_workers_per_gpu"] = self.args.max_workers_per_gpu
        runner["debug"] = self.args.debug or cfg.cli_args.debug
        runner["task"].update(more)
        cfg.merge_from_dict({name: section})

    def _has_empty_task(self, cfg: Any, name: str) -> bool:
        kind = (cfg.get(name) or {}).get("runner", {}).get("task", {}).get("type")
        self.skip = kind is not None and str(get_config_type(kind)).rpartition(".")[2] == EmptyTask.__name__
        return self.skip

    def _merge_datasets(self, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks of which those that ask one model in one way about datasets of one type are one."""
        found: dict[tuple[str, str, str], Task] = {}
        for task in tasks:
            first = task["datasets"][0][0]
            key = (task["models"][0]["abbr"], str(first["type"]), str(first["infer_cfg"]["inferencer"]))
            if key in found:
                found[key]["datasets"][0].extend(task["datasets"][0])
            else:
                found[key] = copy.deepcopy(task)
        return list(found.values())

    def _merged_where_asked(self, tasks: Sequence[Any], cfg: Any) -> Sequence[Any]:
        said = cfg.get("cli_args", {})
        if said.get("merge_ds", False) or said.get("mode") == "perf":
            logger.info("Merging datasets with the same model and inferencer...")
            return self._merge_datasets(tasks)
        return tasks


def _name_attacked(tasks: Sequence[Any], cfg: Any) -> None:
    """Tell attacks which dataset they attack."""
    for task in tasks if hasattr(cfg, "attack") else ():
        cfg.attack.dataset = task.datasets[0][0].abbr
        task.attack = cfg.attack


class Infer(_AskingWorker):
    """Asks models."""

    def update_cfg(self, cfg: Any) -> Any:
        """Say who asks, and where answers go; nobody where the task is empty."""
        if self._has_empty_task(cfg, "infer"):
            return cfg
        is_service = cfg["models"][0]["attr"] == "service"
        self._complete(cfg, "infer", OpenICLApiInferTask if is_service else OpenICLInferTask)
        cfg["infer"]["partitioner"]["out_dir"] = osp.join(cfg["work_dir"], "predictions/")
        return cfg

    def do_work(self, cfg: Any) -> None:
        """Ask."""
        if self.skip:
            logger.info("EmptyTask is selected, skip inference.")
            return
        partitioner = PARTITIONERS.build(cfg.infer.partitioner)
        logger.info("Starting inference tasks...")
        tasks = clear_repeat_tasks(partitioner(cfg))
        self._update_tasks_cfg(tasks, cfg)
        merged = self._merged_where_asked(tasks, cfg)
        RUNNERS.build(cfg.infer.runner)(merged)
        logger.info("Inference tasks completed.")

    def _update_tasks_cfg(self, tasks: Sequence[Any], cfg: Any) -> None:
        _name_attacked(tasks, cfg)


class JudgeInfer(_AskingWorker):
    """Asks judges about answers; where no dataset has a judge, nothing."""

    def __init__(self, args: Any) -> None:
        super().__init__(args)
        self.judge_model_type: str | None = None
        self.org_dataset_abbrs: dict[str, str] = {}

    def update_cfg(self, cfg: Any) -> Any:
        """Say who asks the judges."""
        for dataset in cfg["datasets"]:
            if judged := dataset.get("judge_infer_cfg"):
                self.judge_model_type = judged["judge_model"]["attr"]
        if self.judge_model_type is None:
            return cfg
        is_service = self.judge_model_type == "service"
        partitioner = get_config_type(NaivePartitioner)
        task = get_config_type(OpenICLApiInferTask if is_service else OpenICLInferTask)
        runner = {
            "max_num_workers": self.args.max_num_workers,
            "max_workers_per_gpu": self.args.max_workers_per_gpu,
            "debug": self.args.debug or cfg.cli_args.debug,
            "task": {"type": task},
            "type": get_config_type(LocalRunner),
        }
        cfg.merge_from_dict({"judge_infer": {"partitioner": {"type": partitioner}, "runner": runner}})
        cfg["judge_infer"]["partitioner"]["out_dir"] = osp.join(cfg["work_dir"], "predictions/")
        return cfg

    def do_work(self, cfg: Any) -> None:
        """Ask the judges."""
        if self.judge_model_type is None:
            return
        partitioner = PARTITIONERS.build(cfg.judge_infer.partitioner)
        logger.info("Starting inference tasks...")
        self._cfg_pre_process(cfg)
        tasks = [each for each in clear_repeat_tasks(partitioner(cfg)) if each["datasets"][0][0].get("judge_infer_cfg")]
        if not tasks:
            return
        self._update_tasks_cfg(tasks, cfg)
        merged = self._merged_where_asked(tasks, cfg)
        runner = RUNNERS.build(cfg.judge_infer.runner)
        self._results_pre_process(merged, cfg)
        runner(merged)
        self._result_post_process(merged, cfg)
        logger.info("Inference tasks completed.")

    def _cfg_pre_process(self, cfg: Any) -> Any:
        self.org_dataset_abbrs = _judged_abbrs(cfg)
        return cfg

    def _update_tasks_cfg(self, tasks: Sequence[Any], cfg: Any) -> None:
        """Let the judges of tasks be asked about the answers of their models.

        Raises:
            PredictionInvalidException: There are no answers.
        """
        _name_attacked(tasks, cfg)
        for task in tasks:
            task["datasets"], task["models"] = copy.deepcopy(task["datasets"]), copy.deepcopy(task["models"])
            dataset, name = task["datasets"][0][0], task["models"][0]["abbr"]
            answers = osp.join(
                cfg.judge_infer.partitioner.out_dir, name, f"{self.org_dataset_abbrs[dataset['abbr']]}.jsonl"
            )
            if not osp.exists(answers):
                what = f"there are no answers to judge: {answers} is missing"
                raise failure("PredictionInvalidException", "TMAN_CODES", "UNKNOWN_ERROR", what)
            judged = dataset.pop("judge_infer_cfg")
            task["models"][0] = {**judged.pop("judge_model"), "abbr": name}
            dataset["predictions_path"] = answers
            dataset["type"], dataset["reader_cfg"] = judged.pop("judge_dataset_type"), judged.pop("judge_reader_cfg")
            dataset["infer_cfg"] = judged

    def _results_pre_process(self, tasks: Sequence[Any], cfg: Any) -> None:
        """Put verdicts of an earlier run, which were kept as the judge gave them, where the run goes on."""
        for task in tasks:
            name = task["datasets"][0][0]["abbr"]
            verdicts = self._file_of(task, cfg, name)
            kept = self._file_of(task, cfg, f"{self.org_dataset_abbrs[name]}-cached")
            if osp.exists(verdicts):
                os.remove(verdicts)
            if osp.exists(kept):
                shutil.move(kept, verdicts)

    def _result_post_process(self, tasks: Sequence[Any], cfg: Any) -> None:
        """Give verdicts the numbers of the answers that they are about; as the judge gave them they are kept, too."""
        for task in tasks:
            dataset = task["datasets"][0][0]
            answers = {each["uuid"]: each for each in load_jsonl(dataset["predictions_path"])}
            path = self._file_of(task, cfg, dataset["abbr"])
            verdicts = load_jsonl(path)
            shutil.copy(path, self._file_of(task, cfg, f"{dataset['abbr']}-cached"))
            for verdict in verdicts:
                verdict["id"] = answers[verdict["gold"]]["id"]
            os.remove(path)
            dump_jsonl(verdicts, path)

    @staticmethod
    def _file_of(task: Any, cfg: Any, name: str) -> str:
        return osp.join(cfg.judge_infer.partitioner.out_dir, task["models"][0]["abbr"], f"{name}.jsonl")


def _judged_abbrs(cfg: Any) -> dict[str, str]:
    """Give datasets that a judge looks at the judge's name, too; return their names before, by those after."""
    found: dict[str, str] = {}
    groups = [each["datasets"] for each in cfg.get("model_dataset_combinations") or ()]
    for dataset in (each for group in [*groups, cfg.get("datasets") or ()] for each in group):
        if judged := dataset.get("judge_infer_cfg"):
            before = dataset["abbr"]
            dataset["abbr"] = f"{before}-{judged['judge_model']['abbr']}"
            found[dataset["abbr"]] = before
    return found


class Eval(_AskingWorker):
    """Scores answers."""

    org_dataset_abbrs: Mapping[str, str]

    def update_cfg(self, cfg: Any) -> Any:
        """Say who scores, and where scores go; nobody where the task is empty."""
        if self._has_empty_task(cfg, "eval"):
            return cfg
        said = cfg.cli_args
        more = {"dump_details": said.dump_eval_details, "cal_extract_rate": said.dump_extract_rate}
        self._complete(cfg, "eval", OpenICLEvalTask, **more)
        cfg["eval"]["partitioner"]["out_dir"] = osp.join(cfg["work_dir"], "results/")
        return cfg

    def do_work(self, cfg: Any) -> None:
        """Score; lists of tasks one after the other."""
        if self.skip:
            logger.info("EmptyTask is selected, skip evaluation.")
            return
        partitioner = PARTITIONERS.build(cfg.eval.partitioner)
        logger.info("Starting evaluation tasks...")
        self._cfg_pre_process(cfg)
        tasks: Sequence[Any] = clear_repeat_tasks(partitioner(cfg))
        self._update_tasks_cfg(tasks, cfg)
        runner = RUNNERS.build(cfg.eval.runner)
        for part in tasks if tasks and isinstance(tasks[0], list) else [tasks]:
            runner(part)
        logger.info("Evaluation tasks completed.")

    def _cfg_pre_process(self, cfg: Any) -> Any:
        self.org_dataset_abbrs = _judged_abbrs(cfg)
        return cfg

    def _update_tasks_cfg(self, tasks: Sequence[Any], cfg: Any) -> None:
        del cfg
        for task in tasks:
            task["datasets"] = copy.deepcopy(task["datasets"])
            task["datasets"][0][0].pop("judge_infer_cfg", None)


class AccViz(BaseWorker):
    """Sums scores up."""

    def update_cfg(self, cfg: Any) -> Any:
        """Say who sums up."""
        summarizer = cfg.get("summarizer", {})
        if not summarizer or summarizer.get("type") is None or summarizer.get("attr") != "accuracy":
            summarizer["type"] = get_config_type(DefaultSummarizer)
        summarizer.pop("attr", None)
        cfg["summarizer"] = summarizer
        return cfg

    def do_work(self, cfg: Any) -> None:
        """Sum up; of subjective datasets each group by itself, and then all of them."""
        logger.info("Summarizing evaluation results...")
        summarizer = cfg.get("summarizer", {})
        cfg = self._cfg_pre_process(cfg)
        when = self.args.cfg_time_str
        if not summarizer.get("function"):
            summarizer["config"] = cfg
            build_from_cfg(summarizer).summarize(time_str=when)
            return
        groups: dict[str, list[Any]] = defaultdict(list)
        for dataset in cfg.datasets:
            groups[dataset["abbr"].split("_")[0]].append(dataset)
        scores = []
        for datasets in groups.values():
            part = copy.deepcopy(cfg)
            part.datasets = datasets
            made = build_from_cfg({"type": datasets[0]["summarizer"]["type"], "config": part})
            if found := made.summarize(time_str=when):
                scores.append(found)
        build_from_cfg({**summarizer, "config": cfg}).summarize(time_str=when, subjective_scores=scores)

    def _cfg_pre_process(self, cfg: Any) -> Any:
        _judged_abbrs({"datasets": cfg.datasets})
        for dataset in cfg.datasets:
            dataset.pop("judge_infer_cfg", None)
        return cfg


class PerfViz(BaseWorker):
    """Sums up how long answers took."""

    def update_cfg(self, cfg: Any) -> Any:
        """Say who sums up, and by which calculator; what belongs to scores goes."""
        summarizer = cfg.get("summarizer", {})
        if not summarizer or summarizer.get("type") is None or summarizer.get("attr") != "performance":
            summarizer["type"] = get_config_type(DefaultPerfSummarizer)
        if summarizer.get("calculator") is None:
            summarizer["calculator"] = {"type": get_config_type(DefaultPerfMetricCalculator)}
        for key in ("attr", "dataset_abbrs", "summary_groups", "prompt_db"):
            summarizer.pop(key, None)
        cfg["summarizer"] = summarizer
        return cfg

    def do_work(self, cfg: Any) -> None:
        """Sum up."""
        summarizer = cfg.get("summarizer", {})
        summarizer["config"] = cfg
        made = build_from_cfg(summarizer)
        logger.info("Summarizing performance results...")
        made.summarize()


WORK_FLOW: Mapping[str, Sequence[type[BaseWorker]]] = {
    "all": [Infer, JudgeInfer, Eval, AccViz],
    "infer": [Infer],
    "judge": [JudgeInfer],
    "infer_judge": [Infer, JudgeInfer],
    "eval": [JudgeInfer, Eval, AccViz],
    "viz": [AccViz],
    "perf": [Infer, PerfViz],
    "perf_viz": [PerfViz],
}
"""The steps of each ``--mode``."""


class WorkFlowExecutor:
    """Does steps one after the other, each with a copy of the config.

    Args:
        cfg: The config.
        workflow: The steps.
    """

    def __init__(self, cfg: Any, workflow: Sequence[Any]) -> None:
        self.cfg, self.workflow = cfg, workflow

    def execute(self) -> None:
        """Do them."""
        for worker in self.workflow:
            worker.do_work(copy.deepcopy(self.cfg))
