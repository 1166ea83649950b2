"""Gradings of a recipe."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.ir.question import Answered
from proctor.recipes.group_scores import varied_of
from proctor.recipes.recipe import DatasetRecipe
from proctor.scoring.choice import first_largest
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading, MetricNames, Reading
from proctor.scoring.pipeline import MetricScorers
from proctor.scoring.text.answer_prefix import strip_prefix
from proctor.scoring.text.processor_steps import Processors, ProcessorsOfEach, ProcessorSource


def metrics_of(recipe: DatasetRecipe) -> MetricScorers:
    """Return the metrics of a recipe: its own, or those of its task."""
    if recipe.metrics is not None:  # whoever chooses others knows what he has
        return MetricScorers(recipe.metrics)
    task = recipe.used_task
    return MetricScorers(task.metric_names, predicted=task.prediction_type)


def processors_of(recipe: DatasetRecipe) -> Sequence[ProcessorSource]:
    """Return all processors that a recipe names: its own, or those of all its templates."""
    if recipe.postprocessors is not None:
        return recipe.postprocessors
    return [each for template in recipe.chosen_templates() for each in template.postprocessors]


def recipe_grader(recipe: DatasetRecipe) -> ExamGrader:
    """Return what grades a recipe: its processors or those of each instance's template, then its metrics.

    The first metric owns the main score.
    """
    metrics, processors, varied = metrics_of(recipe), processors_of(recipe), varied_of(recipe)
    grading = Grading(
        "",
        read_choice if recipe.request == "choose" else read_text,
        ProcessorsOfEach(processors) if recipe.postprocessors is None else Processors(processors),
        metrics,
    )
    return ExamGrader([grading], MetricNames(), GroupBy.of(recipe.group_by, varied, metrics.leading if varied else 1))


def read_choice(answered: Answered) -> tuple[Reading]:
    """Return the likeliest choice; of equals, the first."""
    exchange = answered.question.exchange
    likelihoods = [scored.log_likelihood for scored in answered.responses[0].scores]
    chosen = exchange.choices[first_largest(likelihoods)]
    return (Reading(chosen, exchange.references, answered.question.instance),)


def read_text(answered: Answered) -> tuple[Reading]:
    """Return what was written, without the prefix of the answer."""
    exchange = answered.question.exchange
    text = strip_prefix(answered.responses[0].text, exchange.answer_prefix)
    return (Reading(text, exchange.references, answered.question.instance),)
