"""A check for cards: does every template work, and do metrics tell right answers from nonsense?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from proctor.artifacts import LocalCatalog, fetch_artifact, register_local_catalog, unregister_catalog
from proctor.errors import UsageError
from proctor.recipes import DatasetRecipe
from proctor.results.evaluate import evaluate
from proctor.tasks.card import TaskCard

SHOWN = 5
ROWS = 30
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
    tested_split: str = "test",
    strict: bool = True,
    exact_match_score: float = 1.0,
    maximum_full_mismatch_score: float = 0.0,
    full_mismatch_prediction_values: Sequence[str] | None = None,
    test_exact_match_score_when_predictions_equal_references: bool = True,
    test_full_mismatch_score_with_full_mismatch_prediction_values: bool = True,
    debug: bool = False,
    **recipe: Any,
) -> None:
    """Try a card with each of its templates; print rows, what processors make of answers, and scores.

    Args:
        card: The card or its name.
        tested_split: The split whose rows are shown and scored.
        strict: Raise where scores are not as expected, instead of printing it.
        exact_match_score: The score expected when each prediction is the instance's reference.
        maximum_full_mismatch_score: The highest score allowed for nonsense.
        full_mismatch_prediction_values: The nonsense.
        debug: Print the number of rows and one row after every step.
        **recipe: More fields of the recipe (``num_demos``, ``demos_pool_size`` …).

    Raises:
        UsageError: With ``strict``, a score that is not as expected.
        ProctorError: The card does not work; the message says where.
    """
    chosen = fetch_artifact(card)
    if not isinstance(chosen, TaskCard):
        raise UsageError(f"{card!r} is no card")
    if "demo_pool_size" in recipe:
        recipe["demos_pool_size"] = recipe.pop("demo_pool_size")
    for index in _templates(chosen, recipe):
        made = DatasetRecipe(card=chosen, template_card_index=index, loader_limit=ROWS, **recipe)
        if debug:
            _print_stages(made)
        rows = list(islice(made()[tested_split], SHOWN))
        if not rows:
            raise UsageError(f"the split '{tested_split}' of the card is empty")
        _print_rows(tested_split, rows)
        checks = [
            (test_exact_match_score_when_predictions_equal_references, True, [row["target"] for row in rows]),
            (
                test_full_mismatch_score_with_full_mismatch_prediction_values,
                False,
                _cycled(full_mismatch_prediction_values or NONSENSE, len(rows)),
            ),
        ]
        for wanted, is_right, predictions in checks:
            if wanted:
                score = _scored(rows, predictions, is_right=is_right)
                limit = exact_match_score if is_right else maximum_full_mismatch_score
                _judge(score, limit, is_right=is_right, strict=strict)


test_card.__test__ = False  # type: ignore[attr-defined]  # pytest is not to collect it


def _templates(card: TaskCard, recipe: dict[str, Any]) -> list[Any]:
    if "template" in recipe or "template_card_index" in recipe:
        return [recipe.pop("template_card_index", None)]
    from proctor.recipes.recipe import card_templates

    return list(card_templates(card)) or [None]


def _cycled(values: Sequence[str], count: int) -> list[str]:
    return [values[place % len(values)] for place in range(count)]


def _print_stages(recipe: DatasetRecipe) -> None:
    for number, (title, streams) in enumerate(recipe.compile().stages(), 1):
        _say(f"{'*' * 60}\nStep {number}: {title}")
        for name, stream in streams.items():
            rows = list(stream)
            _say(f"  {name}: {len(rows)} instances")
            if rows:
                _say(_fields(rows[0]))


def _print_rows(split: str, rows: Sequence[dict[str, Any]]) -> None:
    _say(f"{'-' * 10}\nShowing up to {SHOWN} examples from stream '{split}':\n")
    for row in rows:
        _say(_fields(row))


def _fields(row: dict[str, Any]) -> str:
    return "\n".join(f"  {name} ({type(value).__name__}):\n      {value}" for name, value in row.items()) + "\n"


def _scored(rows: list[dict[str, Any]], predictions: list[str], *, is_right: bool) -> float:
    title = "the gold references as predictions" if is_right else "random values as predictions"
    _say(f"{'*' * 40}\nRunning with {title}.\nShowing the output of the post processing:\n*****")
    results = evaluate(predictions, rows)
    for row in results:
        processed, answers = row["processed_prediction"], row["processed_references"]
        _say(f"Prediction: ({type(row['prediction']).__name__})     {row['prediction']}")
        _say(f"Processed prediction: ({type(processed).__name__}) {processed}")
        _say(f"Processed references: ({type(answers).__name__}) {answers}\n*****")
    _say(f"Score output:\n{results.global_scores.summary}")
    return float(results.global_scores.score)


def _judge(score: float, limit: float, *, is_right: bool, strict: bool) -> None:
    if score == limit or (not is_right and score < limit):
        return
    expected = f"exactly {limit}" if is_right else f"at most {limit}"
    message = f"the score is {score}, expected {expected} for {'right answers' if is_right else 'nonsense'}"
    if strict:
        raise UsageError(
            message,
            hint="set exact_match_score or maximum_full_mismatch_score, or strict=False to go on",
        )
    _say(f"WARNING: {message}")


def _say(text: str) -> None:
    print(text)  # noqa: T201 - what this function is for
