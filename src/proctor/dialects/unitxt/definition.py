"""Definition of a recipe by value: the catalog may say something else tomorrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proctor.artifacts import Artifact
from proctor.artifacts.held import by_value, held_parts, resolved
from proctor.dialects.unitxt.gradings import processors_of
from proctor.recipes.fingerprint import Definition
from proctor.recipes.held_code import code_of
from proctor.recipes.metric_code import with_code
from proctor.recipes.recipe import DatasetRecipe


def definition_of(recipe: DatasetRecipe) -> Definition:
    """Return how a recipe's answers are read and scored, and every catalog artifact that it uses."""
    processors = [resolved(each, recipe) for each in processors_of(recipe)]
    metrics = [resolved(each, recipe) for each in _metrics_of(recipe)]
    held = held_parts([*_parts_of(recipe), *processors, *metrics])
    code = code_of(each for each in [recipe, *processors, *metrics] if isinstance(each, Artifact))
    if (card := recipe.card) is not None and card.artifact_id:
        held[card.artifact_id] = {name: value for name, value in card.to_dict().items() if name != "templates"}
    measured = code_of(each for each in [*processors, *metrics] if isinstance(each, Artifact))
    return Definition(
        extraction={
            "request": recipe.request,
            "processors": list(map(by_value, processors)),
            "answer prefixes": [template.target_prefix for template in recipe.chosen_templates()],
        },
        metrics=with_code([*map(by_value, metrics), *([measured] if measured else [])]),
        held={**held, **code},
        scorers=metrics,
    )


def _metrics_of(recipe: DatasetRecipe) -> list[Any]:
    return list(recipe.metrics if recipe.metrics is not None else recipe.used_task.metric_names)


def _parts_of(recipe: DatasetRecipe) -> Iterator[Any]:
    """Yield what prompts are made of: all of the recipe, of the card's templates only those that are used."""
    for name in type(recipe).model_fields:
        if name not in {"card", "template"}:
            yield getattr(recipe, name)
    if recipe.card is not None:
        yield from (getattr(recipe.card, name) for name in type(recipe.card).model_fields if name != "templates")
    yield list(recipe.chosen_templates())
