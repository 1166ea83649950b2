"""Functions whose parameters have other names in Unitxt: each is called by its own names, and by Unitxt's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

from proctor.logs import get_logger as own_logger

_CALLED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "register_local_catalog": ("proctor.artifacts:register_local_catalog", {"catalog_path": "path"}),
    "image_to_data_url": ("proctor.data.images:image_to_data_url", {"image": "value"}),
    "isoftype": ("proctor.artifacts.types:is_of_type", {"object": "value"}),
    "nan_mean": ("proctor.statistics.resampling:nan_mean", {"x": "values", "scores": "values"}),
    "nan_max": ("proctor.scoring.reductions:nan_max", {"x": "values"}),
    "normalize_answer": ("proctor.scoring.distances:normalize_answer", {"s": "text"}),
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


def get_logger(name: str | None = None) -> logging.Logger:
    """Return the logger of all messages, or the one of a name."""
    ours = own_logger()
    return ours if name is None else logging.getLogger(name)
