"""Helpers that Unitxt's own programs and test modules import: texts, containers, generators, exceptions' companions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.errors import SettingsError
from proctor.randomness import random_stream
from proctor.recipes.recipe import DatasetRecipe
from proctor.safe_files import written
from proctor.settings import settings

# -- random generators ----------------------------------------------------------------------------------------


def new_random_generator(sub_seed: Any) -> Random:
    """Return a generator for some content, independent of all others; see :func:`proctor.randomness.random_stream`.

    Upstream takes the hash of whatever has one, which other processes compute otherwise (tuples of texts, NaN).
    Here only numbers, alone and in tuples, are taken by their hash.
    """
    is_numbers = isinstance(sub_seed, tuple) and all(isinstance(each, int) for each in sub_seed)
    return random_stream(str(hash(sub_seed)) if is_numbers else sub_seed)


def get_random_generator_based_on_instance(instance: Mapping[str, Any], local_seed: Any = None) -> Random:
    """Return the generator that draws an instance's demos."""
    content = dict(instance["input_fields"])
    return random_stream(content if local_seed is None else {**content, "local_seed": local_seed})


# -- texts ----------------------------------------------------------------------------------------------------


# -- containers and files -------------------------------------------------------------------------------------


def flatten_dict(d: Mapping[str, Any], parent_key: str = "", sep: str = "_") -> dict[str, Any]:
    """Return nested dicts as one, with the names of the way joined by ``sep``."""
    flat: dict[str, Any] = {}
    for key, value in d.items():
        name = f"{parent_key}{sep}{key}" if parent_key else key
        flat.update(flatten_dict(value, name, sep) if isinstance(value, dict) else {name: value})
    return flat


def load_json(path: str) -> Any:
    """Return what a JSON file holds.

    Raises:
        RuntimeError: It is not JSON.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise RuntimeError(f"Failed to decode json file at '{path}' with file content:\n{text}") from error


def json_dump(data: Any) -> str:
    """Return data as indented JSON."""
    return json.dumps(data, indent=4, ensure_ascii=False)


def save_to_file(path: str, data: str) -> None:
    """Write a text and a line end into a file."""
    with written(Path(path)) as file:
        file.write(f"{data}\n".encode())


# -- registration and policies --------------------------------------------------------------------------------


def register_all_artifacts(path: str | None = None) -> None:
    """Nothing to do, whatever the folder: every class is known by its name from the start."""
    del path


class ProjectArtifactRegisterer:
    """Nothing to do, as in :func:`register_all_artifacts`."""


def is_name_legal_for_catalog(name: str) -> bool:
    """Whether a name can be that of an artifact in a catalog."""
    return re.fullmatch(r"[\w.]+\n?", name) is not None


def get_artifacts_data_classification(artifact: str) -> list[str] | None:
    """Return the classes of data that ``UNITXT_DATA_CLASSIFICATION_POLICY`` lets an artifact see; ``None`` for all.

    Raises:
        RuntimeError: The variable is not a JSON object of lists of texts.
    """
    variable = "UNITXT_DATA_CLASSIFICATION_POLICY"
    try:
        text = settings.data_classification_policy or os.environ.get(variable, "")
        found = json.loads(text) if text else {}
    except (ValueError, SettingsError):
        found = None
    if not isinstance(found, dict):
        raise RuntimeError(  # noqa: TRY004 - what programs catch
            f"If specified, the value of '{variable}' should be a valid json dictionary. "
            f"Got '{os.environ.get(variable, '')}' instead."
        )
    return found.get(artifact)


def verbosed_fetch_artifact(identifier: str) -> Artifact:
    """Return an artifact by its name."""
    return fetch_artifact(identifier)


def get_dataset_artifact(dataset: Any, overwrite_kwargs: dict[str, Any] | None = None) -> Artifact:
    """Return the recipe that a query means."""
    if isinstance(dataset, str) and "=" in dataset.partition("[")[0] and not overwrite_kwargs:
        return fetch_artifact(f"{DatasetRecipe.type_name()}[{dataset}]")
    return fetch_artifact(dataset, overwrite_kwargs)
