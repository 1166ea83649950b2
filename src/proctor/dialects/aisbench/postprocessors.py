"""Post-processors of configs: by the name that they are registered under, or the function that the config imports.

The table of text functions maps both to functions of the core; no upstream code runs. Every other text function of the
table can be named, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.dialects.aisbench.datasets.trusted import imported
from proctor.dialects.aisbench.signatures import known_names
from proctor.dialects.aisbench.values import Reference, dotted_name, short_name
from proctor.errors import DataError, Diagnostic, Location, ProctorError, ScoringError, TrustError, did_you_mean
from proctor.lazy import Deferred
from proctor.scoring.named_table import NOTHING, OPENCOMPASS, is_in_catalog
from proctor.scoring.text.text_functions import AISBENCH, TextFunction, text_function, text_function_table
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.scoring.text import processors as processor_functions
else:
    processor_functions = Deferred("proctor.scoring.text.processors")

_PROJECTS = {"opencompass": "opencompass", "ais_bench": "aisbench"}


def project_of(name: str, default: str = "opencompass") -> str:
    """Return which project a dotted name comes from."""
    return _PROJECTS.get(name.partition(".")[0], default)


def postprocessor_names() -> list[str]:
    """Return the names of all post-processors of OpenCompass and AISBench that are known."""
    table = text_function_table()
    return sorted({*table.of(OPENCOMPASS), *table.of(AISBENCH)})


def postprocessor(config: Mapping[str, Any] | None, project: str = "opencompass") -> Callable[..., Any]:
    """Return the function that a post-processor of a config stands for, from an answer and its row.

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
        arguments["postprocess"] = _function(arguments["postprocess"], config, project, {}).of_answer
    return _function(config.get("type"), config, project, arguments).of_answer


def postprocessor_problems(config: Mapping[str, Any] | None, project: str = "opencompass") -> Iterator[Diagnostic]:
    """Yield what is wrong with a post-processor that can be known before anybody is asked."""
    try:
        postprocessor(config, project)
    except ProctorError as error:
        yield from error.diagnostics
        return
    kind = (config or {}).get("type")
    named = isinstance(kind, str | Reference) and dotted_name(kind).partition(".")[0] in (*_PROJECTS, dotted_name(kind))
    entry = text_function_table().find(short_name(kind), (project, OPENCOMPASS)) if named else None
    yield from entry.check(config or {}) if entry is not None else ()


def misspelt(config: Mapping[str, Any]) -> str:
    """Return the hint for a post-processor that nobody has, by a bare name or one of upstream's; else nothing."""
    kind = config.get("type")
    name = dotted_name(kind) if isinstance(kind, str | Reference) else ""
    upstream = known_names("opencompass", "postprocessors") | known_names("aisbench", "postprocessors")
    short, table = name.rpartition(".")[2], text_function_table()
    foreign = "." in name and name.partition(".")[0] not in _PROJECTS
    if not name or foreign or ":" in name or short in upstream or is_in_catalog(name):
        return ""
    if table.find(short, OPENCOMPASS) is not None:
        return ""
    known = {*table.names(), *upstream}  # of the catalogs' folders, too, which takes time
    return "" if short in known else did_you_mean(short, known) or "proctor ls --kind processor lists them"


def _unchanged(answer: Any, row: Mapping[str, Any] = NOTHING) -> Any:
    del row
    return answer


def _function(kind: Any, config: Mapping[str, Any], project: str, arguments: Mapping[str, Any]) -> TextFunction:
    place = getattr(config, "location", None)
    if callable(kind):
        if not settings.trust_code:
            raise TrustError("a post-processor is code", location=place, hint="say --trust-code to run it")
        return TextFunction(getattr(kind, "__name__", str(kind)), "value", partial(kind, **arguments))
    name = kind.name if isinstance(kind, Reference) else str(kind)
    try:
        return _tried(_named(name, project, arguments)) if arguments else _named(name, project, arguments)
    except ProctorError as error:
        from proctor.guests.clones import is_defined_around  # most configs name what is here

        around = place is not None and is_defined_around(Path(place.file), name)
        if not settings.trust_code or not ("." in name or around):
            raise error.located(place) from None
        return TextFunction(name, "value", partial(_trusted(name, place, error), **arguments))


def _named(name: str, project: str, arguments: Mapping[str, Any]) -> TextFunction:
    """Return the function of a name; those of upstream's packages are known by their last part."""
    short = name.rpartition(".")[2]
    if name.partition(".")[0] in _PROJECTS or name == short:
        own = (project_of(name, project), OPENCOMPASS)
        if (found := text_function(short, own, arguments)) is not None:
            return found
    if ":" in name or is_in_catalog(name):
        return processor_functions.find_text_function(name, OPENCOMPASS, arguments)
    raise ScoringError(
        f"the post-processor '{short}' is not known",
        why="" if settings.trust_code else "its function would have to run; that needs --trust-code",
        hint=did_you_mean(short, text_function_table().names()),
    )


def _tried(function: TextFunction) -> TextFunction:
    """Return a function that reads some answer; one with arguments that fit no answer reads none.

    Raises:
        ScoringError: It does not.
    """
    if function.scope != "value":
        return function
    try:
        function.of_answer(_SOME_ANSWER)
    except (TypeError, ValueError, LookupError, AttributeError, re.error, DataError) as error:
        what, why = f"'{function.name}' reads no answer with these arguments", f"{type(error).__name__}: {error}"
        raise ScoringError(what, why=str(error) if isinstance(error, DataError) else why) from error
    return function


_SOME_ANSWER = "The answer is A."


def _trusted(name: str, place: Location | None, known: ProctorError) -> Callable[..., Any]:
    try:
        found: Callable[..., Any] = imported(name, place)
    except ImportError as error:
        if name.partition(".")[0] in _PROJECTS:
            raise known.located(place) from None
        what = f"the post-processor '{name}' cannot be imported"
        raise ScoringError(what, location=place, why=str(error)) from None
    if not callable(found):
        raise ScoringError(f"the post-processor '{name}' is not a function", location=place)
    return found
