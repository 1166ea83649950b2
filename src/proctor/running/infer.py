"""From instances to predictions in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.engines.engine import Engine
from proctor.errors import UsageError
from proctor.recipes import Recipe, produce
from proctor.results.evaluate import post_process


def infer(
    instance_or_instances: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    *recipe_and_engine: str | Recipe | Engine,
    recipe: str | Recipe | Engine | None = None,
    engine: str | Engine | Recipe | None = None,
    dataset_query: str | Recipe | None = None,
    return_data: bool = False,
    return_log_probs: bool = False,
    return_meta_data: bool = False,
    previous_messages: Sequence[Sequence[dict[str, Any]]] | None = None,
    **overrides: Any,
) -> Any:
    """Return an engine's predictions for instances, parsed as the recipe says.

    Args:
        instance_or_instances: Task fields of one instance, or of several.
        *recipe_and_engine: Recipe and engine by position, in either order; or one of them, and the other by name.
        recipe, dataset_query: The recipe; two names for the same thing.
        engine: An engine, or its catalog name.
        return_data: Return a dataset with ``prediction`` and ``raw_prediction`` instead of predictions.
        return_log_probs: Predict the tokens with their log-probabilities.
        return_meta_data: With ``return_data``, add what the engine says about each answer.
        previous_messages: Chat messages to put before each instance's own.
        **overrides: Fields of :class:`~proctor.recipes.DatasetRecipe`.

    Returns:
        One prediction for one instance, a list for several; a dataset with ``return_data``.

    Raises:
        UsageError: There is no engine, or there are more or fewer previous messages than instances.
        ProctorError: The recipe does not fit the instances, or the engine cannot answer.
    """
    recipe, engine = _in_order(recipe if recipe is not None else dataset_query, engine, recipe_and_engine)
    chosen = _engine(engine)
    single = isinstance(instance_or_instances, Mapping)
    instances: list[Mapping[str, Any]] = (
        [instance_or_instances] if isinstance(instance_or_instances, Mapping) else list(instance_or_instances)
    )
    rows = [dict(row) for row in produce(instances, recipe, **overrides)]
    if previous_messages is not None:
        _put_before(rows, previous_messages)
    outputs = (
        chosen.infer_log_probs(rows, return_meta_data=True)
        if return_log_probs
        else chosen.infer(rows, return_meta_data=True)
    )
    raw = [output.prediction for output in outputs]
    predictions = list(raw) if return_log_probs else post_process(raw, rows)
    if not return_data:
        return predictions[0] if single else predictions
    return _dataset(rows, predictions, raw, outputs if return_meta_data else None)


def _put_before(rows: Sequence[dict[str, Any]], previous_messages: Sequence[Sequence[dict[str, Any]]]) -> None:
    """Put messages before the prompts of rows."""
    if len(previous_messages) != len(rows):
        raise UsageError(
            f"there are previous messages of {len(previous_messages)} instances, and {len(rows)} instances",
            hint="give a list of messages for each instance; it may be empty",
        )
    for row, before in zip(rows, previous_messages, strict=True):
        row["source"] = [*before, *_messages(row["source"])]


def _in_order(
    recipe: str | Recipe | Engine | None,
    engine: str | Engine | Recipe | None,
    by_position: Sequence[str | Recipe | Engine | None],
) -> tuple[str | Recipe | None, str | Engine | None]:
    """Return recipe and engine, whichever came first; those by position go where none came by name."""
    left = list(by_position)
    if recipe is None and left:
        recipe = left.pop(0)
    if engine is None and left:
        engine = left.pop(0)
    if left:
        raise UsageError("infer was given a recipe or an engine twice", hint="infer(instances, recipe=…, engine=…)")
    names_engine = isinstance(recipe, str) and recipe.startswith("engines.")
    if isinstance(recipe, Engine) or isinstance(engine, Recipe) or names_engine:
        recipe, engine = engine, recipe
    if isinstance(recipe, Engine) or isinstance(engine, Recipe):
        raise UsageError("infer needs one engine and one recipe", hint="infer(instances, recipe=…, engine=…)")
    return recipe, engine


def _engine(engine: str | Engine | None) -> Engine:
    if engine is None:
        raise UsageError("say which engine answers", hint="engine=HFPipelineBasedInferenceEngine(model_name=…)")
    chosen = fetch_artifact(engine)
    if not isinstance(chosen, Engine):
        raise UsageError(f"'{engine}' is a {type(chosen).__name__}, not an engine")
    return chosen


def _messages(source: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": source}] if isinstance(source, str) else list(source)


def _dataset(rows: list[dict[str, Any]], predictions: list[Any], raw: list[Any], outputs: Any) -> Any:
    from dataclasses import asdict

    from datasets import Dataset

    for row, prediction, text in zip(rows, predictions, raw, strict=True):
        row["prediction"], row["raw_prediction"] = prediction, text
    for row, output in zip(rows, outputs or (), strict=False):
        about = asdict(output)
        about.pop("prediction")
        row["infer_meta_data"] = about
    return Dataset.from_list(rows)
