"""From a ``__type__`` to its class.

Built-in classes are listed as data (``types.json``, name → ``module:Class``) and imported when first used. Classes
that a program defines register themselves. A registry is a value: it can be copied and passed around.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from proctor.artifacts.names import snake_case
from proctor.errors import ArtifactError, PluginError, UnknownTypeError, did_you_mean
from proctor.plugins import Plugin, plugins


@cache
def builtin_types() -> Mapping[str, str]:
    """Return the ``__type__`` of every built-in class with its ``module:Class``."""
    text = files("proctor.artifacts").joinpath("types.json").read_text(encoding="utf-8")
    table: dict[str, str] = json.loads(text)
    return table


class Registry:
    """Classes by ``__type__``.

    Args:
        lazy: Names of classes that are imported on first use, as ``module:Class``.
    """

    def __init__(self, lazy: Mapping[str, str]) -> None:
        self._lazy = dict(lazy)
        self._classes: dict[str, type] = {}

    def register(self, cls: type) -> None:
        """Make a class known under the snake-case form of its name; the newest of two user classes wins.

        A class that shares its name with a built-in one does not replace it: files keep their meaning. It is
        known under ``module:Class`` instead.
        """
        self._classes[self.name_of(cls)] = cls

    def name_of(self, cls: type) -> str:
        """Return the name that files use for a class."""
        name = snake_case(cls.__name__)
        place = f"{cls.__module__}:{cls.__qualname__}"
        if self._lazy.get(name, place) != place:
            return place
        return name

    def get(self, name: str) -> type[Any]:
        """Return the class of a ``__type__``.

        Raises:
            UnknownTypeError: Nothing is registered under the name.
        """
        if (cls := self._classes.get(name)) is not None:
            return cls
        if (place := self._lazy.get(name)) is None:
            if (plugin := plugins("metrics").get(name)) is not None:
                return self._of_plugin(plugin)
            raise UnknownTypeError(
                f"no class is registered under the type '{name}'",
                hint=did_you_mean(name, self) or "define or import a class of that name before loading the file",
            )
        module, _, attribute = place.partition(":")
        found: type[Any] | None = getattr(import_module(module), attribute, None)
        if found is None:
            raise ArtifactError(f"the type table points '{name}' at {place}, which does not exist")
        self._classes[name] = found
        return found

    def _of_plugin(self, plugin: Plugin) -> type[Any]:
        found = plugin.load()
        if not isinstance(found, type):
            raise PluginError(
                f"the plugin '{plugin.name}' of {plugin.package} is not a class",
                why=f"{plugin.place} is a {type(found).__name__}",
                hint="point the entry to a class that derives from one of Proctor's (a metric, an operator …)",
            )
        self._classes[plugin.name] = found
        return found

    def __contains__(self, name: str) -> bool:
        return name in self._classes or name in self._lazy or name in plugins("metrics")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._classes, *self._lazy}))

    def copy(self) -> Registry:
        """Return an independent registry with the same entries."""
        twin = Registry(self._lazy)
        twin._classes.update(self._classes)
        return twin


registry = Registry(builtin_types())
"""The classes of this process."""
