"""Checks of config files: everything that can be known without data and without running code, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.dataset_checks import processor_problems
from proctor.dialects.aisbench.file_keys import file_problems, filled
from proctor.dialects.aisbench.grading_checks import scoring_problems
from proctor.dialects.aisbench.models import meta_template_of, model_config, model_name_problems, model_types
from proctor.dialects.aisbench.postprocessors import postprocessor_problems, project_of
from proctor.dialects.aisbench.reader import datasets_of, models_of, read_config
from proctor.dialects.aisbench.values import abbr_of, dotted_name, location_of, model_abbr_of, short_name
from proctor.errors import DatasetNotFoundError, Diagnostic, Location, ProctorError, did_you_mean, problems_of
from proctor.foreign_text import read_head
from proctor.formats.meta_template import CHAT_ROLES

_TEMPLATES = ("ice_template", "prompt_template")


def role_problems(datasets: Sequence[Mapping[str, Any]], models: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Yield roles that cannot be laid out for a model, one for each role and model.

    Models that continue a text and have no meta template leave roles out; nothing is wrong with any for them.

    Args:
        datasets: Of a file.
        models: Of the same file.
    """
    spoken: dict[str, tuple[str, Location | None, str]] = {}
    for dataset in datasets:
        inference = dataset.get("infer_cfg")
        parts = inference if isinstance(inference, Mapping) else {}
        for name in _TEMPLATES:
            for role, where in _roles(parts.get(name)):
                spoken.setdefault(role, (abbr_of(dataset), where, f"$.infer_cfg.{name}"))
    for model in models:
        if (known := known_roles(model)) is None:
            continue
        for role, (abbr, where, path) in spoken.items():
            if role not in known:
                hint = did_you_mean(role, known) or f"it has {', '.join(known)}; or say a fallback_role"
                what = f"'{role}' speaks in '{abbr}', and the model '{model_abbr_of(model)}' has no such role"
                yield Diagnostic(what, where, path, hint=hint)


def known_roles(model: Mapping[str, Any]) -> list[str] | None:
    """Return the roles that a model's prompts can have; ``None`` where they can have any."""
    template = meta_template_of(model)
    if template is None:
        entry = model_types().get(short_name(model.get("type", "")), {})
        return [*CHAT_ROLES] if entry.get("messages") else None
    if not template.get("round"):
        return None  # which is said by itself
    parts = [each for key in ("round", "reserved_roles") for each in _listed(template.get(key))]
    return [each["role"] for each in parts if isinstance(each, Mapping) and isinstance(each.get("role"), str)]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _roles(part: Any) -> Iterator[tuple[str, Location | None]]:
    """Yield the roles of the turns in a template that nobody else can speak for, each with its place."""
    if isinstance(part, list | tuple):
        for each in part:
            yield from _roles(each)
    elif isinstance(part, Mapping):
        role = part.get("role")
        if isinstance(role, str) and "fallback_role" not in part and ("prompt" in part or "prompt_mm" in part):
            yield role, location_of(part)
        for key, each in part.items():
            if key != "messages":  # RawPromptTemplate has the roles of chats
                yield from _roles(each)


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


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return the configs that a path is or has in it, and their problems, each once."""
    files = config_files(path)
    return files, list(dict.fromkeys(problem for file in files for problem in _problems(file)))


def _problems(file: Path) -> Iterator[Diagnostic]:
    try:
        values = read_config(file)
        datasets, models = datasets_of(values), models_of(values)
    except ProctorError as error:
        yield from error.diagnostics
        return
    yield from file_problems(values)
    yield from model_problems(datasets, models)
    repeats = set()
    for model in models:
        with suppress(ProctorError):  # which is among the problems of models
            repeats.add(model_config(model).repeats)
    for dataset in datasets:
        try:
            yield from _dataset_problems(filled(dataset, values), repeats - {1})
        except DatasetNotFoundError:
            continue  # the rows may be on another machine
        except ProctorError as error:
            yield from error.diagnostics


def problems_of_models(path: Path) -> list[Diagnostic]:
    """Return what is wrong with the models of a config that can be read.

    Raises:
        ProctorError: It cannot be read.
    """
    values = read_config(path)
    return list(model_problems(datasets_of(values), models_of(values)))


def model_problems(datasets: Sequence[Mapping[str, Any]], models: Sequence[Mapping[str, Any]]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the models of a file, and with the roles that they are to speak.

    Args:
        datasets: Of the file.
        models: Of the same file.
    """
    yield from role_problems(datasets, models)
    yield from model_name_problems(models)
    for model in models:
        try:
            model_config(model)
        except ProctorError as error:
            yield from error.diagnostics
        else:
            yield from _reading_problems(model)


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
        yield from problems_of(partial(config.sampled, times))
    yield from scoring_problems(config)
