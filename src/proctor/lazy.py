"""Lazy imports: names of a package (PEP 562), and heavy packages of others.

Importing a module that names them costs next to nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Deferred", "Later", "lazily", "np"]


def lazily(package: str, homes: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Its ``__name__``.
        homes: The names that each module gives; a module of the package itself is written without the package.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    namespace = vars(sys.modules[package])

    def get(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name, obj=sys.modules[package])
        value = getattr(import_module(home if "." in home else f"{package}.{home}"), name)
        namespace[name] = value
        return value

    def names() -> list[str]:
        return sorted({*namespace, *home_of})

    return get, names


class Deferred:
    """A package that is imported when something of it is first used.

    A module names it so, and type checkers see the package::

        if TYPE_CHECKING:
            import numpy as np
        else:
            np = Deferred("numpy")
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Import the package and return what it has under a name."""
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    np = Deferred("numpy")


class Later:
    """An object that is imported and made when something is first asked of it; ``isinstance`` sees what it stands for.

    Args:
        place: The class or function that makes it, as ``module:name``.
        arguments, named: What it is made with.
    """

    def __init__(self, place: str, *arguments: Any, **named: Any) -> None:
        self._place, self._arguments, self._named = place, arguments, named

    def _made(self) -> Any:
        found = self.__dict__.get("_found")
        if found is None:
            module, _, name = self._place.partition(":")
            found = self.__dict__["_found"] = getattr(import_module(module), name)(*self._arguments, **self._named)
        return found

    def __getattr__(self, name: str) -> Any:
        """Return what the object has under a name."""
        if name.startswith("__"):  # copying and pickling ask for such names before there is anything to ask
            raise AttributeError(name)
        return getattr(self._made(), name)

    @property  # type: ignore[misc]
    def __class__(self) -> type[Any]:
        """The class of the object."""
        return type(self._made())
