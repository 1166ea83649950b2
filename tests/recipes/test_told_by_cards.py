"""What the parts of a card tell a recipe and its rows."""

from __future__ import annotations

import json

from proctor.recipes import DatasetRecipe
from proctor.recipes.plan import WHOLE_STREAM
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
