"""Post-processors of configs: by the name that they are registered under, or the function that the config imports.

``scoring/postprocessors/postprocessors.json`` maps both to functions; no upstream code runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module, resources
from typing import Any

from proctor.dialects.aisbench.values import Reference
from proctor.errors import ScoringError, TrustError, did_you_mean
from proctor.settings import settings

_PROJECTS = {"opencompass": "opencompass", "ais_bench": "aisbench"}


@cache
def _table() -> Mapping[str, Any]:
    file = resources.files("proctor.scoring.postprocessors").joinpath("postprocessors.json")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def project_of(name: str, default: str = "opencompass") -> str:
    """Return which project a dotted name comes from."""
    return _PROJECTS.get(name.partition(".")[0], default)


def postprocessor_names() -> list[str]:
    """Return the names of all post-processors that are known."""
    return sorted(_table())


def postprocessor(config: Mapping[str, Any] | None, project: str = "opencompass") -> Callable[[Any], Any]:
    """Return the function that a post-processor of a config stands for.

    Args:
        config: ``type`` (a registered name, a function that the config imports, or, where code is trusted, a function)
            and its arguments; ``None`` leaves texts as they are.
        project: Which project's function is meant where a bare name has two.

    Raises:
        ScoringError: No post-processor has this name.
        TrustError: It is a function of the config's own, and code is not trusted.
    """
    if not config:
        return _unchanged
    arguments = {key: value for key, value in config.items() if key != "type"}
    if isinstance(arguments.get("postprocess"), str | Reference):
        arguments["postprocess"] = _function(arguments["postprocess"], config, project)
    function = _function(config.get("type"), config, project)
    return partial(function, **arguments) if arguments else function


def _unchanged(text: Any) -> Any:
    return text


def _function(kind: Any, config: Mapping[str, Any], project: str) -> Callable[..., Any]:
    place = getattr(config, "location", None)
    if callable(kind):
        if not settings.trust_code:
            raise TrustError("a post-processor is code", location=place, hint="say --trust-code to run it")
        function: Callable[..., Any] = kind
        return function
    name = kind.name if isinstance(kind, Reference) else str(kind)
    short = name.rpartition(".")[2]
    if (name == short or name.partition(".")[0] in _PROJECTS) and short in _table():
        return _named(short, project_of(name, project))
    if "." in name and settings.trust_code and (found := _imported(name)) is not None:
        return found
    raise ScoringError(
        f"the post-processor '{short}' is not known",
        location=place,
        why="its function would have to run; that needs --trust-code, and its package installed",
        hint=did_you_mean(short, _table()),
    )


def _named(name: str, project: str) -> Callable[..., Any]:
    entry = _table()[name]
    place = entry[project] if isinstance(entry, dict) else entry
    module, _, function = place.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def _imported(name: str) -> Callable[..., Any] | None:
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        return None
    return found if callable(found) else None
