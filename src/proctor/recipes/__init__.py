"""Recipes: complete exams, alone or in trees, as artifacts and as datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.recipes.benchmark import BaseBenchmark, Benchmark
    from proctor.recipes.dataset import create_dataset, load_dataset, load_recipe, produce
    from proctor.recipes.exam import Answered, Exam, Question
    from proctor.recipes.exam_parts import Asker, Context, DemoDraw, Demos, Grader, Kind, NoDemos, Rows, ScoredGroup
    from proctor.recipes.fingerprint import Fingerprint, FingerprintMaker, instance_digest
    from proctor.recipes.honours import Honoured, Honours, Refused
    from proctor.recipes.options import ExamOptions
    from proctor.recipes.recipe import BaseRecipe, DatasetRecipe, Recipe, StandardRecipe, StandardRecipeWithIndexes
    from proctor.recipes.selection import Opened, Row, Selection

_HOMES = {
    "benchmark": ("BaseBenchmark", "Benchmark"),
    "dataset": ("create_dataset", "load_dataset", "load_recipe", "produce"),
    "exam": ("Answered", "Exam", "Question"),
    "exam_parts": ("Asker", "Context", "DemoDraw", "Demos", "Grader", "Kind", "NoDemos", "Rows", "ScoredGroup"),
    "fingerprint": ("Fingerprint", "FingerprintMaker", "instance_digest"),
    "honours": ("Honoured", "Honours", "Refused"),
    "options": ("ExamOptions",),
    "recipe": ("BaseRecipe", "DatasetRecipe", "Recipe", "StandardRecipe", "StandardRecipeWithIndexes"),
    "selection": ("Opened", "Row", "Selection"),
}

__all__ = [
    "Answered", "Asker", "BaseBenchmark", "BaseRecipe", "Benchmark", "Context", "DatasetRecipe", "DemoDraw", "Demos",
    "Exam", "ExamOptions", "Fingerprint", "FingerprintMaker", "Grader", "Honoured", "Honours", "Kind", "NoDemos",
    "Opened", "Question", "Recipe", "Refused", "Row", "Rows", "ScoredGroup", "Selection", "StandardRecipe",
    "StandardRecipeWithIndexes", "create_dataset", "instance_digest", "load_dataset", "load_recipe", "produce",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
