# Made by tools/update_stubs.py.

from proctor.recipes.benchmark import BaseBenchmark as BaseBenchmark, Benchmark as Benchmark
from proctor.recipes.dataset import create_dataset as create_dataset, load_dataset as load_dataset, load_recipe as load_recipe, produce as produce
from proctor.recipes.exam import Answered as Answered, Exam as Exam, Question as Question
from proctor.recipes.exam_parts import Asker as Asker, Context as Context, DemoDraw as DemoDraw, Demos as Demos, Grader as Grader, Kind as Kind, NoDemos as NoDemos, Rows as Rows, ScoredGroup as ScoredGroup
from proctor.recipes.fingerprint import Fingerprint as Fingerprint, FingerprintMaker as FingerprintMaker, instance_digest as instance_digest
from proctor.recipes.honours import Honoured as Honoured, Honours as Honours, Refused as Refused
from proctor.recipes.options import ExamOptions as ExamOptions
from proctor.recipes.recipe import BaseRecipe as BaseRecipe, DatasetRecipe as DatasetRecipe, Recipe as Recipe, StandardRecipe as StandardRecipe, StandardRecipeWithIndexes as StandardRecipeWithIndexes
from proctor.recipes.selection import Opened as Opened, Row as Row, Selection as Selection
