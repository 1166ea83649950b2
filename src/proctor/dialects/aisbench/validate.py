"""Checks of config files: everything that can be known without data and without running code, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.components import build_retriever, build_template
from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.evaluators import evaluation_problems
from proctor.dialects.aisbench.file_keys import file_problems, is_custom
from proctor.dialects.aisbench.gradings import reference_problems
from proctor.dialects.aisbench.model_names import model_name_problems
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.pair_judges import pair_problems
from proctor.dialects.aisbench.part_values import processor_problems
from proctor.dialects.aisbench.postprocessors import postprocessor_problems, project_of
from proctor.dialects.aisbench.reader import datasets_of, models_of, read_config
from proctor.dialects.aisbench.role_checks import role_problems
from proctor.dialects.aisbench.values import dotted_name, location_of
from proctor.errors import Diagnostic, ProctorError
from proctor.foreign_text import read_head

_SIGNS = (b"_datasets", b"datasets =", b"models =", b"read_base", b"reader_cfg", b"infer_cfg")
"""What a Python file in a folder has to contain to be taken for a config."""
_MOST_BYTES = 1_000_000  # more than any config has; a data file that is called .py is not read whole


def config_files(path: Path) -> list[Path]:
    """Return the file, or the files below a folder that look like configs."""
    if path.is_file():
        return [path] if path.suffix == ".py" else []
    return [file for file in sorted(path.rglob("*.py")) if _looks_like_a_config(file)]


def _looks_like_a_config(file: Path) -> bool:
    try:
        text = read_head(file, _MOST_BYTES)
    except OSError:
        return False
    return any(sign in text for sign in _SIGNS)


def validate(path: Path) -> list[Diagnostic]:
    """Return every problem of a config, or of all configs below a folder, each once."""
    found: dict[Diagnostic, None] = {}
    for file in config_files(path):
        found.update(dict.fromkeys(_problems(file)))
    return list(found)


def _problems(file: Path) -> Iterator[Diagnostic]:
    try:
        values = read_config(file)
        datasets, models = datasets_of(values), models_of(values)
    except ProctorError as error:
        yield from error.diagnostics
        return
    yield from file_problems(values)
    yield from role_problems(datasets, models)
    yield from model_name_problems(models)
    repeats = set()
    for model in models:
        try:
            repeats.add(model_config(model).repeats)
        except ProctorError as error:
            yield from error.diagnostics
        else:
            yield from _reading_problems(model)
    for dataset in datasets:
        if not is_custom(dataset):  # the file's problems have those of the others
            yield from _dataset_problems(dataset, repeats - {1})


def _reading_problems(model: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the post-processor of a model, or with those that it has by names of datasets."""
    found = model.get("pred_postprocessor")
    if not isinstance(found, Mapping):  # the model's keys are checked with it
        return
    several = {f".{name}": each for name, each in found.items()} if found and "type" not in found else {"": found}
    for name, each in several.items():
        problems = list(processor_problems(each, "$", found))
        if not problems and isinstance(each, Mapping):
            problems = list(postprocessor_problems(each, project_of(dotted_name(each.get("type")))))
        yield from (one.at(location_of(model), f"$.pred_postprocessor{name}") for one in problems)


def _dataset_problems(dataset: Mapping[str, Any], repeats: Iterable[int]) -> Iterator[Diagnostic]:
    """Yield the problems of a dataset; ``repeats`` is how often models of its file answer every row."""
    try:
        config = dataset_config(dataset)
    except ProctorError as error:
        yield from error.diagnostics
        return
    for times in sorted(repeats):
        try:
            config.sampled(times)
        except ProctorError as error:
            yield from error.diagnostics
    inference = config.inference  # what is named rightly, and is not here
    for name in ("ice_template", "prompt_template"):
        try:
            build_template(inference.get(name), f"$.infer_cfg.{name}")
        except ProctorError as error:
            yield from error.diagnostics
    try:
        build_retriever(inference.get("retriever"))
    except ProctorError as error:
        yield from error.diagnostics
    if dataset.get("eval_cfg") == {}:
        hint = "evaluator=dict(type=AccEvaluator); a dataset that is only asked has no eval_cfg"
        yield Diagnostic("the eval_cfg names no evaluator", config.location, "$.eval_cfg", hint=hint)
    yield from evaluation_problems(config.evaluation)
    yield from reference_problems(config)
    judge = config.evaluation.get("evaluator") or {}
    if isinstance(judge, Mapping) and "of_dataset" in judge:
        yield from pair_problems(judge, judge["of_dataset"])
