"""``unitxt.test_utils.card``: the steps of ``test_card``, which programs call by themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Any

from proctor.errors import UsageError
from proctor.logs import get_logger
from proctor.recipes import DatasetRecipe
from proctor.results.evaluate import EvaluationResults, evaluate
from proctor.settings import settings
from proctor.tasks.card import TaskCard
from proctor.testing.cards import ROWS, SHOWN, cycled, fields_text

Row = dict[str, Any]


class CardScoreError(UsageError, AssertionError):
    """A score of a card that is not as expected."""


def load_examples_from_dataset_recipe(
    card: TaskCard, template_card_index: int | str, debug: bool, **kwargs: Any
) -> list[Row] | None:
    """Return instances of the split test of a card.

    Args:
        card: The card.
        template_card_index: Which of its templates.
        debug: Show every step; the last one's instances, one of each split, are returned.
        **kwargs: More fields of the recipe.

    Returns:
        Nothing where ``settings.test_card_disable`` says so.
    """
    if settings.test_card_disable:
        get_logger().info("nothing is loaded: settings.test_card_disable is set")
        return None
    recipe = DatasetRecipe(card=card, template_card_index=template_card_index, **{"loader_limit": ROWS, **kwargs})
    if not debug:
        return print_recipe_output(recipe, _steps(recipe), SHOWN, False, False, ["test"])
    shown: list[Row] = []
    for number in range(1, _steps(recipe) + 1):
        shown = print_recipe_output(recipe, number, 1, True, True)
    return shown


def _steps(recipe: DatasetRecipe) -> int:
    return sum(1 for _ in recipe.compile().stages())


def print_recipe_output(
    recipe: DatasetRecipe,
    max_steps: int,
    num_examples: int,
    print_header: bool,
    print_stream_size: bool,
    streams: Sequence[str] | None = None,
) -> list[Row]:
    """Log what the rows of a recipe are after a step, and return them.

    Args:
        recipe: The recipe.
        max_steps: The step, from 1; the last are the rows that are asked.
        num_examples: How many of each split.
        print_header: Say what the step did.
        print_stream_size: Say how many rows there are.
        streams: The splits, all by default.
    """
    stages = list(recipe.compile().stages())
    title, rows_of = stages[max_steps - 1]
    if max_steps == len(stages):
        rows_of = recipe.process()
    say = get_logger().info
    if print_header:
        say("%s", title)
    shown: list[Row] = []
    for name, stream in rows_of.items():
        if print_stream_size:
            say("the split '%s' has %s instances", name, sum(1 for _ in stream))
        if streams is None or name in streams:
            for row in islice(stream, num_examples):
                say("%s", fields_text(row))
                shown.append(row)
    return shown


def print_predictions(correct_predictions: Sequence[Any], results: EvaluationResults | Sequence[Row]) -> None:
    """Log predictions as they were given and as processors left them, and the scores."""
    say = get_logger().info
    for row, prediction in zip(results, correct_predictions, strict=True):
        say("Prediction: (%s) %s", type(prediction).__name__, prediction)
        say("Processed prediction: %s", row["processed_prediction"])
        say("Processed references: %s", row["processed_references"])
    say("Score output: %s", results[0]["score"])


def test_correct_predictions(examples: list[Row], strict: bool, exact_match_score: float) -> None:
    """Score each instance's target as its prediction.

    Raises:
        AssertionError: With ``strict``, the score is another than expected.
    """
    score = _score(examples, [row["target"] for row in examples])
    if not math.isclose(score, exact_match_score):
        _differs(f"the score is {score}, expected {exact_match_score} for right answers", strict)


def test_wrong_predictions(
    examples: list[Row],
    strict: bool,
    maximum_full_mismatch_score: float,
    full_mismatch_prediction_values: Sequence[str],
) -> None:
    """Score nonsense.

    Raises:
        AssertionError: With ``strict``, the score is higher than allowed.
    """
    score = _score(examples, cycled(full_mismatch_prediction_values, len(examples)))
    if score > maximum_full_mismatch_score:
        _differs(f"the score is {score}, expected at most {maximum_full_mismatch_score} for nonsense", strict)


def _score(examples: list[Row], predictions: list[Any]) -> float:
    results = evaluate(predictions, examples)
    print_predictions(predictions, results)
    return float(results.global_scores.score)


def _differs(message: str, strict: bool) -> None:
    if strict:
        raise CardScoreError(message, hint="strict=False goes on")
    get_logger().warning("%s", message)


for _check in (test_correct_predictions, test_wrong_predictions):
    vars(_check)["__test__"] = False  # pytest takes them for tests where they are imported
