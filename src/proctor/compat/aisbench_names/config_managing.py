"""AISBench's config manager (``ais_bench.benchmark.cli.config_manager``): from a command line to one config.

Configs are found below ``--config-dir``, and below the configs of an ``ais_bench`` that is installed.
"""
# ruff: noqa: PTH100, PTH103, PTH110, PTH118, PTH208 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import os
import os.path as osp
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.cli_names import (
    MODEL_FIELDS,
    CustomConfigChecker,
    fill_model_path_if_datasets_need,
    fill_test_range_use_num_prompts,
    recur_convert_config_type,
)
from proctor.compat.aisbench_names.config_files import match_cfg_file
from proctor.compat.aisbench_names.config_objects import Config
from proctor.compat.aisbench_names.custom_configs import (
    give_templates,
    make_custom_dataset_config,
    try_fill_in_custom_cfgs,
)
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.printed_tables import table_text
from proctor.compat.aisbench_names.registries import MODELS
from proctor.secrets import is_secret

_SUFFIX = "_datasets"
"""What names of lists of datasets end with."""
_EXAMPLE = "example"
"""The summarizer of runs that name none."""


class ConfigManager:
    """Makes a config of arguments.

    Args:
        args: What :class:`ArgumentParser` returns.
    """

    cfg: Any
    cfg_time_str: str

    def __init__(self, args: Any) -> None:
        self.args = args
        self.logger = AISLogger()
        self.table: list[list[str]] = []

    # -- where configs are -------------------------------------------------------------------------------------------

    def search_configs_location(self) -> None:
        """Print where the configs of the arguments are."""
        self.table = [["Task Type", "Task Name", "Config File Path"]]
        if self.args.models:
            self._search_models_config()
        if self.args.datasets:
            self._search_datasets_config()
        if self.args.summarizer:
            self._search_summarizers_config()
        print(table_text(self.table))  # noqa: T201 - asked for

    def _search_models_config(self) -> None:
        self._list_files("--models", self._folders("models"), self.args.models)

    def _search_datasets_config(self) -> None:
        names = [each.partition("/")[0] for each in self.args.datasets]
        self._list_files("--datasets", self._folders("datasets", "dataset_collections"), names)

    def _search_summarizers_config(self) -> None:
        name = (self.args.summarizer or _EXAMPLE).partition("/")[0]
        self._list_files("--summarizer", self._folders("summarizers"), [name])

    def _list_files(self, option: str, folders: Sequence[str], names: Sequence[str]) -> None:
        for name in names:
            for found, path in match_cfg_file(folders, [name]):
                self.table.append([option, found, osp.abspath(path)])

    def _folders(self, *kinds: str) -> list[str]:
        tops = [self.args.config_dir, *_installed_configs()]
        return [osp.join(top, kind) for top in tops for kind in kinds]

    # -- what they say -----------------------------------------------------------------------------------------------

    def load_config(self, workflow: Sequence[Any]) -> Any:
        """Return the config of the arguments, as workers need it, with its folder of work."""
        self.cfg = self._get_config_from_arg()
        self._update_and_init_work_dir()
        self._fill_dataset_configs()
        self._update_cfg_of_workflow(workflow)
        self._dump_and_reload_config()
        return self.cfg

    def _get_config_from_arg(self) -> Any:
        if self.args.config:
            config = try_fill_in_custom_cfgs(self._read(self.args.config, format_python_code=False))
            CustomConfigChecker(config, self.args.config).check()
            self._apply_cli_api_model_overrides(config.get("models") or ())
            config.merge_from_dict({"cli_args": vars(self.args)})
            return config
        parts = {
            "models": self._load_models_config(),
            "datasets": self._load_datasets_config(),
            "summarizer": self._load_summarizers_config(),
        }
        return Config({**parts, "cli_args": vars(self.args)}, format_python_code=False)

    def _read(self, path: str, **settings: Any) -> Any:
        """Return the config of a file.

        Raises:
            AISBenchConfigError: It cannot be read.
        """
        self.logger.debug("reading %s", path)
        try:
            return Config.fromfile(path, **settings)
        except Exception as error:
            what = f"{path} cannot be read: {error}"
            raise failure("AISBenchConfigError", "TMAN_CODES", "INVAILD_SYNTAX_IN_CFG_CONTENT", what) from error

    def _load_models_config(self) -> list[Any]:
        if not self.args.models:
            what = "there is neither a config nor --models: say which model is asked"
            raise failure("CommandError", "TMAN_CODES", "CMD_MISS_REQUIRED_ARG", what)
        found: list[Any] = []
        for name in self.args.models:
            for _, path in match_cfg_file(self._folders("models"), [name]):
                config = self._read(path)
                if "models" not in config:
                    raise _lacks(path, "'models'")
                found += config["models"]
        self._apply_cli_api_model_overrides(found)
        return found

    def _apply_cli_api_model_overrides(self, models: Iterable[Any]) -> None:
        """Put what the arguments say of models in the place of what their configs say; where they say it, that is."""
        said = {name: value for name in MODEL_FIELDS if (value := getattr(self.args, name, None)) is not None}
        name = getattr(self.args, "model_name", None)
        if not said and name is None:
            return
        for model in models:
            field = self._resolve_model_field_name(model) if name is not None else None
            wanted = {**said, **({field: name} if field is not None else {})}
            known = {key: value for key, value in wanted.items() if key in model or key == field}
            model.update(known)
            unknown = [key for key in wanted if key not in known] + (["model_name"] if name and not field else [])
            if unknown:
                options = ", ".join(f"--{key.replace('_', '-')}" for key in unknown)
                self.logger.warning("%s has no effect on %s, which does not say it", options, model.get("abbr", model))

    @staticmethod
    def _resolve_model_field_name(model: Mapping[str, Any]) -> str | None:
        """Return what a model's class calls the name under which it is served; ``None`` where it has no such name."""
        kind = model.get("type")
        found = MODELS.get(kind) if isinstance(kind, str) else kind
        if not callable(found):
            return None
        taken = signature(found).parameters
        return next((name for name in ("model", "model_name") if name in taken), None)

    def _load_datasets_config(self) -> list[Any]:
        if not self.args.datasets:
            return [self._custom_dataset()]
        found: list[Any] = []
        for argument in self.args.datasets:
            name, _, ending = argument.partition("/")
            for _, path in match_cfg_file(self._folders("datasets", "dataset_collections"), [name]):
                config = self._read(path)
                lists = [config[key] for key in config if key.endswith(ending or _SUFFIX)]
                if not lists:
                    raise _lacks(path, f"a name that ends with '{ending or _SUFFIX}'")
                found += [each for listed in lists for each in listed]
        return found

    def _custom_dataset(self) -> Any:
        if self.args.custom_dataset_path is None:
            what = "there is neither --datasets nor --custom-dataset-path: say what is asked"
            raise failure("CommandError", "TMAN_CODES", "CMD_MISS_REQUIRED_ARG", what)
        keys = ("path", "infer_method", "data_type", "meta_path")
        said = {key: getattr(self.args, f"custom_dataset_{key}") for key in keys}
        return make_custom_dataset_config({key: value for key, value in said.items() if value is not None})

    def _load_summarizers_config(self) -> Any:
        name, _, key = (self.args.summarizer or _EXAMPLE).partition("/")
        path = match_cfg_file(self._folders("summarizers"), [name])[0][1]
        return self._read(path)[key or "summarizer"]

    # -- what a run needs --------------------------------------------------------------------------------------------

    def _fill_dataset_configs(self) -> None:
        for dataset in self.cfg["datasets"]:
            if dataset.get("infer_cfg") is None:
                continue
            fill_test_range_use_num_prompts(self.cfg["cli_args"].get("num_prompts"), dataset)
            fill_model_path_if_datasets_need(self.cfg["models"][0], dataset)
            give_templates(dataset["infer_cfg"])

    def _update_and_init_work_dir(self) -> None:
        if self.args.work_dir is not None:
            self.cfg["work_dir"] = self.args.work_dir
        else:
            self.cfg.setdefault("work_dir", osp.join("outputs", "default"))
        self.cfg_time_str = self.args.dir_time_str
        if self.args.reuse:
            self.args.dir_time_str = self._reused(self.cfg.work_dir)
            self.logger.info("going on with %s", self.args.dir_time_str)
        self.cfg["work_dir"] = osp.join(self.cfg.work_dir, self.args.dir_time_str)
        os.makedirs(osp.join(self.cfg.work_dir, "configs"), exist_ok=True)

    def _reused(self, top: str) -> str:
        """Return the folder of an earlier run: the one that is named, or the last."""
        if self.args.reuse != "latest":
            return str(self.args.reuse)
        earlier = os.listdir(top) if osp.exists(top) else []
        if not earlier:
            self.logger.warning("there is no earlier run below %s to go on with", top)
            return str(self.args.dir_time_str)
        return max(earlier)

    def _update_cfg_of_workflow(self, workflow: Sequence[Any]) -> None:
        for worker in workflow:
            self.cfg = worker.update_cfg(self.cfg)

    def _dump_and_reload_config(self) -> None:
        """Write the config beside the run, and go on with what is written; keys of models are not written.

        Raises:
            CommandError: No row is to be asked.
            AISBenchConfigError: What was written cannot be read.
        """
        path = osp.join(self.cfg.work_dir, "configs", f"{self.cfg_time_str}_{os.getpid()}.py")
        recur_convert_config_type(self.cfg)
        kept = [
            {name: model.pop(name) for name in list(model) if is_secret(name)} for model in self.cfg.get("models") or ()
        ]
        self.cfg.dump(path)
        count = self.args.num_prompts
        if count is not None and count <= 0:
            what = f"--num-prompts is {count}, and must be at least 1"
            raise failure("CommandError", "TMAN_CODES", "INVALID_ARG_VALUE_IN_CMD", what)
        self.cfg["num_prompts"] = count
        self.cfg = self._read(path, format_python_code=False)
        for model, secrets in zip(self.cfg.get("models") or (), kept, strict=True):
            model.update(secrets)


def _lacks(path: str, what: str) -> Exception:
    message = f"{path} has no {what}"
    return failure("AISBenchConfigError", "TMAN_CODES", "CFG_CONTENT_MISS_REQUIRED_PARAM", message)


def _installed_configs() -> list[str]:
    """Return the folder of configs of an ``ais_bench`` that is installed beside Proctor; mostly there is none."""
    from proctor.compat.aliases import finder

    for other in (each for each in _finders() if each is not finder):
        spec = other.find_spec("ais_bench", None)
        if spec is not None and spec.submodule_search_locations:
            return [str(Path(top) / "benchmark" / "configs") for top in spec.submodule_search_locations]
    return []


def _finders() -> list[Any]:
    import sys

    return [each for each in sys.meta_path if hasattr(each, "find_spec")]


__all__ = ["Config", "ConfigManager", "CustomConfigChecker"]
