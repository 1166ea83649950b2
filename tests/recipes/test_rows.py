"""Dataset rows: the schema that Unitxt programs know."""

from __future__ import annotations

import json

import numpy as np
import pytest

from proctor.demos import DemoPool
from proctor.formats import ChatAPIFormat, EmptySystemPrompt, SystemFormat
from proctor.recipes.plan import Plan
from proctor.recipes.prompts import Prompts, Rendered
from proctor.recipes.rows import RowMaker, task_data_of
from proctor.scoring.metrics.accuracy import Accuracy
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(input_fields={"a": "Any"}, reference_fields={"b": "str"}, prediction_type="str", metrics=["metrics.f1"])
TEMPLATE = InputOutputTemplate(input_format="Q {a}", output_format="{b}", postprocessors=["processors.lower_case"])


def instance(number, **more):
    return {**TASK.bind("test")({"a": number, "b": str(number)}), **more}


def rendered(given=None, demos=None, form=None) -> Rendered:
    plan = Plan(
        None, TASK, (TEMPLATE,), form or SystemFormat(), EmptySystemPrompt(), num_demos=len(demos or ()), pool_size=3
    )
    pool = DemoPool(demos) if demos else None
    return Prompts(plan).render(given or instance(1), "test", demos or (), pool)


def test_names_of_metrics_and_processors_are_lists_of_their_own():
    maker = RowMaker()
    first, second = maker.make(rendered()), maker.make(rendered())
    assert first["metrics"] == ["metrics.f1"]
    assert first["postprocessors"] == ["processors.lower_case"]
    first["metrics"].append("x")
    assert second["metrics"] == maker.make(rendered())["metrics"] == ["metrics.f1"]


def test_metrics_and_processors_can_be_replaced():
    row = RowMaker(["metrics.rouge", {"a": 1}], []).make(rendered())
    assert row["metrics"] == ["metrics.rouge", '{"a": 1}']
    assert row["postprocessors"] == []
    assert row["groups"] == row["subset"] == []


def test_demos_are_encoded_once_and_stand_in_the_task_data():
    demos = [instance(7), instance(8)]
    made = rendered(demos=demos)
    data = json.loads(RowMaker().make(made)["task_data"])
    assert [each["a"] for each in data["demos"]] == [7, 8]
    assert data["demos"][0] == {"a": 7, "metadata": {"data_classification_policy": []}, "b": "7"}
    assert (data["metadata"]["num_demos"], data["metadata"]["demos_pool_size"]) == (2, 3)
    assert made.demos[0].memo["json"] == json.dumps(data["demos"][0])
    made.demos[0].memo["json"] = '{"known": 1}'
    assert json.loads(RowMaker().make(made)["task_data"])["demos"][0] == {"known": 1}
    assert "demos" not in json.loads(RowMaker().make(rendered())["task_data"])


def test_groups_take_one_field_or_several_of_the_task_or_its_metadata():
    row = RowMaker(group_by=["a", ["num_demos", "b"]]).make(rendered())
    assert row["groups"] == ['{"a": 1}', '{"num_demos": 0, "b": "1"}']


def test_instances_without_references_make_rows_without_them():
    given = TASK.bind("__INFERENCE_STREAM__")({"a": 1})
    plan = Plan(None, TASK, (TEMPLATE,), SystemFormat(), EmptySystemPrompt())
    row = RowMaker().make(Prompts(plan).render(given, "__INFERENCE_STREAM__", (), None))
    assert "target" not in row
    assert "references" not in row
    assert "b" not in json.loads(row["task_data"])


def test_messages_are_json_text_only_where_they_are_messages():
    assert RowMaker().make(rendered())["source"] == "Q 1\n"
    chat = RowMaker().make(rendered(form=ChatAPIFormat()))["source"]
    assert json.loads(chat) == [{"role": "user", "content": "Q 1"}]


def test_media_are_listed_and_chats_hold_their_images_themselves():
    media = {"images": [{"image": "pixels", "format": "png"}, {"image": "bare"}, "path"], "audios": ("sound",)}
    row = RowMaker().make(rendered(instance(1, media=media)))
    assert row["media"] == {"images": ["pixels", {"image": "bare"}, "path"], "audios": ["sound"]}
    assert RowMaker().make(rendered())["media"] == {"images": [], "audios": []}


def test_values_that_are_not_json_are_encoded_or_refused():
    data = json.loads(RowMaker().make(rendered(instance(np.array([1, 2]))))["task_data"])
    assert data["a"] == [1, 2]
    with pytest.raises(TypeError, match="object is not a JSON value"):
        RowMaker().make(rendered(instance(object())))


def test_tools_are_part_of_what_metrics_see():
    made = rendered(instance(1, __tools__=[{"name": "f"}]))
    assert task_data_of(made)["__tools__"] == [{"name": "f"}]
    assert "__tools__" not in task_data_of(rendered())


def test_artifacts_among_the_values_are_their_names_or_their_fields():
    from proctor.artifacts import fetch_artifact

    named, own = fetch_artifact("metrics.accuracy"), Accuracy(score_prefix="my_")
    data = json.loads(RowMaker().make(rendered(instance([named, own])))["task_data"])
    assert data["a"] == ["metrics.accuracy", own.to_dict()]


def test_metrics_and_processors_that_are_objects_are_written_as_texts():
    own = Accuracy(score_prefix="my_")
    given = instance(1, metrics=["metrics.f1", own, {"__type__": "accuracy"}])
    maker = RowMaker()
    for _ in range(2):
        row = maker.make(rendered(given))
        assert row["metrics"] == ["metrics.f1", own.to_json(), '{"__type__": "accuracy"}']
    assert maker.make(rendered(instance(1, metrics=[])))["metrics"] == []
