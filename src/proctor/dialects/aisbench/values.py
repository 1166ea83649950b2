"""Values of a config: dictionaries that know where they were written, and names that stay unimported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.errors import ArtifactError, Location
from proctor.safe_python.values import ConfigDict, ConfigFunction, InheritedDict, Reference

__all__ = [
    "ConfigDict",
    "ConfigFileError",
    "ConfigFunction",
    "InheritedDict",
    "Reference",
    "abbr_of",
    "as_data",
    "dotted_name",
    "known_name",
    "location_of",
    "model_abbr_of",
    "short_name",
    "texts_in",
]


class ConfigFileError(ArtifactError):
    """A config that is not Python, fails when it is read, or cannot be found."""


def dotted_name(kind: object) -> str:
    """Return the whole name of a type of a config: an imported name, a registered one, or a class."""
    if isinstance(kind, Reference):
        return kind.name
    if isinstance(kind, str):
        return kind
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', kind)}"


def short_name(kind: object) -> str:
    """Return the last part of a type's name: ``ARCDataset``."""
    return dotted_name(kind).rpartition(".")[2]


def location_of(values: object) -> Location | None:
    """Return where a dictionary of a config was written; ``None`` for anything else."""
    return values.location if isinstance(values, ConfigDict) else None


def known_name(kind: object) -> str:
    """Return the last part of the name of one of upstream's classes; of a class of the config's own the whole name.

    What a config brings itself is not upstream's class of the same name.
    """
    name = dotted_name(kind).lstrip(".")
    return short_name(kind) if "." not in name or name.partition(".")[0] in _KNOWN else name


UPSTREAM = ("opencompass", "ais_bench")
"""Packages whose classes are known by their last names."""
_KNOWN = (*UPSTREAM, "proctor")


def texts_in(part: object) -> Iterator[str]:
    """Yield the texts in a part of a config, at any depth."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping | list | tuple):
        for value in part.values() if isinstance(part, Mapping) else part:
            yield from texts_in(value)


def as_data(value: object) -> Any:
    """Return a value of a config as JSON-like data: names for what is imported."""
    if isinstance(value, Reference):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): as_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if value is None or isinstance(value, str | int | float | bool):
        return value
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)


def abbr_of(values: Mapping[str, Any]) -> str:
    """Return the name of a dataset: ``abbr``, else made of path and name as upstream makes it."""
    if values.get("abbr"):
        return str(values["abbr"])
    parts = [str(values[key]) for key in ("path", "name") if values.get(key)]
    return "_".join(parts).replace("/", "_") or short_name(values.get("type", "dataset"))


def model_abbr_of(values: Mapping[str, Any]) -> str:
    """Return the name of a model: ``abbr``, else its type and the end of its path."""
    if values.get("abbr"):
        return str(values["abbr"])
    ending = "_".join(str(values.get("path") or values.get("model") or "").rstrip("/").split("/")[-2:])
    return f"{short_name(values.get('type', 'model'))}_{ending}".rstrip("_")


def shown(value: object) -> str:
    """Return the beginning of a value, for a message."""
    return "'...', which stands for something to fill in" if value is ... else repr(value)[:80]


LONGEST_SHOWN = 120
"""Characters of a value that a message shows."""


def it_is(value: object) -> str:
    """Return what a value is, for a message: ``it is 5``."""
    return f"it is {value!r}"[:LONGEST_SHOWN]
