"""A user's own file as a dataset, step by step (``ais_bench.benchmark.datasets.custom``)."""

from __future__ import annotations

import builtins
import csv
import json
from collections.abc import Mapping, MutableMapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from proctor.compat.aisbench_names.custom_configs import make_custom_dataset_config as _config_of
from proctor.dialects.aisbench.datasets.custom import described, made_of
from proctor.dialects.aisbench.datasets.row_functions import answer_lengths
from proctor.randomness import random_stream

_MODULE = "ais_bench.benchmark.datasets.custom"
_ENDINGS = (".jsonl", ".csv")


def stringfy_types(obj: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Put the dotted names of classes in the place of every ``type``, however deep; return the same object."""
    for key, value in obj.items():
        if key == "type":
            obj[key] = value if isinstance(value, str) else f"{value.__module__}.{value.__name__}"
        elif isinstance(value, MutableMapping):
            stringfy_types(value)
    return obj


def make_mcq_gen_config(meta: Mapping[str, Any], logger: Any) -> dict[str, Any]:
    """Return the dataset config of questions with options."""
    logger.debug("'%s' is asked with options %s", meta["path"], meta["options"])
    return made_of(meta, ("mcq", "gen"), "aisbench")


def make_qa_gen_config(meta: Mapping[str, Any], logger: Any) -> dict[str, Any]:
    """Return the dataset config of questions without options."""
    logger.debug("'%s' is asked without options", meta["path"])
    return made_of({"options": [], **meta}, ("qa", "gen"), "aisbench")


def parse_example_dataset(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file's first row says of it, and over that what a config says.

    Raises:
        ValueError: The file has another ending than ``.jsonl`` and ``.csv``.
        StopIteration: It has no row, as upstream.
    """
    path = str(config["path"])
    if not path.endswith(_ENDINGS):
        raise ValueError(f"'{path}' is not one of {', '.join(_ENDINGS)}")
    with builtins.open(path, encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
        row = json.loads(file.readline()) if path.endswith(".jsonl") else next(csv.DictReader(file))
    return {**described(path, row, "aisbench"), "meta_path": config.get("meta_path"), **config}


def make_custom_dataset_config(config: Mapping[str, Any]) -> Any:
    """Return the dataset config that a user's file stands for.

    Raises:
        ValueError: Files of its kind are not asked so.
    """
    parse = import_module(_MODULE).parse_example_dataset
    if parse is parse_example_dataset:
        return _config_of(config)
    meta = parse(config)  # a program's own
    makers = {("mcq", "gen"): make_mcq_gen_config, ("qa", "gen"): make_qa_gen_config}
    make = makers.get((meta["data_type"], meta["infer_method"]))
    if make is None:
        raise ValueError(f"a dataset of the type '{meta['data_type']}' is not asked as '{meta['infer_method']}'")
    return make(meta, SimpleNamespace(debug=lambda *_: None))


def get_max_token_list_from_meta_json_file(output_config: Mapping[str, Any], prompt_length: int) -> list[int]:
    """Return how long each answer may be; draws follow from the settings' seed.

    Args:
        output_config: ``method`` and ``params`` of a ``.meta.json``.
        prompt_length: How many answers there are.

    Raises:
        ValueError: There is no such method.
    """
    return answer_lengths(output_config, prompt_length, random_stream("output_config"))
