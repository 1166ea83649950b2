"""AISBench's command line as programs use it: its parser, its checks of numbers, what it fills into configs."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger

logger = AISLogger()
DEFAULT_PRESSURE_TIME = 15  # seconds
MAX_PRESSURE_TIME = 24 * 60 * 60
MAX_NUM_WORKERS = int((os.cpu_count() or 1) * 0.8)
DATASETS_NEED_MODELS = [
    f"ais_bench.benchmark.datasets.{each}"
    for each in ("synthetic.SyntheticDataset", "sharegpt.ShareGPTDataset", "mooncake_trace.MooncakeTraceDataset")
]
"""Dataset types that count tokens by the model's tokenizer."""
MODES = ("all", "infer", "eval", "viz", "perf", "perf_viz", "judge", "infer_judge")
Config = MutableMapping[str, Any]


def _wrong(kind: str, family: str, code: str, message: str) -> Exception:
    error: Exception = getattr(errors, kind)(getattr(getattr(error_codes, family), code), message)
    return error


# -- numbers ---------------------------------------------------------------------------------------------------------


def create_int_validator(
    param_name: str,
    min_value: int | None = None,
    max_value: int | None = None,
    allow_none: bool = False,
    error_message_suffix: str | None = None,
) -> Callable[[Any], int | None]:
    """Return a function that makes a whole number of an argument, or fails with AISBench's error.

    Args:
        param_name: How messages call the argument.
        min_value: The least.
        max_value: The most.
        allow_none: Whether ``None`` (in words, too) stays.
        error_message_suffix: What messages end with.
    """
    end = f" {error_message_suffix}" if error_message_suffix else ""

    def validator(value: Any) -> int | None:
        if allow_none and str(value).lower() == "none":
            return None
        try:
            number = int(value)
        except (ValueError, TypeError):
            what = f"`{param_name}` must be an integer, but got {value!r}{end}"
            raise _wrong("AISBenchConfigError", "UTILS_CODES", "INVALID_INTEGER_TYPE", what) from None
        if min_value is not None and number < min_value:
            what = f"`{param_name}` must be >= {min_value}, but got {number}{end}"
            raise _wrong("AISBenchConfigError", "UTILS_CODES", "ARGUMENT_TOO_SMALL", what)
        if max_value is not None and number > max_value:
            what = f"`{param_name}` must be <= {max_value}, but got {number}{end}"
            raise _wrong("AISBenchConfigError", "UTILS_CODES", "ARGUMENT_TOO_LARGE", what)
        return number

    return validator


validate_max_workers = create_int_validator("--max-num-workers", 1, MAX_NUM_WORKERS)
validate_max_workers_per_gpu = create_int_validator("--max-workers-per-gpu", 1)
validate_num_prompts = create_int_validator("--num-prompts", 1, allow_none=True)
validate_num_warmups = create_int_validator("--num-warmups", 0)
validate_pressure_time = create_int_validator("--pressure-time", 1, MAX_PRESSURE_TIME)


class ArgumentParser:
    """The parser of ``ais_bench``'s command line; ``proctor run`` takes its options, too, or says what does it."""

    def __init__(self) -> None:
        self.parser = argparse.ArgumentParser(description="Run exams (AISBench's options)")
        self.parser.add_argument("config", nargs="?", help="a config")
        self._base_parser()
        self._perf_parser()
        self._accuracy_parser()
        self._custom_dataset_parser()

    def _base_parser(self) -> None:
        self._take("base_args", "response_anomaly_args", "api_model_args")

    def _perf_parser(self) -> None:
        self._take("perf_args")

    def _accuracy_parser(self) -> None:
        self._take("accuracy_args")

    def _custom_dataset_parser(self) -> None:
        self._take("custom_dataset_args")

    def _take(self, *groups: str) -> None:
        for group in groups:
            section = self.parser.add_argument_group(group)
            for names, settings in _OPTIONS[group]:
                section.add_argument(*names, **settings)

    def parse_args(self) -> argparse.Namespace:
        """Return the arguments of this process, with the time; a rehearsal is shown in this process."""
        found = self.parser.parse_args()
        found.cfg_time_str = found.dir_time_str = get_current_time_str()
        found.debug = found.debug or found.dry_run
        return found


