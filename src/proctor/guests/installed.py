"""Modules of an installed guest package that Proctor has no names for: run as they are, with our names beneath them.

A fork has modules of its own, and ``evaluate`` metrics that are not computed here. Where the user trusts code, such a
module is run from its file. What it imports is answered here, as everywhere in guest code, so that its classes derive
from Proctor's. Each module that was read is said once, and kept with its version and digest.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from proctor.guests.clones import clone_spec
from proctor.logs import get_logger


class ReadModule(NamedTuple):
    """A module that was read from an installed package.

    Attributes:
        name: Its name.
        version: The release of its package; empty where nobody says it.
        digest: Digest of its file.
    """

    name: str
    version: str
    digest: str


_read: dict[str, ReadModule] = {}
_finders: list[Any] = []
"""Finders of ours, which are not asked where installed packages are."""


def read_modules() -> tuple[ReadModule, ...]:
    """Return the modules that were read from installed packages in this process, by name."""
    return tuple(each for _, each in sorted(_read.items()))


def set_apart(finder: Any) -> None:
    """Leave a finder of ours out where installed packages are looked for: the process is the user's own program."""
    _finders.append(finder)


def take_back(finder: Any) -> None:
    """Take back :func:`set_apart`."""
    _finders.remove(finder)


def is_program() -> bool:
    """Whether this process is a program of the user's own, started by ``python -m proctor.compat``."""
    return bool(_finders)


def installed_spec(name: str) -> ModuleSpec | None:
    """Return where a module lies, in the clone in use or installed, whatever answers its name here; else ``None``."""
    if (found := clone_spec(name)) is not None:
        return found
    path: Any = None
    spec = None
    for depth in range(name.count(".") + 1):
        whole = ".".join(name.split(".")[: depth + 1])
        spec = _found(whole, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
        if path is None and whole != name:
            return None
    return spec


def _found(name: str, path: Any) -> ModuleSpec | None:
    for finder in sys.meta_path:
        if finder not in _finders and (find := getattr(finder, "find_spec", None)) is not None:
            spec: ModuleSpec | None = find(name, path, None)
            if spec is not None:
                return spec
    return None


def note(spec: ModuleSpec) -> ReadModule:
    """Say that a module is read from an installed package, once, and keep its version and digest."""
    if spec.name not in _read:
        from proctor.recipes.fingerprint import digest_of_bytes  # a program that reads none starts without it

        package, release = spec.name.partition(".")[0], _release_of(spec.name)
        file = Path(spec.origin) if spec.has_location and spec.origin else None
        digest = digest_of_bytes(file.read_bytes()) if file is not None and file.is_file() else ""
        _read[spec.name] = ReadModule(spec.name, release, digest)
        in_clone = clone_spec(spec.name) is not None
        whose = str(file) if in_clone else f"the installed {package} {release}".rstrip()
        get_logger().warning("%s is read from %s: Proctor has no such name", spec.name, whose)
    return _read[spec.name]


def _release_of(module: str) -> str:
    from proctor.packages import COLLECTIONS
    from proctor.recipes.metric_code import installed_version

    package = module.partition(".")[0]
    known = next((each.package for each in COLLECTIONS.values() if each.module == package), package)
    return installed_version(known) or ""


def made(spec: ModuleSpec, builtins: Mapping[str, Any] | None) -> ModuleType:
    """Return a module that has not been run.

    Args:
        spec: Where it is.
        builtins: Its builtins, where its imports are answered in them.
    """
    module = module_from_spec(spec)
    if builtins is not None:
        vars(module)["__builtins__"] = dict(builtins)
    return module


def run(module: ModuleType, spec: ModuleSpec) -> None:
    """Run a module from its file, and leave ``sys.modules`` as it is."""
    assert spec.loader is not None  # noqa: S101 - a spec of a file
    with _standing_in(spec.name, module):
        spec.loader.exec_module(module)


@contextmanager
def _standing_in(name: str, module: ModuleType) -> Iterator[None]:
    """Let decorators that look their module up, as those of dataclasses do, find it while it is run."""
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
