from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

from proctor.artifacts import catalogs, fetch_artifact
from proctor.data.streams import INFERENCE_STREAM, MultiStream
from proctor.errors import FieldTypeError, MissingFieldError, ProctorError, ValidationError
from proctor.tasks.task import FormTask, Task
from proctor.tasks.types import Dialog

SUM = {
    "input_fields": {"num1": int, "num2": int},
    "reference_fields": {"sum": int},
    "prediction_type": int,
    "metrics": ["metrics.accuracy"],
}
ROW = {"num1": 1, "num2": 2, "sum": 3, "other": "dropped"}


def test_rows_become_instances_with_keys_in_order():
    instance = Task(**SUM).process(
        {**ROW, "data_classification_policy": ["public"], "demos": [], "media": {"images": []}}
    )
    assert list(instance) == [
        "input_fields",
        "metrics",
        "data_classification_policy",
        "media",
        "recipe_metadata",
        "demos",
        "reference_fields",
    ]
    assert instance["input_fields"] == {"num1": 1, "num2": 2}
    assert instance["reference_fields"] == {"sum": 3}
    assert instance["metrics"] == ["metrics.accuracy"]


def test_input_fields_keep_the_order_of_the_task():
    task = Task(**{**SUM, "input_fields": {"b": Any, "a": Any}})
    assert list(task.bind("test")({"a": 1, "b": 2, "sum": 3})["input_fields"]) == ["b", "a"]


def test_production_needs_no_references():
    instance = Task(**SUM).bind(INFERENCE_STREAM)({"num1": 1, "num2": 2, "instruction": "Add.", "system_prompt": "s"})
    assert "reference_fields" not in instance
    assert list(instance)[-2:] == ["instruction", "system_prompt"]


def test_defaults_fill_what_is_missing():
    task = Task(**SUM, defaults={"num2": 5})
    assert task.process({"num1": 1, "sum": 6})["input_fields"] == {"num1": 1, "num2": 5}
    assert task.process(ROW)["input_fields"]["num2"] == 2
    assert task.set_default_values({"num2": 1}) == {"num2": 1}


def test_a_wrong_type_names_instance_and_field():
    rows = [ROW] * 17 + [{**ROW, "num2": "two"}]
    with pytest.raises(
        FieldTypeError, match=r"the field 'num2' of the task 'Task' has the wrong type \(@ test\[17\]"
    ) as caught:
        list(Task(**SUM)(MultiStream.from_iterables({"test": rows}))["test"])
    assert "expected int, got 'two' (str)" in str(caught.value)


def test_a_missing_field_names_instance_and_the_nearest_field():
    with pytest.raises(MissingFieldError, match=r"test\[1\]") as caught:
        list(Task(**SUM)(MultiStream.from_iterables({"test": [ROW, {"num1": 1, "num_2": 2, "sum": 3}]}))["test"])
    assert "did you mean 'num_2'" in str(caught.value)


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"metrics": []}, "'input_fields' not set"),
        ({**SUM, "inputs": {"a": int}}, "cannot be set simultaneously with 'inputs'"),
        ({**SUM, "augmentable_inputs": ["num3"]}, "the augmentable input 'num3'"),
        ({**SUM, "defaults": {"nam1": 1}}, "did you mean 'num1'"),
        ({**SUM, "defaults": {"num1": "x"}}, "The value of 'num1' from the 'defaults' must be of type 'int'"),
        ({**SUM, "input_fields": {"a": "Strin"}}, "is not a type"),
        ({**SUM, "input_fields": {"a": "__import__('os')"}}, "is not a type"),
        ({**SUM, "input_fields": {"a": 3}}, "not a type"),
    ],
)
def test_a_task_that_cannot_be_is_refused(fields, words):
    with pytest.raises(ProctorError, match=words):
        Task(**fields)


