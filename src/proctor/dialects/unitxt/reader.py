"""Finds recipes and benchmarks by catalog name, query, glob or file."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from proctor.artifacts import Artifact, catalogs, fetch_artifact
from proctor.artifacts.query import is_assignments, parse_query
from proctor.errors import QueryError, UsageError
from proctor.recipes.recipe import Recipe

_PLACES = ("", "recipes.", "benchmarks.")
"""Where a catalog keeps exams; the name itself first, so that a whole name always wins."""


def read(name: str) -> list[tuple[str, Artifact]] | None:
    """Return what a name means, each with the name of its exams; ``None`` where no catalog and no file has it.

    Raises:
        UsageError: It is known, and is not an exam.
        ProctorError: It is known, and cannot be built.
    """
    if is_assignments(name):
        return [(name, fetch_artifact(name))]
    if any(mark in name for mark in "*?") and "[" not in name:
        return [entry for each in exam_names() if fnmatchcase(each, name) for entry in read(each) or ()] or None
    if name.endswith(".json") and Path(name).is_file():
        return [(Path(name).stem, fetch_artifact(name))]
    try:
        query = parse_query(name)
    except QueryError:
        if "[" in name and "/" not in name:
            raise
        return None
    return _of_catalog(name, query.name)


def _of_catalog(text: str, name: str) -> list[tuple[str, Artifact]] | None:
    for candidate in (f"{place}{text}" for place in _PLACES):
        known = candidate.partition("[")[0]
        if any(catalog.path_of(known) is not None for catalog in catalogs()):
            artifact = fetch_artifact(candidate)
            if isinstance(artifact, Recipe):
                return [(text, artifact)]
            raise UsageError(
                f"'{name}' is a {type(artifact).__name__}, not an exam",
                hint=f"make one of it: card={name}" if name.startswith("cards.") else "proctor ls lists the exams",
            )
    return None


def exam_names() -> Iterator[str]:
    """Yield the names of all exams in the catalogs."""
    from proctor.dialects.listing import FIRST_KINDS, entries

    yield from (entry.name for entry in entries(kinds=FIRST_KINDS))
