"""What AISBench's command line fills into configs (``ais_bench.benchmark.utils.config.run``), and files of users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.cli_names import get_config_type, get_models_attr
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.dialects.aisbench.datasets.custom import custom_dataset

logger = AISLogger()
_ICL = "ais_bench.benchmark.openicl"
_PARTITIONER = "ais_bench.benchmark.partitioners.NaivePartitioner"
_RUNNER = "ais_bench.benchmark.runners.LocalRunner"
_INFER = "ais_bench.benchmark.tasks.OpenICLApiInferTask"
_EVAL = "ais_bench.benchmark.tasks.OpenICLEvalTask"
_UNSAID: Mapping[str, Mapping[str, Any]] = {
    "infer_cfg": {
        "prompt_template": {"type": f"{_ICL}.icl_prompt_template.PromptTemplate", "template": "{dummy}"},
        "retriever": {"type": f"{_ICL}.icl_retriever.ZeroRetriever"},
        "inferencer": {"type": f"{_ICL}.icl_inferencer.GenInferencer"},
    },
    "reader_cfg": {"input_columns": ["dummy"], "output_column": "dummy"},
    "eval_cfg": {"evaluator": {"type": f"{_ICL}.icl_evaluator.AccEvaluator"}},
}
"""What stands in the place of a section that a dataset lacks because its task does everything itself."""


def try_fill_in_custom_cfgs(config: Any) -> Any:
    """Fill in the sections that datasets lack, and return the config."""
    for dataset in config.get("datasets", ()) if "datasets" in config else ():
        for section, unsaid in _UNSAID.items():
            if section not in dataset:
                logger.debug("%s has no %s: one without content stands in", dataset.get("abbr"), section)
                dataset[section] = {
                    key: dict(value) if isinstance(value, dict) else value for key, value in unsaid.items()
                }
    return config


def fill_infer_cfg(cfg: Any, args: Any) -> None:
    """Say who asks, and give retrievers the templates of their datasets."""
    runner = {**_running(args), "task": {"type": _INFER}, "type": _RUNNER}
    for dataset in cfg["datasets"]:
        give_templates(dataset["infer_cfg"])
    cfg.merge_from_dict({"infer": {"partitioner": {"type": _PARTITIONER}, "runner": runner}})


def fill_eval_cfg(cfg: Any, args: Any) -> None:
    """Say who scores."""
    runner = {**_running(args), "task": {"type": _EVAL}, "type": _RUNNER}
    cfg.merge_from_dict({"eval": {"partitioner": {"type": _PARTITIONER}, "runner": runner}})


def give_templates(infer_cfg: Any) -> None:
    """Give a retriever the templates that stand beside it."""
    for key in ("prompt_template", "ice_template"):
        if key in infer_cfg:
            infer_cfg["retriever"][key] = infer_cfg[key]


def _running(args: Any) -> dict[str, Any]:
    keys = ("max_num_workers", "max_workers_per_gpu", "debug")
    return {key: getattr(args, key) for key in keys}


def make_custom_dataset_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dataset config that a user's file stands for; see :func:`~proctor.dialects.aisbench.datasets.custom`.

    Raises:
        DataError: The file is not one that can be read so.
    """
    return custom_dataset(config, "aisbench")


__all__ = [
    "fill_eval_cfg", "fill_infer_cfg", "get_config_type", "get_models_attr", "give_templates", "logger",
    "make_custom_dataset_config", "try_fill_in_custom_cfgs",
]  # fmt: skip