def test_types_survive_a_file():
    task = Task(
        input_fields={"d": Dialog, "t": dict[str, list[tuple[str, int]]]},
        reference_fields={"s": Any},
        prediction_type=list[str],
        metrics="metrics.rouge",
    )
    data = json.loads(task.to_json())
    assert data["input_fields"] == {"d": "Dialog", "t": "Dict[str, List[Tuple[str, int]]]"}
    assert data["prediction_type"] == "List[str]"
    assert fetch_artifact(data) == task
    assert task.metrics == ["metrics.rouge"]


def test_old_names_and_untyped_fields_still_work():
    with (
        pytest.warns(DeprecationWarning, match="input_fields"),
        pytest.warns(DeprecationWarning, match="reference_fields"),
    ):
        task = FormTask(inputs={"a": "str"}, outputs={"b": "int"}, metrics=[])
    assert task.input_fields == {"a": str}
    assert task.prediction_type is Any
    untyped = Task(input_fields=["a"], reference_fields=["b"], metrics=[])
    assert untyped.input_types == {"a": Any}
    assert untyped.to_dict()["input_fields"] == ["a"]


def test_later_changes_to_a_task_do_not_reach_what_was_bound():
    task = Task(**SUM)
    step = task.bind("test")
    task.metrics = ["metrics.other"]
    assert step(ROW)["metrics"] == ["metrics.accuracy"]


def test_metrics_may_be_artifacts():
    judge = fetch_artifact("metrics.accuracy")
    assert Task(**{**SUM, "metrics": [judge]}).metric_names == [judge]


def test_a_nested_schema_is_refused_where_the_row_has_no_dict():
    task = Task(**{**SUM, "input_fields": {"d": {"x": "int"}}})
    with pytest.raises(FieldTypeError):
        task.process({"d": 3, "sum": 1})


def test_a_field_of_the_wrong_kind_is_a_validation_error():
    with pytest.raises(ValidationError):
        Task(input_fields="text", reference_fields={}, metrics=[])


@pytest.mark.parametrize(
    "predicted, metric, is_taken",
    [
        (str, "metrics.spearman", False),
        (int, "metrics.spearman", True),
        ("Dict[str, str]", "metrics.accuracy", True),
        ("List[str]", "metrics.f1_micro_multi_label", True),
        (list[str], "metrics.f1_micro_multi_label", True),
        (list, "metrics.f1_micro_multi_label", True),
        ("List[str]", "metrics.ner", False),
        ("List[str]", "metrics.jaccard_index", True),
        ("Literal['a', 'b']", "metrics.rouge", True),
        ("Optional[str]", "metrics.rouge", True),
        ("float", "metrics.accuracy_binary", True),
        ("Any", "metrics.rouge", True),
    ],
)
def test_metrics_take_what_the_task_predicts(predicted, metric, is_taken):
    task = Task(input_fields={"q": str}, reference_fields={"a": Any}, prediction_type=predicted, metrics=[metric])
    with nullcontext() if is_taken else pytest.raises(ValidationError, match=f"'{metric}' metric's prediction type"):
        task.check_metrics_type()


@pytest.mark.filterwarnings("ignore:.*of a task is called:DeprecationWarning")
def test_every_task_of_the_catalog_has_metrics_that_take_what_it_predicts():
    names = [name for catalog in catalogs() for name in catalog.names() if name.startswith("tasks.")]
    assert names
    for name in names:
        fetch_artifact(name).check_metrics_type()


@pytest.mark.parametrize(
    "words, problem",
    [(["a", "b"], None), ([], None), (["a", 1], "words"), ("a", "words"), (("a",), "words")],
)
@pytest.mark.parametrize("beside", [{}, {"count": int}])
def test_the_members_of_a_list_are_of_its_type(words, problem, beside):
    made = Task(input_fields={"words": list[str], **beside}, reference_fields={}, prediction_type=str, metrics=[])
    row = {"words": words, "count": 3}
    if problem is None:
        assert made.process(row)["input_fields"]["words"] == words
        return
    with pytest.raises(FieldTypeError, match=problem):
        made.process(row)
