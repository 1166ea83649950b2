"""Calls of tools as answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.call_checks import calls_check, calls_of, calls_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
CALLS = st.lists(st.tuples(st.text(max_size=3), st.dictionaries(st.text(max_size=2), VALUES, max_size=2)), max_size=3)


@given(CALLS)
def test_what_is_written_is_read_again_and_equal_in_any_order(calls):
    assert calls_of(calls_text(calls)) == calls
    assert calls_check()(calls_text(calls[::-1]), ["something else", calls_text(calls)]) == 1.0


@pytest.mark.parametrize(
    "said, wanted, score",
    [
        ({"n": 1}, {"n": 1.0}, 1.0),
        ({"n": 1}, {"n": True}, 0.0),
        ({"n": [1, {"m": "a"}]}, {"n": [1, {"m": "a"}]}, 1.0),
        ({"n": [1, 2]}, {"n": [2, 1]}, 0.0),
        ({"n": 1}, {"n": 1, "m": None}, 0.0),
        ({"n": 1, "m": 2}, {"n": 1}, 0.0),
        ({"n": "1"}, {"n": 1}, 0.0),
    ],
)
def test_arguments_are_compared_as_json(said, wanted, score):
    assert calls_check()(calls_text([("f", said)]), [calls_text([("f", wanted)])]) == score


def test_a_call_more_or_less_or_of_another_function_is_wrong():
    one, two = ("f", {}), ("g", {})
    check = calls_check()
    assert check(calls_text([one, two]), [calls_text([one])]) == 0.0
    assert check(calls_text([one]), [calls_text([one, one])]) == 0.0
    assert check(calls_text([two]), [calls_text([one])]) == 0.0
    assert check("It rains.", [calls_text([one])]) == 0.0
    assert check("It rains.", ["[]"]) == 1.0
    assert check(calls_text([one]), ["[]"]) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It rains.",
        "3",
        '{"name": "f", "age": 3}',
        '[{"name": 1, "arguments": {}}]',
        "[1]",
        "<tool_call>f</tool_call>",
    ],
)
def test_what_is_no_call_is_none(text):
    assert calls_of(text) is None


@pytest.mark.parametrize("text", ['{"name": "f"}', '{"name": "f", "parameters": {}}', '{"function": {"name": "f"}}'])
def test_a_call_without_arguments_is_one(text):
    assert calls_of(text) == [("f", {})]


def test_calls_of_openai_and_of_models_that_write_them_are_read():
    arguments = json.dumps({"a": 1})
    assert calls_of([{"id": "x", "type": "function", "function": {"name": "f", "arguments": arguments}}]) == [
        ("f", {"a": 1})
    ]
    written = 'I look.\n<tool_call>{"name": "f", "arguments": {}}</tool_call><tool_call>{"name": "g", "arguments": null}</tool_call>'
    assert calls_of(written) == [("f", {}), ("g", {})]
