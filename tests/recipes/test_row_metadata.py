"""Orders that follow from the text of whole rows: Unitxt's, as recorded from 1.26.10."""

from __future__ import annotations

from typing import Any

import pytest

from proctor import (
    DatasetRecipe,
    InputOutputTemplate,
    LoadFromDictionary,
    SystemFormat,
    Task,
    TaskCard,
    get_from_catalog,
)
from proctor.data.filters import MinimumOneExamplePerLabelRefiner
from proctor.data.operator import SequentialOperator
from proctor.formats import ChatAPIFormat, EmptySystemPrompt, TextualSystemPrompt
from proctor.recipes.row_metadata import unitxt_text

ROWS = [{"text": f"t{i}", "label": "abc"[i * 7 % 3], "n": i} for i in range(40)]
_BASE = (
    "__title__=None, __description__=None, __tags__={}, __deprecated_msg__=None, data_classification_policy=None, "
    "requirements=[], caching=None, apply_to_streams=None, dont_apply_to_streams=None"
)


def refiner(most: int, field: str = "label") -> MinimumOneExamplePerLabelRefiner:
    return MinimumOneExamplePerLabelRefiner(fields=[field], max_instances=most)


def recipe(*steps: Any, **fields: Any) -> DatasetRecipe:
    template = InputOutputTemplate(input_format="{text}", output_format="{label}", instruction="classify")
    task = Task(
        input_fields={"text": str}, reference_fields={"label": str}, prediction_type=str, metrics=["metrics.accuracy"]
    )
    loader = LoadFromDictionary(data={"train": ROWS, "test": ROWS[:20]})
    card = TaskCard(loader=loader, task=task, preprocess_steps=list(steps), templates=[template])
    return DatasetRecipe(card=card, template=template, **fields)


def test_a_step_orders_rows_by_what_they_say_of_the_recipe() -> None:
    rows = [row["source"] for row in recipe(refiner(12), num_demos=2, demos_pool_size=5)()["test"]]
    assert rows[:2] == ["classify\nt1\nb\n\nt3\na\n\nt4\n", "classify\nt3\na\n\nt4\nb\n\nt1\n"]


def test_formats_and_system_prompts_count() -> None:
    chat = recipe(refiner(12), format=ChatAPIFormat(), system_prompt="system_prompts.empty")
    made = [row["source"] for row in chat()["train"]]
    order = [
        next(f"t{i}" for i in range(39, -1, -1) if f't{i}"' in str(source) or f"t{i}'" in str(source))
        for source in made
    ]
    assert order == ["t6", "t7", "t8", "t10", "t5", "t9", "t0", "t3", "t11", "t1", "t2", "t4"]


def test_a_step_inside_of_others_counts() -> None:
    rows = [row["source"] for row in recipe(SequentialOperator(steps=[refiner(10)]))()["test"]]
    assert rows[:4] == ["classify\nt3\n", "classify\nt0\n", "classify\nt6\n", "classify\nt1\n"]


def test_a_refiner_of_a_split_sees_the_pool_of_demos() -> None:
    fields = {"max_train_instances": 9, "num_demos": 1, "demos_pool_size": 6}
    made = recipe(refiner(20), train_refiner=refiner(12, "reference_fields/label"), **fields)()
    rows = list(made["train"])
    assert [row["source"] for row in rows][:3] == [
        "classify\nt16\nb\n\nt6\n", "classify\nt15\na\n\nt4\n", "classify\nt15\na\n\nt12\n",
    ]  # fmt: skip
    assert "_demos_pool_" not in rows[0]["task_data"]


@pytest.mark.parametrize(
    "artifact, text",
    [
        (
            EmptySystemPrompt(),
            f"EmptySystemPrompt(__type__='empty_system_prompt', {_BASE}, skip_rendered_instance=True)",
        ),
        (
            TextualSystemPrompt(text="hi"),
            f"TextualSystemPrompt(__type__='textual_system_prompt', {_BASE}, skip_rendered_instance=True, text='hi')",
        ),
        (
            ChatAPIFormat(),
            (
                f"ChatAPIFormat(__type__='chat_api_format', {_BASE}, demos_field='demos', "
                "place_instruction_in_user_turns=False)"
            ),
        ),
        (
            SystemFormat(demo_format="a", model_input_format="b"),
            (
                f"SystemFormat(__type__='system_format', {_BASE}, demos_field='demos', demo_format='a', "
                "model_input_format='b', format_args={})"
            ),
        ),
    ],
)
def test_artifacts_read_as_they_do_there(artifact: Any, text: str) -> None:
    assert unitxt_text(artifact) == text


def test_artifacts_of_a_catalog_read_as_their_names() -> None:
    assert unitxt_text(get_from_catalog("formats.user_agent")) == "formats.user_agent"
    assert unitxt_text(get_from_catalog("formats.user_agent[demo_format=x]")) == "formats.user_agent"
