"""Signatures of OpenCompass' and AISBench's classes and functions, from their own sources.

``signatures.json`` is written by ``conformance/aisbench/signatures.py``, which reads the released packages. Nothing of
theirs is imported.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from proctor.dialects.aisbench.values import Reference, dotted_name

ELSEWHERE = object()
"""A default that is written in the package's code: an object, a long text, the value of a variable."""

_PROJECTS = {"opencompass": "opencompass", "ais_bench": "aisbench"}


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a class or a function.

    Attributes:
        needed: Arguments without a default.
        defaults: The others, with their defaults; :data:`ELSEWHERE` where the table does not have one.
        is_open: Whether it takes whatever else it is given, and drops it.
    """

    needed: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False

    @property
    def names(self) -> frozenset[str]:
        """All arguments."""
        return frozenset((*self.needed, *self.defaults))

    @classmethod
    def read(cls, text: str) -> Signature:
        """Return the signature in a text: ``path, name=None, **``."""
        bare = text.removesuffix("**").removesuffix(", ")
        call = ast.parse(f"f({bare})", mode="eval").body
        assert isinstance(call, ast.Call)  # noqa: S101 - the text was put in the parentheses of a call
        defaults = {each.arg: _value(each.value) for each in call.keywords if each.arg is not None}
        needed = tuple(each.id for each in call.args if isinstance(each, ast.Name))
        return cls(needed, defaults, text.endswith("**"))


def _value(node: ast.expr) -> Any:
    value = ast.literal_eval(node)
    return ELSEWHERE if value is ... else value


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("signatures.json").read_bytes())
    return table


def version_of(project: str) -> str:
    """Return the release of a package that the table was read from."""
    return str(_table()[project]["version"])


def known_names(project: str, kind: str) -> frozenset[str]:
    """Return the names of a package's classes of a kind (``datasets``, ``models``, ``evaluators`` …)."""
    return frozenset(_table()[project].get(kind, ()))


@cache
def signature(project: str, kind: str, name: str) -> Signature | None:
    """Return what a class or a function takes; ``None`` where the released package has none of this name.

    Args:
        project: ``opencompass`` or ``aisbench``.
        kind: ``datasets``, ``models``, ``evaluators``, ``inferencers``, ``retrievers``, ``templates``, ``readers``,
            ``postprocessors``, ``dict_postprocessors``, ``summarizers``.
        name: Its name, alone or dotted.
    """
    names: Mapping[str, str] = _table()[project].get(kind, {})
    parts = name.split(".")
    found = next((names[each] for i in range(len(parts)) if (each := ".".join(parts[i:])) in names), None)
    return None if found is None else Signature.read(found)


def project_named(kind: object, default: str = "") -> str:
    """Return which project a type of a config comes from: ``default`` for bare names and code of the config's own."""
    name = dotted_name(kind) if isinstance(kind, Reference | str) else ""
    return _PROJECTS.get(name.partition(".")[0], default)


def signature_of(kind: str, named: object, default: str = "opencompass") -> Signature | None:
    """Return what the class or function takes that a config names; ``None`` for code of its own.

    Args:
        kind: As in :func:`signature`.
        named: What the config has as ``type``.
        default: The project of names that do not say theirs.
    """
    if not isinstance(named, Reference | str):
        return None
    name = dotted_name(named)
    if "." in name and name.partition(".")[0] not in _PROJECTS:
        return None
    return signature(project_named(named, default), kind, name)
