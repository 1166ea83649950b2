"""What AISBench calls models, datasets and tasks, and where it files what was said."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger

logger = AISLogger()
_Config = Mapping[str, Any]


def model_abbr_from_cfg(cfg: _Config | Sequence[_Config]) -> str:
    """Return the name of a model: its ``abbr``, else its type and the end of its path; of several with ``_`` between.

    Raises:
        KeyError: It has neither ``abbr`` nor ``type``.
    """
    if not isinstance(cfg, Mapping):
        return "_".join(map(model_abbr_from_cfg, cfg))
    if "abbr" in cfg:
        return str(cfg["abbr"])
    parts = [str(cfg["type"])]
    if "path" in cfg:
        parts += os.path.realpath(cfg["path"]).split("/")[-2:]  # noqa: PTH - as upstream: a folder that need not be
    found = "_".join(parts).replace("/", "_")
    logger.debug("the model has no abbr and is called %s", found)
    return found


def dataset_abbr_from_cfg(cfg: _Config) -> str:
    """Return the name of a dataset: its ``abbr``, else made of path and name.

    Raises:
        KeyError: It has neither ``abbr`` nor ``path``.
    """
    if "abbr" in cfg:
        return str(cfg["abbr"])
    parts = [str(cfg["path"]), *([str(cfg["name"])] if "name" in cfg else [])]
    found = "_".join(parts).replace("/", "_")
    logger.debug("the dataset has no abbr and is called %s", found)
    return found


def merged_dataset_abbr_from_class(cfg: _Config) -> str:
    """Return what datasets of one class are called together: the class, in small letters."""
    return str(cfg["type"]).rpartition(".")[2].lower()


def merge_dataset_abbr_from_cfg(task: _Config) -> str:
    """Return what the datasets of a task are called: the one by its ``abbr``, several by their class."""
    first, *others = task["datasets"][0]
    return merged_dataset_abbr_from_class(first) if others else str(first["abbr"])


def task_abbr_from_cfg(task: _Config) -> str:
    """Return what a task is called: ``model/dataset``."""
    found = f"{task['models'][0]['abbr']}/{merge_dataset_abbr_from_cfg(task)}"
    logger.debug("the task is called %s", found)
    return found


def get_infer_output_path(
    model_cfg: _Config,
    dataset_cfgs: _Config | Sequence[_Config],
    root_path: str | None = None,
    file_extension: str = "json",
) -> str:
    """Return where the answers of a model to a dataset are filed.

    Raises:
        AISBenchRuntimeError: There is no folder to file them in.
    """
    if root_path is None:
        kind = errors.AISBenchRuntimeError  # type: ignore[attr-defined]
        raise kind(error_codes.UTILS_CODES.ROOT_PATH_NOT_SET, "there is no folder to file answers in")  # type: ignore[attr-defined]
    name = (
        dataset_abbr_from_cfg(dataset_cfgs)
        if isinstance(dataset_cfgs, Mapping)
        else merge_dataset_abbr_from_cfg({"datasets": [dataset_cfgs]})
    )
    path = str(Path(root_path) / model_abbr_from_cfg(model_cfg) / f"{name}.{file_extension}")
    logger.debug("answers are filed in %s", path)
    return path


def deal_with_judge_model_abbr(model_cfg: Any, judge_model_cfg: _Config, meta: bool = False) -> Any:
    """Return the models of a judged task: with one more that says who judged, unless one says so already."""
    models = (model_cfg,) if isinstance(model_cfg, Mapping) else model_cfg
    mark = "summarized-by--" if meta else "judged-by--"
    if any(mark in each["abbr"] for each in models):
        return models
    name = f"{mark}{model_abbr_from_cfg(judge_model_cfg)}"
    logger.debug("judged answers are those of %s", name)
    return (*models, {"abbr": name})
