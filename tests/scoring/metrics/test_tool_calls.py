"""Metrics of tool calls and of values by name; the numbers are Unitxt 1.26.10's."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.scoring.columns import Columns
from proctor.scoring.metrics.accuracy import AccuracyFast
from proctor.scoring.metrics.tool_calls import (
    KeyValueExtraction,
    MultiTurnToolCallingMetric,
    ToolCallingMetric,
    ToolCallKeyValueExtraction,
    flat_values,
)

TOOL = {
    "type": "function",
    "function": {
        "name": "book",
        "description": "books",
        "parameters": {"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]},
    },
}


def call(name: str = "book", **arguments: Any) -> dict[str, Any]:
    """Return a call."""
    return {"name": name, "arguments": arguments}


def scores(metric: Any, predictions: list[Any], references: list[list[Any]], **fields: Any) -> dict[str, Any]:
    """Return the global scores."""
    found = metric.measure(Columns(predictions, references, [fields] * len(predictions)), intervals=False)
    assert not found.failures, found.failures
    return dict(found.overall)


def test_each_part_of_a_call_is_compared() -> None:
    pytest.importorskip("jsonschema")
    given = call(seats=2, day="Monday", hour=7)
    found = scores(ToolCallingMetric(), [given], [[call(seats=2, day="Tuesday"), call("cancel")]], __tools__=[TOOL])
    assert found["exact_match"] == 0
    assert found["tool_name_accuracy"] == 1
    assert found["argument_name_recall"] == 1
    assert found["argument_name_precision"] == pytest.approx(2 / 3)
    assert found["argument_value_precision"] == pytest.approx(1 / 3)
    assert found["argument_schema_validation"] == 1


def test_calls_of_unknown_tools_and_of_wrong_types_do_not_fit() -> None:
    pytest.importorskip("jsonschema")
    answer = [call(seats=2), call(seats="two"), call("fly", seats=2)]
    found = scores(MultiTurnToolCallingMetric(), [answer], [[answer]], __tools__=[TOOL])
    assert found["argument_schema_validation"] == pytest.approx(1 / 3)


def test_without_tools_the_instance_fails_and_says_so() -> None:
    found = ToolCallingMetric().measure(Columns([call()], [[call()]], [{}]), intervals=False)
    assert "__tools__" in found.failures[0].message


def test_values_by_name() -> None:
    metric = KeyValueExtraction(metric=AccuracyFast())
    found = scores(metric, [{"a": "1", "b": "2"}, {"a": "0", "z": "9"}], [[{"a": "1"}], [{"a": "1", "b": "2"}]])
    assert found["accuracy_a"] == 0.5
    assert found["accuracy_b"] == 0
    assert found["accuracy_micro"] == 0.25
    assert found["accuracy_macro"] == 0.25
    assert found["accuracy_legal_keys_in_predictions"] == 0.75
    assert found["score_name"] == "accuracy_micro"


def test_nested_arguments_are_named_by_their_path() -> None:
    nested = {"a": {"b": 1}, "c": [{"x": 1, "y": 2}, {"x": 3}], "d": [{"home": {"s": 1}}, {"work": {"s": 2}}], "e": [1]}
    assert flat_values(nested) == {
        "a.b": 1,
        "c.0.x": 1,
        "c.0.y": 2,
        "c.1.x": 3,
        "d.home.s": 1,
        "d.work.s": 2,
        "e": [1],
    }
    metric = ToolCallKeyValueExtraction(metric=AccuracyFast())
    found = scores(metric, [call(to={"city": "Rome"})], [[call(to={"city": "Rome", "zip": "1"})]])
    assert (found["accuracy_arguments.to.city"], found["accuracy_arguments.to.zip"]) == (1, 0)
