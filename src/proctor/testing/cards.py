"""A check for cards: does every template work, and do metrics tell right answers from nonsense?"""

from __future__ import annotations

import json
import math
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from proctor.artifacts import LocalCatalog, fetch_artifact, register_local_catalog, unregister_catalog
from proctor.errors import UsageError
from proctor.recipes import DatasetRecipe
from proctor.results.evaluate import evaluate
from proctor.tasks.card import TaskCard
from proctor.terminal_text import printable

SHOWN = 5  # as many as Unitxt's test_card prints and scores
ROWS = 30  # Unitxt's: enough for demos and five instances, and loaded in no time
RIGHT = "the gold references as predictions"
NONSENSE = ("a1s", "bfsdf", "dgdfgs", "gfjgfh", "ghfjgh")


@contextmanager
def temporary_catalog() -> Iterator[LocalCatalog]:
    """Register an empty catalog for a block of code."""
    with tempfile.TemporaryDirectory() as folder:
        catalog = register_local_catalog(folder)
        try:
            yield catalog
        finally:
            unregister_catalog(catalog)


def test_card(  # noqa: PLR0917 - the signature that programs know
    card: TaskCard | str,
    debug: bool = False,
    strict: bool = True,
    test_exact_match_score_when_predictions_equal_references: bool = True,
    test_full_mismatch_score_with_full_mismatch_prediction_values: bool = True,
    exact_match_score: float = 1.0,
    maximum_full_mismatch_score: float = 0.0,
    full_mismatch_prediction_values: Sequence[str] | None = None,
    *,
    tested_split: str = "test",
    **recipe: Any,
) -> None:
    """Try a card with each of its templates; print rows, what processors make of answers, and scores.

    Args:
        card: The card or its name.
        debug: Print the number of rows and one row after every step.
        strict: Raise where scores are not as expected, instead of printing it.
        test_exact_match_score_when_predictions_equal_references: Score each instance's target as its prediction.
        test_full_mismatch_score_with_full_mismatch_prediction_values: Score nonsense.
        exact_match_score: The score expected when each prediction is the instance's target.
        maximum_full_mismatch_score: The highest score allowed for nonsense.
        full_mismatch_prediction_values: The nonsense.
        tested_split: The split whose rows are shown and scored.
        **recipe: More fields of the recipe (``num_demos``, ``demos_pool_size`` …).

    Raises:
        UsageError: With ``strict``, a score that is not as expected; a card that is another one once it is saved.
        ProctorError: The card does not work; the message says where.
    """
    chosen = fetch_artifact(card)
    if not isinstance(chosen, TaskCard):
        raise UsageError(f"{card!r} is not a card")
    _check_saved(chosen)
    if "demo_pool_size" in recipe:
        recipe["demos_pool_size"] = recipe.pop("demo_pool_size")
    if "loader_limit" not in recipe:
        recipe["loader_limit"] = ROWS
        _say(f"Loading limited to {ROWS} instances by setting {type(chosen.loader).__name__}.loader_limit;")
    expected = _Expected(exact_match_score, maximum_full_mismatch_score, strict)
    for index in _templates(chosen, recipe):
        made = DatasetRecipe(card=chosen, template_card_index=index, **recipe)
        if debug:
            _print_stages(made)
        rows = list(islice(made()[tested_split], SHOWN))
        if not rows:
            raise UsageError(f"the split '{tested_split}' of the card is empty")
        _print_rows(tested_split, rows)
        if test_exact_match_score_when_predictions_equal_references:
            expected.of_right_answers(_scored(rows, [row["target"] for row in rows], RIGHT))
        if test_full_mismatch_score_with_full_mismatch_prediction_values:
            nonsense = cycled(full_mismatch_prediction_values or NONSENSE, len(rows))
            expected.of_nonsense(_scored(rows, nonsense, "random values as predictions"))


test_card.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it


@dataclass(frozen=True, slots=True)
class _Expected:
    """What scores are expected, and whether others are errors."""

    exact: float
    highest: float
    strict: bool

    def of_right_answers(self, score: float) -> None:
        if not math.isclose(score, self.exact):
            self._differs(f"the score is {score}, expected {self.exact} for right answers")

    def of_nonsense(self, score: float) -> None:
        if score > self.highest:  # a correlation of values that are all the same is not a number: nothing is wrong
            self._differs(f"the score is {score}, expected at most {self.highest} for nonsense")

    def _differs(self, message: str) -> None:
        if self.strict:
            hint = "set exact_match_score or maximum_full_mismatch_score, or strict=False to go on"
            raise UsageError(message, hint=hint)
        _say(f"WARNING: {message}")


def _check_saved(card: TaskCard) -> None:
    """Check that the card is the same once it is written and read."""
    written = card.to_dict()
    read = TaskCard.from_dict(json.loads(card.to_json())).to_dict()
    if differing := [name for name, value in written.items() if read.get(name) != value]:
        raise UsageError(f"the card is another one once it is saved: {', '.join(differing)} differ")


def _templates(card: TaskCard, recipe: dict[str, Any]) -> list[Any]:
    if "template" in recipe or "template_card_index" in recipe:
        return [recipe.pop("template_card_index", None)]
    from proctor.recipes.recipe import card_templates

    return list(card_templates(card)) or [None]


def cycled(values: Sequence[str], count: int) -> list[str]:
    """Return as many values as are asked for, in turn."""
    return [values[place % len(values)] for place in range(count)]


def _print_stages(recipe: DatasetRecipe) -> None:
    for number, (title, streams) in enumerate(recipe.compile().stages(), 1):
        _say(f"{'*' * 60}\nStep {number}: {title}")
        for name, stream in streams.items():
            rows = list(stream)
            _say(f"  {name}: {len(rows)} instances")
            if rows:
                _say(fields_text(rows[0]))


def _print_rows(split: str, rows: Sequence[dict[str, Any]]) -> None:
    _say(f"{'-' * 10}\nShowing up to {SHOWN} examples from stream '{split}':\n")
    for row in rows:
        _say(fields_text(row))


def fields_text(row: dict[str, Any]) -> str:
    """Return a row as people read it: each field with its type."""
    lines = (f"{name} ({type(value).__name__}):\n{textwrap.indent(str(value), '    ')}" for name, value in row.items())
    return textwrap.indent("\n".join(lines), "  ") + "\n"


def _scored(rows: list[dict[str, Any]], predictions: list[str], title: str) -> float:
    _say(f"{'*' * 40}\nRunning with {title}.\nShowing the output of the post processing:\n*****")
    results = evaluate(predictions, rows)
    for row in results:
        processed, answers = row["processed_prediction"], row["processed_references"]
        _say(f"Prediction: ({type(row['prediction']).__name__})     {row['prediction']}")
        _say(f"Processed prediction: ({type(processed).__name__}) {processed}")
        _say(f"Processed references: ({type(answers).__name__}) {answers}\n*****")
    _say(f"Score output:\n{json.dumps(results[0]['score'], sort_keys=True, indent=4, default=str)}")
    return float(results.global_scores.score)


def _say(text: str) -> None:
    print(printable(text))  # noqa: T201 - what this function is for
