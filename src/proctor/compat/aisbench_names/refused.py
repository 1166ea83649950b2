"""Names of AISBench that can be imported, and say why they do nothing here when they are called."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from proctor.errors import UsageError


@cache
def _groups() -> Mapping[str, Any]:
    """Return reasons, and by module the names that have them."""
    found: Mapping[str, Any] = json.loads(files(__package__).joinpath("refused.json").read_bytes())
    return found


def refused_modules() -> dict[str, dict[str, str]]:
    """Return the names that refuse, by module, and where they are found."""
    found: dict[str, dict[str, str]] = {}
    for reason, group in _groups().items():
        for module, names in group["names"].items():
            found.setdefault(module, {}).update({name: f"{__name__}:{reason}__{name}" for name in names})
    return found


def __getattr__(attribute: str) -> Any:
    reason, _, name = attribute.partition("__")
    if reason not in _groups():
        raise AttributeError(attribute)
    return _refusing(reason, name)


@cache
def _refusing(reason: str, name: str) -> type[Any]:
    """Return a class that cannot be made, and a function that cannot be called: both are called alike."""
    group = _groups()[reason]

    def refuse(cls: type[Any], *_: Any, **__: Any) -> NoReturn:
        raise UsageError(f"'{cls.__name__}' of ais_bench is not here", why=group["why"], hint=group["hint"])

    members = group.get("members", {}).get(name, {})
    made = {
        **members,
        "__new__": refuse,
        "__doc__": f"``{name}`` of ais_bench: {group['why']}.",
        "__module__": __name__,
    }
    return type(name, (), made)
