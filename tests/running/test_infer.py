"""Instances that a program brings: prompts, a model, parsed answers."""

import pytest

from proctor.engines.scripted import ScriptedEngine
from proctor.errors import UsageError
from proctor.recipes import DatasetRecipe, produce
from proctor.results.evaluate import post_process
from proctor.running.infer import infer

RECIPE = {
    "task": "tasks.classification.multi_class",
    "template": "templates.classification.multi_class.title",
    "postprocessors": ["processors.take_first_word", "processors.lower_case"],
}
INSTANCE = {"text": "I like it", "classes": ["positive", "negative"]}


def test_a_prompt_and_an_answer_parsed():
    row = produce(INSTANCE, **RECIPE)
    assert "I like it" in row["source"]
    assert post_process(predictions=[" Positive. "], data=[row]) == ["positive"]


def test_from_instances_to_predictions_in_one_call():
    engine = ScriptedEngine(answer="Negative!")
    assert infer(INSTANCE, engine=engine, **RECIPE) == "negative"
    assert infer([INSTANCE, INSTANCE], engine=engine, **RECIPE) == ["negative", "negative"]
    data = infer([INSTANCE], engine=engine, return_data=True, **RECIPE)
    assert data["prediction"] == ["negative"]
    assert data["raw_prediction"] == ["Negative!"]


def test_messages_before_each_instance_are_its_own():
    engine = ScriptedEngine(function=lambda prompt: "negative" if "first" in str(prompt) else "positive")
    told = [[{"role": "user", "content": "first"}], []]
    assert infer([INSTANCE, INSTANCE], engine=engine, previous_messages=told, **RECIPE) == ["negative", "positive"]
    for wrong in (told[:1], [], told * 2):
        with pytest.raises(UsageError, match=f"previous messages of {len(wrong)} instances, and 2 instances"):
            infer([INSTANCE, INSTANCE], engine=engine, previous_messages=wrong, **RECIPE)


def test_recipe_and_engine_come_in_either_order_and_by_position_or_name():
    engine, recipe = ScriptedEngine(answer="Negative!"), DatasetRecipe(**RECIPE)
    for given, named in (
        ((engine, recipe), {}),
        ((recipe, engine), {}),
        ((engine,), {"recipe": recipe}),
        ((engine,), {"dataset_query": recipe}),
        ((recipe,), {"engine": engine}),
        ((), {"recipe": recipe, "engine": engine}),
    ):
        assert infer([INSTANCE], *given, **named) == ["negative"]
    with pytest.raises(UsageError, match="twice"):
        infer([INSTANCE], engine, recipe, recipe=recipe)
