"""Helpers that Unitxt's own programs and test modules import: texts, containers, generators, exceptions' companions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from proctor.artifacts import Artifact, fetch_artifact
from proctor.randomness import random_stream
from proctor.recipes.recipe import DatasetRecipe

# -- random generators ----------------------------------------------------------------------------------------


def new_random_generator(sub_seed: Any) -> Random:
    """Return a generator for some content, independent of all others; see :func:`proctor.randomness.random_stream`.

    Upstream takes the hash of whatever has one, which other processes compute otherwise (tuples of texts, NaN).
    Here only numbers, alone and in tuples, are taken by their hash.
    """
    is_numbers = isinstance(sub_seed, tuple) and all(isinstance(each, int) for each in sub_seed)
    return random_stream(str(hash(sub_seed)) if is_numbers else sub_seed)


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


# -- registration and policies --------------------------------------------------------------------------------


def register_all_artifacts(path: str | None = None) -> None:
    """Nothing to do, whatever the folder: every class is known by its name from the start."""
    del path


def get_dataset_artifact(dataset: Any, overwrite_kwargs: dict[str, Any] | None = None) -> Artifact:
    """Return the recipe that a query means."""
    if isinstance(dataset, str) and "=" in dataset.partition("[")[0] and not overwrite_kwargs:
        return fetch_artifact(f"{DatasetRecipe.type_name()}[{dataset}]")
    return fetch_artifact(dataset, overwrite_kwargs)