_SWITCH: Mapping[str, Any] = {"action": "store_true", "default": False}
_MANY: Mapping[str, Any] = {"nargs": "+", "default": None}
_EITHER: Mapping[str, Any] = {"action": argparse.BooleanOptionalAction, "default": None}
MODEL_FIELDS = (
    "path", "request_rate", "retry", "api_key", "host_ip", "host_port", "url", "max_out_len", "batch_size",
    "trust_remote_code", "generation_kwargs",
)  # fmt: skip
"""Options that stand in the place of what every model's config says under the same name."""
_OPTIONS: Mapping[str, Sequence[tuple[tuple[str, ...], Mapping[str, Any]]]] = {
    "base_args": (
        (("--models",), _MANY),
        (("--datasets",), _MANY),
        (("--summarizer",), {"default": None}),
        (("--debug",), _SWITCH),
        (("-s", "--search"), _SWITCH),
        (("--dry-run",), _SWITCH),
        (("-m", "--mode"), {"choices": MODES, "default": "all", "type": str}),
        (("-r", "--reuse"), {"nargs": "?", "type": str, "const": "latest"}),
        (("-w", "--work-dir"), {"default": None, "type": str}),
        (("--config-dir",), {"default": "configs", "type": str}),
        (("--max-num-workers",), {"type": validate_max_workers, "default": 1}),
        (("--max-workers-per-gpu",), {"type": validate_max_workers_per_gpu, "default": 1}),
        (("--num-prompts",), {"type": validate_num_prompts, "default": None}),
        (("--num-warmups",), {"type": validate_num_warmups, "default": 1}),
    ),
    "response_anomaly_args": (
        (("--response-anomaly",), _EITHER),
        (("--response-anomaly-payload-retention",), {"choices": ("all", "anomalies", "none"), "default": None}),
    ),
    "api_model_args": (
        *(
            ((f"--{name}",), {"type": str, "default": None})
            for name in ("path", "model-name", "api-key", "host-ip", "url")
        ),
        *(
            ((f"--{name}",), {"type": int, "default": None})
            for name in ("retry", "host-port", "max-out-len", "batch-size")
        ),
        (("--request-rate",), {"type": float, "default": None}),
        (("--trust-remote-code",), _EITHER),
        (("--generation-kwargs",), {"type": json.loads, "default": None}),
    ),
    "perf_args": (
        (("--spec-decode",), _SWITCH),
        (("--pressure",), _SWITCH),
        (("--pressure-time",), {"type": validate_pressure_time, "default": DEFAULT_PRESSURE_TIME}),
    ),
    "accuracy_args": (
        (("--merge-ds",), _SWITCH),
        (("--dump-eval-details",), _SWITCH),
        (("--dump-extract-rate",), _SWITCH),
    ),
    "custom_dataset_args": (
        (("--custom-dataset-path",), {"type": str}),
        (("--custom-dataset-meta-path",), {"type": str}),
        (("--custom-dataset-data-type",), {"type": str, "choices": ["mcq", "qa"]}),
        (("--custom-dataset-infer-method",), {"type": str, "choices": ["gen"]}),
    ),
}


# -- configs ---------------------------------------------------------------------------------------------------------


def get_current_time_str() -> str:
    """Return the time as folders of work are called: ``20260101_101500``."""
    return datetime.now().strftime("%Y%m%d_%H%M%S")  # noqa: DTZ005 - this machine's time, as upstream


def get_config_type(obj: Any) -> str | None:
    """Return the dotted name of a class; texts and ``None`` stay."""
    return obj if obj is None or isinstance(obj, str) else f"{obj.__module__}.{obj.__name__}"


def recur_convert_config_type(cfg: Any) -> Any:
    """Write dotted names in place of the classes in a config, and return it."""
    if isinstance(cfg, MutableMapping):
        for key, value in cfg.items():
            is_class = key in ("type", "judge_dataset_type")
            cfg[key] = get_config_type(value) if is_class else recur_convert_config_type(value)
    elif isinstance(cfg, list):
        cfg[:] = map(recur_convert_config_type, cfg)
    return cfg


