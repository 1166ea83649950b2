"""``--config FILE``: a file with the arguments of ``lm-eval run``, as its ``EvaluatorConfig`` reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from proctor.cli.error_reporting import say
from proctor.dialects.foreign_flags import Flag
from proctor.dialects.lm_eval.flags import FLAGS
from proctor.errors import Location, UsageError, did_you_mean, reason_of
from proctor.foreign_text import read_source
from proctor.foreign_yaml import parse_yaml

_TRUST = frozenset({"trust_remote_code", "confirm_run_unsafe_code"})
_KEYS = {each.name.removeprefix("--"): each for each in FLAGS if each.name != "--config"}
_NOT_SAID: tuple[Any, ...] = (None, "", [], {}, ())
"""Values with which a file says nothing: lm-eval's own files list every key."""


def arguments_of_config(path: Path) -> list[tuple[Flag, tuple[str, ...]]]:
    """Return options with what follows them on the command line; switches that are off are left out.

    Raises:
        UsageError: The file cannot be read, has a key that lm-eval does not know, or a value that is none.
    """
    found: list[tuple[Flag, tuple[str, ...]]] = []
    for key, value in _read(path).items():
        known = _KEYS.get(key)
        if known is None:
            raise UsageError(
                f"{path} has the key '{key}', which is not an argument of lm-eval's",
                why=f"its arguments are {', '.join(_KEYS)}",
                hint=did_you_mean(str(key), _KEYS),
            )
        if key in _TRUST:
            if value:
                say(f"note: {key} of {path} is not taken over: --trust-code, typed, lets code of exams run")
            continue
        if value in _NOT_SAID:
            continue
        given = _given(known, key, value, path)
        if given is not None:
            found.append((known, given))
    return found


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = parse_yaml(read_source(path))
    except OSError as error:
        raise UsageError(f"the file of --config cannot be read: {path}", why=reason_of(error)) from None
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark
        where = None if place is None else Location(str(path), place.line + 1, place.column + 1)
        raise UsageError(f"{path} is not YAML", why=str(error.problem), location=where) from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} is a {type(found).__name__}", hint="model: hf and tasks: [arc_easy], key by key")
    return found


def _given(known: Flag, key: str, value: Any, path: Path) -> tuple[str, ...] | None:
    """Return what follows an option; ``None`` where a switch is off."""
    if known.takes == "nothing":
        if not isinstance(value, bool):
            raise UsageError(f"{key} of {path} is {value!r}", hint="true or false")
        return () if value else None
    if value is False and key == "apply_chat_template":
        return None
    if isinstance(value, list | Mapping) and not isinstance(value, _COLLECTIONS.get(key, ())):
        raise UsageError(f"{key} of {path} is a {type(value).__name__}", hint=f"{key}: one value")
    return _tasks(value, path) if key == "tasks" else (_text(known, key, value),)


_COLLECTIONS: Mapping[str, tuple[type, ...]] = {
    "tasks": (list, dict),
    "seed": (list,),
    "include_path": (list,),
    **dict.fromkeys(("samples", "cache_requests"), (dict, list)),
    **dict.fromkeys(("model_args", "gen_kwargs", "metadata"), (dict, list)),
    **dict.fromkeys(("wandb_args", "wandb_config_args", "trackio_args", "hf_hub_log_args"), (dict, list)),
}
"""Keys whose values may be lists or mappings; what is wrong with one of these is said where it is read."""


_SEPARATORS = {"seed": ",", "include_path": ":"}


def _text(known: Flag, key: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and key in _SEPARATORS:
        return _SEPARATORS[key].join(map(str, value))
    is_data = isinstance(value, Mapping) or (isinstance(value, list) and known.takes != "pairs")
    return json.dumps(value) if is_data else str(value)


def _tasks(value: Any, path: Path) -> tuple[str, ...]:
    listed = [each for each in value.split(",") if each.strip()] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise UsageError(
            f"tasks of {path} is not a list of names",
            hint="a task that is written out goes into a file of its own, whose path is named here",
        )
    return tuple(each.strip() for each in listed)
