"""Plugins of installed packages: entry points, looked up by name and loaded on first use.

=====================  ===================================================================================
group                  what its entries point to
=====================  ===================================================================================
``proctor.engines``    an :class:`~proctor.engines.Engine` class; its name works after ``--model``
``proctor.metrics``    a metric, processor, template or any other artifact class; its name is its ``__type__``
``proctor.dialects``   a :class:`~proctor.dialects.Dialect`
``proctor.exams``      a package or a folder's path: its catalog JSON, task YAML and configs become known
``proctor.exporters``  a function that writes a run's results; its name works after ``--output-format``
=====================  ===================================================================================

An entry is code of a package that the user installed, not of an exam: it needs no ``--trust-code``. Nothing is
imported until a name is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from proctor.errors import PluginError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group = Literal["engines", "metrics", "dialects", "exams", "exporters"]


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry of an installed package.

    Attributes:
        name: Under which it is used.
        place: What it points to, as ``module:attribute``.
        package: The distribution that brings it, with its version; empty where that is not known.
        entry: The entry point.
    """

    name: str
    place: str
    package: str
    entry: EntryPoint

    def load(self) -> object:
        """Import what the entry points to.

        Raises:
            PluginError: It cannot be imported; the package is named.
        """
        try:
            return self.entry.load()
        except Exception as error:
            raise self.failed(error) from error

    def failed(self, error: Exception) -> PluginError:
        """Return the error of an entry that cannot be used."""
        return PluginError(
            f"the plugin '{self.name}' of {self.package or 'an installed package'} cannot be loaded",
            why=f"{self.place}: {type(error).__name__}: {error}",
            hint="mend or uninstall the package",
        )


@cache
def installed_entries() -> Any:
    """Return ``entry_points()``, for which all packages are read once; its type depends on Python's version."""
    from importlib.metadata import entry_points

    return entry_points()


@cache
def plugins(group: Group) -> Mapping[str, Plugin]:
    """Return the installed entries of a group by name; two packages with one name are an error.

    Raises:
        PluginError: Two packages bring different things under one name.
    """
    found: dict[str, Plugin] = {}
    for entry in installed_entries().select(group=f"proctor.{group}"):
        package = "" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
        plugin = Plugin(entry.name, entry.value, package, entry)
        known = found.setdefault(entry.name, plugin)
        if known.place != plugin.place:
            raise PluginError(
                f"two packages bring '{entry.name}' for proctor.{group}",
                why=f"{known.package} ({known.place}) and {plugin.package} ({plugin.place})",
                hint="uninstall one of them",
            )
    return dict(sorted(found.items()))


@cache
def exam_folders() -> tuple[Path, ...]:
    """Return the folders with exams that installed packages bring, in the order of their names.

    Raises:
        PluginError: An entry is neither a package nor the path of a folder.
    """
    return tuple(_folder_of(plugin) for plugin in plugins("exams").values())


def _folder_of(plugin: Plugin) -> Path:
    found = plugin.load()
    try:
        path = Path(str(files(found) if isinstance(found, ModuleType) else found() if callable(found) else found))
    except Exception as error:
        raise plugin.failed(error) from error
    if not path.is_dir():
        raise PluginError(
            f"the plugin '{plugin.name}' of {plugin.package} brings no folder of exams",
            why=f"{plugin.place} gives {path}",
            hint="point the entry to a package, or to a function that returns the path of a folder",
        )
    return path
