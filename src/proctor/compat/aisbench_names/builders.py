"""Models and datasets made of their configs (``ais_bench.benchmark.utils.config.build``)."""

from __future__ import annotations

import copy
import ipaddress
import os
from collections.abc import Callable, Mapping
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.registries import LOAD_DATASET, MODELS, PERF_METRIC_CALCULATORS

logger = AISLogger()
Check = Callable[[Any], bool]

_MOST_REQUESTS, _MOST_TRIES, _MOST_TOKENS, _MOST_AT_ONCE, _PORTS = 64_000, 1_000, 131_072, 100_000, 65_536
"""Upstream's limits."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _address(value: Any) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return bool(value == "localhost")
    return True


def _rate(value: Any) -> bool:
    return value is None or value == "" or (_is_number(value) and value >= 0)


_CHECKS: Mapping[str, tuple[Check, str]] = {
    "attr": (lambda v: v in ("local", "service"), "attr must be 'local' or 'service'"),
    "abbr": (lambda v: isinstance(v, str), "abbr must be a string"),
    "use_timestamp": (lambda v: isinstance(v, bool), "use_timestamp must be a boolean"),
    "path": (lambda v: not v or (isinstance(v, str) and os.path.exists(v)), "path is not there"),  # noqa: PTH110
    "model": (lambda v: not v or isinstance(v, str), "model must be a string, or be left out"),
    "request_rate": (lambda v: _is_number(v) and 0 <= v <= _MOST_REQUESTS, "request_rate must be in [0, 64000]"),
    "retry": (lambda v: isinstance(v, int) and 0 <= v <= _MOST_TRIES, "retry must be an integer in [0, 1000]"),
    "host_port": (lambda v: isinstance(v, int) and 0 < v < _PORTS, "host_port must be in (0, 65536)"),
    "max_out_len": (
        lambda v: isinstance(v, int) and 0 < v <= _MOST_TOKENS, "max_out_len must be an integer in (0, 131072]",
    ),
    "batch_size": (
        lambda v: isinstance(v, int) and 0 < v <= _MOST_AT_ONCE, "batch_size must be an integer in (0, 100000]",
    ),
    "generation_kwargs": (lambda v: isinstance(v, dict), "generation_kwargs must be a dictionary"),
    "host_ip": (_address, "host_ip must be an IPv4 or IPv6 address, or 'localhost'"),
}  # fmt: skip
_TRAFFIC: Mapping[str, tuple[Check, str]] = {
    "burstiness": (_rate, "must be empty or a number that is not negative"),
    "ramp_up_strategy": (lambda v: v in (None, "", "linear", "exponential"), "must be 'linear' or 'exponential'"),
    "ramp_up_start_rps": (_rate, "must be empty or a number that is not negative"),
    "ramp_up_end_rps": (_rate, "must be empty or a number that is not negative"),
}
_NOT_THE_MODELS = (
    "use_timestamp", "run_cfg", "request_rate", "batch_size", "abbr", "attr", "summarizer_abbr", "pred_postprocessor",
    "min_out_len", "returns_tool_calls", "traffic_cfg",
)  # fmt: skip
"""Keys of a model's config that others read."""


def _validate_model_cfg(model_cfg: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong, by key."""
    checked = ((key, value, *_CHECKS[key]) for key, value in model_cfg.items() if key in _CHECKS)
    found = {key: words for key, value, check, words in checked if not check(value)}
    traffic = model_cfg.get("traffic_cfg", {})
    if not isinstance(traffic, dict):
        return {**found, "traffic_cfg": "must be a dictionary"}
    paced = ((key, *_TRAFFIC[key]) for key in _TRAFFIC if key in traffic)
    return {**found, **{f"traffic_cfg.{key}": words for key, check, words in paced if not check(traffic[key])}}


def build_model_from_cfg(model_cfg: Mapping[str, Any]) -> Any:
    """Return the model of a config.

    Raises:
        AISBenchConfigError: A value is not what its key takes; the message has all of them.
    """
    name = str(model_cfg.get("type", "")).split(".")[-1]
    if wrong := _validate_model_cfg(model_cfg):
        code = error_codes.UTILS_CODES.MODEL_CONFIG_VALIDATE_FAILED  # type: ignore[attr-defined]
        raise errors.AISBenchConfigError(code, f"{name} cannot be made: {wrong}")  # type: ignore[attr-defined]
    kept = {key: value for key, value in model_cfg.items() if key not in _NOT_THE_MODELS}
    return MODELS.build(copy.deepcopy(kept))


def build_dataset_from_cfg(dataset_cfg: Mapping[str, Any], task_state_manager: Any = None) -> Any:
    """Return the dataset of a config, without what asks and scores it."""
    made = {key: copy.deepcopy(value) for key, value in dataset_cfg.items() if key not in ("infer_cfg", "eval_cfg")}
    if task_state_manager is not None:
        made["task_state_manager"] = task_state_manager
    return LOAD_DATASET.build(made)


def build_perf_metric_calculator_from_cfg(metric_cfg: Mapping[str, Any]) -> Any:
    """Return what a program registered to measure load."""
    return PERF_METRIC_CALCULATORS.build(copy.deepcopy(dict(metric_cfg)))