def fill_model_path_if_datasets_need(model_cfg: Mapping[str, Any], dataset_cfg: Config) -> None:
    """Tell a dataset that counts tokens where the model's tokenizer is.

    Raises:
        AISBenchConfigError: The model does not say.
    """
    if get_config_type(dataset_cfg.get("type")) not in DATASETS_NEED_MODELS:
        return
    if not model_cfg.get("path"):
        what = "rows of this dataset are made by the model's tokenizer: say its folder as 'path' of the model"
        raise _wrong("AISBenchConfigError", "UTILS_CODES", "SYNTHETIC_DS_MISS_REQUIRED_PARAM", what)
    trusts = model_cfg.get("trust_remote_code", False)
    dataset_cfg.update({"model_path": model_cfg["path"], "trust_remote_code": trusts})


def fill_test_range_use_num_prompts(num_prompts: int | None, dataset_cfg: Config) -> None:
    """Let a dataset take its first rows only, unless it says itself which."""
    if not num_prompts:
        return
    reader = dataset_cfg["reader_cfg"]
    if "test_range" in reader:
        logger.warning("--num-prompts has no effect: the dataset has a test_range")
    else:
        reader["test_range"] = f"[:{num_prompts}]"


def clear_repeat_tasks(tasks: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return tasks without those whose model and dataset an earlier one has."""
    found: dict[tuple[Any, Any], Mapping[str, Any]] = {}
    for task in tasks:
        found.setdefault((task["models"][0].get("abbr"), task["datasets"][0][0].get("abbr")), task)
    return list(found.values())


def get_models_attr(cfg: Mapping[str, Any]) -> str:
    """Return where the models of a config are: ``service`` or ``local``.

    Raises:
        AISBenchConfigError: One says something else, or they are in both places.
    """
    found = dict.fromkeys(model.get("attr", "service") for model in cfg["models"])
    for attribute in found:
        if attribute not in ("local", "service"):
            what = f"a model's attr is {attribute!r}, and not 'local' or 'service'"
            raise _wrong("AISBenchConfigError", "UTILS_CODES", "ILLEGAL_MODEL_ATTR", what)
    if len(found) != 1:
        what = "models here and models behind a server cannot be asked together"
        raise _wrong("AISBenchConfigError", "UTILS_CODES", "MIXED_MODEL_ATTRS", what)
    return str(next(iter(found)))


class CustomConfigChecker:
    """Sees to it that a config has what a run needs.

    Args:
        config: Its names.
        file_path: Where it is, for errors.
    """

    MODEL_REQUIRED_FIELDS: ClassVar[list[str]] = ["abbr"]
    DATASET_REQUIRED_FIELDS: ClassVar[list[str]] = ["abbr"]
    SUMMARIZER_REQUIRED_FIELDS: ClassVar[list[str]] = ["attr"]

    def __init__(self, config: Mapping[str, Any], file_path: str) -> None:
        self.config, self.file_path = config, file_path

    def check(self) -> None:
        """Check models, datasets and the summarizer.

        Raises:
            AISBenchConfigError: Something is missing, or of another type.
        """
        self._check_models_config()
        self._check_datasets_config()
        self._check_summarizer_config()

    def _check_models_config(self) -> None:
        self._check_list("models", self.MODEL_REQUIRED_FIELDS)

    def _check_datasets_config(self) -> None:
        self._check_list("datasets", self.DATASET_REQUIRED_FIELDS)

    def _check_summarizer_config(self) -> None:
        self._check_fields(self._found("summarizer"), "summarizer", self.SUMMARIZER_REQUIRED_FIELDS)

    def _check_list(self, part: str, wanted: Iterable[str]) -> None:
        listed = self._found(part)
        if not isinstance(listed, list):
            raise self._wrong_type(f"'{part}' is no list")
        for each in listed:
            self._check_fields(each, part, wanted)

    def _found(self, part: str) -> Any:
        if not (found := self.config.get(part)):
            raise self._missing(f"there is no '{part}'")
        return found

    def _check_fields(self, part: Any, name: str, wanted: Iterable[str]) -> None:
        if not isinstance(part, Mapping):
            raise self._wrong_type(f"'{name}' holds something that is no dictionary")
        for field in wanted:
            if field not in part:
                raise self._missing(f"'{name}' holds something without '{field}'")

    def _missing(self, what: str) -> Exception:
        message = f"{self.file_path}: {what}"
        return _wrong("AISBenchConfigError", "TMAN_CODES", "CFG_CONTENT_MISS_REQUIRED_PARAM", message)

    def _wrong_type(self, what: str) -> Exception:
        return _wrong("AISBenchConfigError", "TMAN_CODES", "TYPE_ERROR_IN_CFG_PARAM", f"{self.file_path}: {what}")
