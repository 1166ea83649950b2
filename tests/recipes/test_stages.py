"""The stages of a recipe, one by one: together they make the recipe's rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proctor.data.streams import INFERENCE_STREAM, MultiStream
from proctor.errors import ValidationError
from proctor.recipes import DatasetRecipe
from proctor.recipes.plan import WHOLE_STREAM
from proctor.recipes.stages import RecipeStage
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(
    input_fields={"text": "str", "kind": "str"},
    reference_fields={"label": "str"},
    prediction_type="str",
    metrics=["metrics.accuracy"],
    augmentable_inputs=["text"],
)
TEMPLATES = [
    InputOutputTemplate(input_format="{kind}: {text}", target_prefix="It is ", output_format="{label}"),
    InputOutputTemplate(instruction="Which?", input_format="{text}", output_format="{label}"),
]


def _card() -> TaskCard:
    data = {
        split: [{"text": f"{split} {number}", "label": "ab"[number % 2]} for number in range(count)]
        for split, count in (("train", 12), ("validation", 4), ("test", 7))
    }
    return TaskCard(
        loader={"__type__": "load_from_dictionary", "data": data},
        preprocess_steps=[{"__type__": "set", "fields": {"kind": "text"}}],
        task=TASK,
        templates=TEMPLATES,
    )


def _rows(streams: MultiStream) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{**row, "task_data": json.loads(row["task_data"])} for row in stream] for name, stream in streams.items()
    }


RECIPES: list[dict[str, Any]] = [
    {},
    {"loader_limit": 5, "max_test_instances": 2},
    {"num_demos": 2, "demos_pool_size": 5},
    {"num_demos": [0, 1, 3], "demos_pool_size": 6, "demos_sampling_seed": 3},
    {"num_demos": 2, "demos_pool_size": 5, "demos_removed_from_data": False},
    {"num_demos": 1, "demos_pool_size": -1, "demos_taken_from": "validation"},
    {
        "num_demos": 1,
        "demos_pool": [{"text": "x", "kind": "k", "label": "a"}, {"text": "y", "kind": "k", "label": "b"}],
    },
    {"demos_pool_size": 4},
    {"template": TEMPLATES, "num_demos": 1, "demos_pool_size": 3},
    {"format": "formats.chat_api", "num_demos": 1, "demos_pool_size": 3},
    {"augmentor": "augmentors.text.white_space"},
    {"metrics": ["metrics.f1_micro"], "postprocessors": ["processors.lower_case"], "group_by": ["label"]},
    {
        "train_refiner": {"__type__": "deterministic_balancer", "fields": ["reference_fields/label"]},
        "max_train_instances": 6,
    },
    {"serializer": {"__type__": "table_serializer"}},
]


@pytest.mark.parametrize("fields", RECIPES, ids=lambda fields: ",".join(fields) or "plain")
def test_stages_one_after_the_other_make_the_rows_of_the_recipe(fields: dict[str, Any]) -> None:
    recipe = DatasetRecipe(card=_card(), **fields)
    streams = recipe.loading()
    for stage in recipe.steps[1:]:
        streams = stage(streams)
    expected = _rows(recipe())
    assert expected["test"]
    assert _rows(streams) == expected


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_recipe_stops_after_so_many_stages(steps: int) -> None:
    recipe = DatasetRecipe(card=_card(), max_steps=steps)
    row = next(iter(recipe()["test"]))
    stages = ("recipe_metadata", "kind", "input_fields", "source", "task_data")
    reached = [name in row for name in stages]
    assert reached[: steps - 1] == [True] * (steps - 1) or steps >= 4  # rows are instances from there on
    assert not any(reached[steps - 1 :])


def test_all_stages_are_the_whole_recipe() -> None:
    assert _rows(DatasetRecipe(card=_card(), max_steps=6)()) == _rows(DatasetRecipe(card=_card())())


@pytest.mark.parametrize("steps", [0, 7])
def test_there_are_six_stages(steps: int) -> None:
    with pytest.raises(ValidationError, match=f"{steps} of 6 steps"):
        DatasetRecipe(card=_card(), max_steps=steps)()


def test_stages_are_no_place_to_change_a_recipe() -> None:
    recipe = DatasetRecipe(card=_card())
    with pytest.raises(AttributeError):
        recipe.steps.append(RecipeStage())  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        recipe.processing.steps.append(RecipeStage())  # type: ignore[attr-defined]
    with pytest.raises(ValidationError, match="has no field 'processing'"):
        recipe.processing = RecipeStage()  # type: ignore[misc]


def test_instances_of_one_recipe_are_demos_of_another() -> None:
    recipe = DatasetRecipe(card=_card())
    instances = list(recipe.processing(recipe.inference_demos())["train"])[:4]
    given = DatasetRecipe(card=_card(), num_demos=2, demos_pool=instances)
    taken = DatasetRecipe(card=_card(), num_demos=2, demos_pool_size=4)
    assert [row["source"] for row in given()["test"]] == [row["source"] for row in taken()["test"]]


def test_rows_that_a_program_brings_pass_the_stages_of_inference() -> None:
    recipe = DatasetRecipe(card=_card(), template_card_index=0)
    brought = [{"text": "x", "kind": "k"}]
    (told,) = recipe.production_preprocess(brought)
    assert told["recipe_metadata"]["format"] == recipe.plan().format
    assert brought == [{"text": "x", "kind": "k"}]
    (row,) = recipe.inference(MultiStream({INFERENCE_STREAM: [told]}))[INFERENCE_STREAM]
    assert row["source"] == recipe.produce(brought)[0]["source"]
    (instance,) = recipe.inference_instance(MultiStream({INFERENCE_STREAM: brought}))[INFERENCE_STREAM]
    assert instance["input_fields"] == {"text": "x", "kind": "k"}


def test_a_pool_of_a_whole_split_has_the_largest_size() -> None:
    row = next(iter(DatasetRecipe(card=_card(), num_demos=1, demos_pool_size=-1)()["test"]))
    assert json.loads(row["task_data"])["metadata"]["demos_pool_size"] == WHOLE_STREAM


def test_the_task_of_the_card_is_told_and_not_given() -> None:
    recipe = DatasetRecipe(card=_card())
    assert recipe.task is recipe.card.task  # type: ignore[union-attr]
    assert "task" not in recipe.to_dict()
    other = TASK.model_copy()
    recipe.card = TaskCard(loader=_card().loader, task=other, templates=TEMPLATES)
    assert recipe.used_task is recipe.card.task
