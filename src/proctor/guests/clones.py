"""Clones of guest packages: a fork that lies around the file which names a class of it, and is not installed.

A config in ``clone/configs`` means the ``opencompass`` beside it. What Proctor has no name for is found in its files by
the statement that defines it, and run as modules of an installed package are (:mod:`proctor.guests.installed`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Final

from proctor.foreign_text import read_source_text
from proctor.guests.table import TABLES, table_of

_MARKS: Final[Mapping[str, str]] = {"opencompass": "openicl", "ais_bench": "benchmark"}
"""Folder by which a clone of a package is known."""
_DEFINED: Final = re.compile(
    r"^(?:@\w+\.register_module\(\s*(?:name\s*=\s*)?[\"']([^\"']+)[\"']\)\s*\n(?:@[^\n]*\n)*)?(?:class|def)\s+(\w+)",
    re.MULTILINE,
)
_HIGHEST: Final = 12  # folders above a file that are looked at: clones lie no deeper
_roots: dict[str, Path] = {}


def enter_clone(file: Path) -> None:
    """Let the clone that a file lies in say what Proctor has no names for.

    Raises:
        ImportError: Another clone of the package has been used in this process: its classes would be taken for these.
    """
    for folder, package in _clones_around(file):
        if _roots.setdefault(package, folder) != folder:
            why = f"{_roots[package]} is in use; run the configs of each clone by themselves"
            raise ImportError(f"{folder} is a second clone of {package}: {why}", name=package)


def is_defined_around(file: Path, name: str) -> bool:
    """Whether the clone that a file lies in defines a class or function of a name; nothing is run."""
    return any(name in _definitions(folder / package) for folder, package in _clones_around(file))


def code_in_clone(file: Path, name: str) -> dict[str, str]:
    """Return the digest of the module of a clone that has what a file names; nothing of names that Proctor has."""
    from proctor.recipes.fingerprint import digest_of_bytes  # a program that is started by compat needs none

    short = name.rpartition(".")[2]
    for folder, package in _clones_around(file):
        defined = _definitions(folder / package)
        place = defined.get(short) or _before(defined, short)
        if place is not None and not _is_ours(package, short):
            module = folder.joinpath(*place[0].split("."))
            found = next(each for each in (module.with_suffix(".py"), module / "__init__.py") if each.is_file())
            return {place[0]: digest_of_bytes(found.read_bytes())}
    return {}


def _is_ours(package: str, name: str) -> bool:
    try:
        return (table := table_of(package)) is not None and table.find_anywhere(name) is not None
    except LookupError:
        return False


def _clones_around(file: Path) -> Iterator[tuple[Path, str]]:
    for folder in file.resolve().parents[:_HIGHEST]:
        for package, mark in _MARKS.items():
            if (folder / package / mark).is_dir() and (folder / package / "__init__.py").is_file():
                yield folder, package


def clone_spec(name: str) -> ModuleSpec | None:
    """Return where a module lies in the clone that is in use; ``None`` where there is none."""
    if (root := _roots.get(name.partition(".")[0])) is None:
        return None
    spec, path = None, [str(root)]
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:depth]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec


def place_in_clone(package: str, name: str) -> tuple[str, str] | None:
    """Return the module and the name in it of a class or function of the clone in use, by its name or registered one.

    Returns:
        ``None`` where no module of the clone defines it, or several do.
    """
    if package not in TABLES or (root := _roots.get(package)) is None:
        return None
    return _definitions(root / package).get(name)


def class_before(name: str) -> str | None:
    """Return the dotted name of a class in the clones in use that a name begins with, the longest.

    Its module may register the name in a loop: ``LawBenchEvaluator_1_1`` beside ``LawBenchEvaluator``.
    """
    found = (_before(_definitions(root / package), name) for package, root in _roots.items())
    return next((".".join(each) for each in found if each is not None), None)


def _before(defined: Mapping[str, tuple[str, str]], name: str) -> tuple[str, str] | None:
    begun = [each for each in defined if name.startswith(f"{each}_")]
    return defined[max(begun, key=len)] if begun else None


@lru_cache(maxsize=4)
def _definitions(package: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for file in sorted(package.rglob("*.py")):
        below = file.relative_to(package.parent).with_suffix("")
        if "configs" in below.parts:
            continue
        module = ".".join(below.parts).removesuffix(".__init__")
        for registered, name in _DEFINED.findall(read_source_text(file)):
            for each in filter(None, (registered, name)):
                found.setdefault(each, set()).add((module, name))
    return {name: places.pop() for name, places in found.items() if len(places) == 1}
