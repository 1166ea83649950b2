"""Recipes: complete exams, alone or in trees, as artifacts and as datasets."""

from proctor.recipes.benchmark import BaseBenchmark, Benchmark
from proctor.recipes.dataset import create_dataset, load_dataset, load_recipe, produce
from proctor.recipes.exam import Answered, Exam, Question
from proctor.recipes.options import ExamOptions
from proctor.recipes.recipe import BaseRecipe, DatasetRecipe, Recipe, StandardRecipe, StandardRecipeWithIndexes

__all__ = [
    "Answered",
    "BaseBenchmark",
    "BaseRecipe",
    "Benchmark",
    "DatasetRecipe",
    "Exam",
    "ExamOptions",
    "Question",
    "Recipe",
    "StandardRecipe",
    "StandardRecipeWithIndexes",
    "create_dataset",
    "load_dataset",
    "load_recipe",
    "produce",
]
