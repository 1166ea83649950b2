"""From what a user types to exams: the door of this dialect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from proctor.artifacts import Artifact, to_data
from proctor.dialects.unitxt import reader
from proctor.dialects.unitxt.asker import RecipeAsker
from proctor.dialects.unitxt.gradings import recipe_grader
from proctor.dialects.unitxt.options import decoding_of, honours_of, longest_of, parts_of, with_options
from proctor.dialects.unitxt.repeats import over_repeats, takes_repeats
from proctor.dialects.unitxt.rows import RecipeDraw, RecipeRows
from proctor.effects import Effect
from proctor.errors import DataError
from proctor.recipes.benchmark import Benchmark
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import NoDemos
from proctor.recipes.fingerprint import Definition
from proctor.recipes.group_scores import BenchmarkScores
from proctor.recipes.options import LOOKED_UP, ExamOptions
from proctor.recipes.pipeline import Pipeline
from proctor.recipes.recipe import DatasetRecipe, Recipe
from proctor.settings import settings

AS_TEXT = "choices as text (the choice is written, no log-probabilities are compared)"
"""What results say of an exam that would compare choices and is asked to write one."""


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams that one name means, ``None`` where this dialect does not know it.

    Raises:
        ProctorError: It is known, and cannot be built.
    """
    found = reader.read(name)
    return None if found is None else [exam for each, recipe in found for exam in exams_of(each, recipe, options)]


def exams_of(name: str, recipe: Recipe | Artifact, options: ExamOptions | None = None) -> list[Exam]:
    """Return the exams that a recipe or benchmark consists of; members are named ``benchmark.path``."""
    if isinstance(recipe, DatasetRecipe):
        return [exam_of(name, recipe, options)]
    if isinstance(recipe, Benchmark):
        return list(_members_of(name, recipe, options))
    raise DataError(
        f"'{name}' is a {type(recipe).__name__}, which is not an exam", hint="exams are recipes and benchmarks"
    )


def exam_of(name: str, recipe: DatasetRecipe, options: ExamOptions | None = None, ceiling: int | None = None) -> Exam:
    """Return a recipe as an exam; it is compiled here, and later changes to it do not reach the exam.

    Args:
        name: The name under which results are filed.
        recipe: The recipe.
        options: What the run changes.
        ceiling: Most instances, where a benchmark sets some.

    Raises:
        ProctorError: What the run changes makes a recipe that cannot work.
    """
    options = options or ExamOptions()
    changed = with_options(recipe, options)
    exam = replace(_made(name, changed, options, ceiling), honours=honours_of(recipe, changed, options))
    if recipe.request == "choose" and changed.request != "choose":
        return replace(exam, variant=AS_TEXT)
    if changed.request == "choose" and options.choices_as_text is None:
        as_text = replace(options, choices_as_text=True)
        return replace(exam, variants={"text": lambda: exam_of(name, recipe, as_text, ceiling)})
    return exam


def _made(name: str, recipe: DatasetRecipe, options: ExamOptions, ceiling: int | None) -> Exam:
    pipeline = recipe.compile()
    grader, native = recipe_grader(recipe), takes_repeats(recipe)
    if options.repeats is not None and native:
        grader = over_repeats(grader)
    exam = Exam(
        name=name,
        description=recipe.description or (recipe.card.description if recipe.card else None) or "",
        dialect="unitxt",
        source=_source(recipe, options),
        rows=RecipeRows(name, pipeline, recipe.split, options.seed),
        draw=RecipeDraw(pipeline.draw) if pipeline.plan.most_demos else NoDemos(),
        asker=_asker(name, recipe, pipeline, options, repeats=options.repeats or 1 if native else 1),
        grader=grader.without_scorers() if options.predict_only else grader,
        options=options,
        ceiling=ceiling,
        longest=longest_of(options),
        effects=lambda: _effects(recipe),
        author=recipe.author,
        clusters=recipe.clusters,
        own_seed=settings.seed,
        own=recipe,
        define=lambda: _definition(recipe),
        parts=parts_of(recipe),
    )
    if native or options.repeats is None:
        return exam
    from proctor.recipes.repeats import repeated

    return repeated(exam)


def _effects(recipe: DatasetRecipe) -> Sequence[Effect]:
    from proctor.artifacts.effects_of import effects_of

    return effects_of(recipe)


def _definition(recipe: DatasetRecipe) -> Definition:
    from proctor.dialects.unitxt.definition import definition_of

    return definition_of(recipe)


def _source(recipe: DatasetRecipe, options: ExamOptions) -> dict[str, object]:
    changed = {
        key: to_data(value)
        for key, value in asdict(options).items()
        if key not in LOOKED_UP and value not in (None, (), {}, False)
    }
    return {"recipe": recipe.to_dict(), "split": recipe.split, "options": changed}


def _asker(name: str, recipe: DatasetRecipe, pipeline: Pipeline, options: ExamOptions, *, repeats: int) -> RecipeAsker:
    return RecipeAsker(
        name=name,
        prompts=pipeline.prompts,
        split=recipe.split,
        request=recipe.request,
        decoding=decoding_of(recipe, options),
        seed=options.seed,
        repeats=repeats,
        needed=tuple(name for each in recipe.group_by for name in ([each] if isinstance(each, str) else each)),
    )


# -- benchmarks -----------------------------------------------------------------------------------------------


def _members_of(name: str, benchmark: Benchmark, options: ExamOptions | None) -> Iterator[Exam]:
    """Yield the exams of a benchmark; each knows the benchmarks that it belongs to."""
    for path, leaf in benchmark.leaves():
        exam = exam_of(f"{name}.{path.replace('/', '.')}", leaf, options, benchmark.limit_of(leaf.split))
        yield replace(exam, groups=tuple(_benchmarks_above(name, benchmark, path.split("/"))))


def _benchmarks_above(name: str, benchmark: Benchmark, path: Sequence[str]) -> Iterator[BenchmarkScores]:
    yield scores_of_benchmark(name, benchmark)
    member = benchmark.members()[path[0]]
    if isinstance(member, Benchmark):
        yield from _benchmarks_above(f"{name}.{path[0]}", member, path[1:])


def scores_of_benchmark(name: str, benchmark: Benchmark) -> BenchmarkScores:
    """Return what makes the score of a benchmark of the scores of its members."""
    members = [
        scores_of_benchmark(f"{name}.{key}", member) if isinstance(member, Benchmark) else f"{name}.{key}"
        for key, member in benchmark.members().items()
    ]
    return BenchmarkScores(name, tuple(members))
