"""Files that a prisoner may read: Python, its libraries, and the system's libraries beneath them."""

from __future__ import annotations

import compileall
import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INSIDE = Path(__file__).resolve().parent
"""The folder whose ``inside`` runs in the prison."""

_SYSTEM = (
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/usr/share/locale",
    "/etc/ld.so.cache",
    "/etc/fonts",
    "/etc/localtime",
)
"""Libraries of the system and what they read. No program: there is no shell in a prison."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Places:
    """Paths of this machine.

    Attributes:
        python: The interpreter itself, without links.
        readable: Everything that it reads.
        site: Folders of installed packages.
    """

    python: str
    readable: tuple[str, ...]
    site: tuple[str, ...]


@cache
def compile_inside() -> None:
    """Compile what runs in the prison, once: prisoners may not write, and would each compile it again."""
    compileall.compile_dir(INSIDE / "inside", quiet=2)


@cache
def places() -> Places:
    """Return the files that a prisoner on this machine may read."""
    python = os.path.realpath(sys.executable)
    paths = sysconfig.get_paths()
    site = tuple(dict.fromkeys(path for path in (paths["purelib"], paths["platlib"]) if Path(path).is_dir()))
    own = [python, paths["stdlib"], paths["platstdlib"], *site, str(INSIDE / "inside"), *_libraries_of(sys.base_prefix)]
    real = [os.path.realpath(path) for path in own]
    return Places(python, _without_inner([*_SYSTEM, *own, *real]), site)


def _libraries_of(prefix: str) -> list[str]:
    """Return where a Python that is not the system's keeps its libraries."""
    return [] if prefix in ("/", "/usr") else [str(Path(prefix) / "lib")]


def _without_inner(paths: list[str]) -> tuple[str, ...]:
    """Return existing paths, without those that lie below another."""
    existing = sorted({path for path in paths if Path(path).exists()})
    kept: list[str] = []
    for path in existing:
        linked = Path(path).is_symlink()
        if linked or not any(path.startswith(f"{other}/") and not Path(other).is_symlink() for other in kept):
            kept.append(path)
    return tuple(kept)
