"""Every problem of artifact files: recipes, cards, templates and all else that a catalog holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from proctor.artifacts import Artifact, build
from proctor.artifacts.catalogs import read_json
from proctor.dialects.unitxt.gradings import metrics_of, processors_of
from proctor.errors import Diagnostic, Location, ProctorError
from proctor.recipes.benchmark import Benchmark
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.grading.protocols import Unavailable
from proctor.scoring.text.processor_steps import Processors


def validate(path: Path) -> tuple[list[Path], list[Diagnostic]]:
    """Return the files of artifacts that a path is or has in it, and their problems; nothing is run or loaded.

    Of a folder, files that say no type are data of somebody, and not looked at.
    """
    listed = sorted(path.rglob("*.json")) if path.is_dir() else [path] if path.suffix == ".json" else []
    files = [each for each in listed if not path.is_dir() or _says_type(each)]
    return files, [problem for file in files for problem in _problems(file)]


_BEGINNING: Final = 65_536  # bytes in which an artifact says its type; a file of rows may have gigabytes


def _says_type(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return b'"__type__"' in opened.read(_BEGINNING)
    except OSError:
        return False


def _problems(file: Path) -> Iterator[Diagnostic]:
    place = Location(str(file))
    try:
        data = read_json(file)
        if "__type__" in data:
            yield from (each.at(place) for each in _of_grading(build(data, location=place)))
    except ProctorError as error:
        yield from error.located(place).diagnostics


def _of_grading(artifact: Artifact) -> Iterator[Diagnostic]:
    """Yield metrics and processors of a recipe, or of a benchmark's recipes, that there are not."""
    recipes = [leaf for _, leaf in artifact.leaves()] if isinstance(artifact, Benchmark) else [artifact]
    for recipe in recipes:
        if isinstance(recipe, DatasetRecipe):
            for part in (*metrics_of(recipe), *Processors(processors_of(recipe))):
                if isinstance(part, Unavailable):  # a package that is missing here is not the file's fault
                    yield from part.check()
