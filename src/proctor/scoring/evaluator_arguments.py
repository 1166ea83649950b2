"""Arguments of evaluators, checked against what the function behind the name takes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any, Literal, get_args, get_origin

from proctor.errors import ScoringError, did_you_mean
from proctor.scoring.metric_table import MetricEntry


def check_arguments(entry: MetricEntry, arguments: Mapping[str, Any]) -> None:
    """Check that an evaluator takes the arguments, and is given all that it needs.

    Raises:
        ScoringError: It does not, or is not.
        MissingExtraError: A value needs a package that is missing.
    """
    function = entry.load()
    everything = list(signature(function).parameters.values())[1:]
    known = [each for each in everything if each.kind is not Parameter.VAR_KEYWORD]
    names = [each.name for each in known]
    for name in arguments:
        if name not in names and len(known) == len(everything):
            why = f"it takes {', '.join(names)}" if names else "it takes none"
            raise ScoringError(f"'{entry.name}' has no argument '{name}'", why=why, hint=did_you_mean(name, names))
    given = {**entry.arguments, **arguments}
    if lacking := [each.name for each in known if each.default is Parameter.empty and each.name not in given]:
        raise ScoringError(f"'{entry.name}' needs the argument '{lacking[0]}'")
    for each in known:
        if (words := _words(each)) and each.name in given and given[each.name] not in words:
            what = f"'{entry.name}' has no {each.name} {given[each.name]!r}"
            hint = did_you_mean(str(given[each.name]), words) or f"choose one of {', '.join(words)}"
            raise ScoringError(what, hint=hint)
    if (check := getattr(function, "check", None)) is not None:  # a scorer of inspect
        check(given)


def _words(parameter: Parameter) -> list[str]:
    """Return the words of which a parameter is one (``Literal["a", "b"]``); none where it may be anything."""
    annotation = parameter.annotation
    if isinstance(annotation, str):
        named = " ".join(annotation.split())
        if not named.startswith("Literal["):
            return []
        return list(ast.literal_eval(f"({named[len('Literal[') : -1].rstrip(', ')},)"))
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []
