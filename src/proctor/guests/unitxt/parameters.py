"""Functions whose parameters have other names in Unitxt: each is called by its own names, and by Unitxt's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

from proctor.guests.unitxt.paths import validate_query_and_break_to_components
from proctor.logs import get_logger as own_logger

_CALLED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "register_local_catalog": ("proctor.artifacts:register_local_catalog", {"catalog_path": "path"}),
    "image_to_data_url": ("proctor.data.images:image_to_data_url", {"image": "value"}),
    "parse_key_equals_value_string_to_dict": ("proctor.artifacts.query:parse_assignments", {"args": "text"}),
    "parse_random_mix_string": ("proctor.data.splitters:parse_random_mix_string", {"input_str": "text"}),
    "parse_slices_string": ("proctor.data.splitters:parse_slices_string", {"input_str": "text"}),
    "isoftype": ("proctor.artifacts.types:is_of_type", {"object": "value"}),
    "flatten": ("proctor.data.collection_operators:flattened", {"container": "members"}),
    "nan_mean": ("proctor.statistics.resampling:nan_mean", {"x": "values", "scores": "values"}),
    "nan_max": ("proctor.scoring.reductions:nan_max", {"x": "values"}),
    "normalize_answer": ("proctor.scoring.distances:normalize_answer", {"s": "text"}),
    "is_package_installed": ("proctor.guests.unitxt.functions:is_package_installed", {"package_name": "name"}),
    "is_module_available": ("proctor.guests.unitxt.functions:is_package_installed", {"module_name": "name"}),
    "parse_string_types_instead_of_actual_objects": (
        "proctor.guests.unitxt.type_names:parse_type_string",
        {"obj": "type_string"},
    ),
}
"""By Unitxt's name: the function here, and its parameters by what Unitxt calls them."""


def __getattr__(name: str) -> Any:
    if name not in _CALLED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place, names = _CALLED[name]
    module, _, attribute = place.partition(":")
    function = _under(getattr(import_module(module), attribute), names)
    globals()[name] = function  # one function for all who import it
    return function


def _under(function: Callable[..., Any], names: Mapping[str, str]) -> Callable[..., Any]:
    """Return a function that takes arguments under further names, too."""

    @wraps(function)
    def called(*args: Any, **given: Any) -> Any:
        return function(*args, **{names.get(name, name): value for name, value in given.items()})

    called.also_takes = frozenset(names)  # type: ignore[attr-defined]
    return called


def is_subpath(subpath: str, fullpath: str, allow_int_index: bool = True) -> bool:
    """Whether a path starts with all components of another one; without ``allow_int_index``, numbers are names."""
    head, whole = (
        validate_query_and_break_to_components(each, allow_int_index=allow_int_index) for each in (subpath, fullpath)
    )
    return whole[: len(head)] == head


def get_logger(name: str | None = None) -> logging.Logger:
    """Return the logger of all messages, or the one of a name."""
    ours = own_logger()
    return ours if name is None else logging.getLogger(name)
