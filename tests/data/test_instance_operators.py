from __future__ import annotations

import json

import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.computed_fields import Apply, ExecuteExpression, FormatText
from proctor.data.instance_operators import (
    AddFields,
    DivideAllFieldsBy,
    EncodeLabels,
    FlattenInstances,
    IndexOf,
    InterleaveListsToDialogOperator,
    ListFieldValues,
    MapInstanceValues,
    NormalizeListFields,
    RecursiveReplace,
    RemoveFields,
    SelectFields,
    Set,
    TakeByField,
    ZipFieldValues,
)
from proctor.data.streams import MultiStream
from proctor.errors import FieldTypeError, MissingFieldError, ProctorError, TrustError
from proctor.settings import settings


@pytest.mark.parametrize(
    "operator, row, expected",
    [
        (Set(fields={"a/b": 1, "c": [2]}), {"a": {"d": 0}}, {"a": {"d": 0, "b": 1}, "c": [2]}),
        (AddFields(fields={"a": 1}), {}, {"a": 1}),
        (MapInstanceValues(mappers={"a": {"1": "x"}}), {"a": 1, "b": 1}, {"a": "x", "b": 1}),
        (MapInstanceValues(mappers={"a": {"[1, 2]": "x"}}), {"a": [1, 2]}, {"a": "x"}),
        (MapInstanceValues(mappers={"a": {"1": "x"}}), {"a": None}, {"a": None}),
        (MapInstanceValues(mappers={"a": {"1": "x"}}, strict=False), {"a": 2}, {"a": 2}),
        (
            MapInstanceValues(mappers={"a": {"1": "x", "2": "y"}}, process_every_value=True),
            {"a": [1, 2]},
            {"a": ["x", "y"]},
        ),
        (FlattenInstances(), {"a": {"b": {"c": 1}, "d": 2}}, {"a_b_c": 1, "a_d": 2}),
        (
            RecursiveReplace(key="k", map_values={"1": "one"}, remove_values=["2"]),
            {"x": [{"k": "1"}, {"k": "2"}], "k": ["1", "2", "3"]},
            {"x": [{"k": "one"}, {}], "k": ["one", "3"]},
        ),
        (
            RecursiveReplace(key="k", map_values={"1": "one"}),
            {"k": ["1", ["1"], {"k": "1"}], "x": {"k": {"k": "1"}}, "y": ["1", 1]},
            {"k": ["one", ["1"]], "x": {"k": {"k": "one"}}, "y": ["1", 1]},
        ),
        (
            NormalizeListFields(fields=["a", "b", "c"], key_prefix="n_", empty_value="none", separator=" & "),
            {"a": ["x"], "b": ["x", "y"], "c": []},
            {"a": ["x"], "b": ["x", "y"], "c": [], "n_a": "x", "n_b": "x & y", "n_c": "none"},
        ),
        (RemoveFields(fields=["a", "b/c"]), {"a": 1, "b": {"c": 1, "d": 2}}, {"b": {"d": 2}}),
        (
            SelectFields(fields=["a"]),
            {"a": 1, "b": 2, "data_classification_policy": ["x"]},
            {"a": 1, "data_classification_policy": ["x"]},
        ),
        (ListFieldValues(fields=["a", "b/0"], to_field="c"), {"a": 1, "b": [2]}, {"a": 1, "b": [2], "c": [1, 2]}),
        (
            ZipFieldValues(fields=["a", "b"], to_field="c"),
            {"a": [1, 2], "b": [3]},
            {"a": [1, 2], "b": [3], "c": [(1, 3)]},
        ),
        (
            ZipFieldValues(fields=["a", "b"], to_field="c", longest=True),
            {"a": [1, 2], "b": [3]},
            {"a": [1, 2], "b": [3], "c": [(1, 3), (2, None)]},
        ),
        (
            InterleaveListsToDialogOperator(user_turns_field="u", assistant_turns_field="s", to_field="d"),
            {"u": ["a", "b"], "s": ["c"]},
            {"u": ["a", "b"], "s": ["c"], "d": [("user", "a"), ("assistant", "c"), ("user", "b")]},
        ),
        (IndexOf(search_in="l", index_of="x", to_field="i"), {"l": [3, 4], "x": 4}, {"l": [3, 4], "x": 4, "i": 1}),
        (TakeByField(field="l", index="x"), {"l": [3, 4], "x": 1}, {"l": 4, "x": 1}),
        (
            DivideAllFieldsBy(divisor=2.0),
            {"a": 3.0, "b": [1.0, {"c": 5}], "data_classification_policy": ["p"]},
            {"a": 1.5, "b": [0.5, {"c": 5}], "data_classification_policy": ["p"]},
        ),
        (ExecuteExpression("a + len(b)", to_field="c/d"), {"a": 1, "b": "xy"}, {"a": 1, "b": "xy", "c": {"d": 3}}),
        (FormatText(text="{a}: {b[0]}", to_field="t"), {"a": 1, "b": [2]}, {"a": 1, "b": [2], "t": "1: 2"}),
        (Apply("a", function=str.upper, to_field="b"), {"a": "x"}, {"a": "x", "b": "X"}),
        (Apply(function=json.dumps, to_field="b", obj="a"), {"a": [1]}, {"a": [1], "b": "[1]"}),
        (Apply("a", function="json.loads", to_field="a"), {"a": "[1]"}, {"a": [1]}),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_rows_are_changed(operator, row, expected):
    assert operator.process_instance(row) == expected


@pytest.mark.parametrize(
    "operator, row, words",
    [
        (
            MapInstanceValues(mappers={"label": {"0": "no", "1": "yes"}}),
            {"label": 2},
            "value '2', the string representation of the value in field 'label'",
        ),
        (
            MapInstanceValues(mappers={"a": {"1": "x"}}, process_every_value=True),
            {"a": 1},
            "only for fields whose values are lists",
        ),
        (MapInstanceValues(mappers={"b": {}}), {"a": 1}, "has no field 'b'"),
        (RemoveFields(fields=["b"]), {"a": 1}, "has no field 'b'"),
        (
            InterleaveListsToDialogOperator(user_turns_field="u", assistant_turns_field="s", to_field="d"),
            {"u": [], "s": ["c"]},
            "alternate",
        ),
        (IndexOf(search_in="l", index_of="x", to_field="i"), {"l": [3], "x": 4}, "is not in 'l'"),
        (DivideAllFieldsBy(strict=True), {"a": 1}, "Cannot divide instance of type"),
        (ExecuteExpression("a + b", to_field="c"), {"a": 1}, "name 'b' is not defined"),
        (FormatText(text="{a} {z}", to_field="t"), {"a": 1}, "z"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_rows_that_do_not_fit_are_an_error(operator, row, words):
    with pytest.raises(ProctorError, match=words):
        operator.process_instance(row)


def test_rows_share_what_is_set_unless_they_get_copies():
    value = [1]
    streams = MultiStream.from_iterables({"t": [{}, {}]})
    first, second = Set(fields={"a": value})(streams)["t"]
    assert first["a"] is second["a"]
    first, second = Set(fields={"a": value}, use_deepcopy=True)(streams)["t"]
    assert first["a"] == second["a"]
    assert first["a"] is not second["a"]


def test_labels_are_numbered_in_the_order_they_come():
    rows = [{"a": "red", "b": ["red", "blue"]}, {"a": "blue", "b": ["green"]}, {"a": "green", "b": []}]
    made = EncodeLabels(fields=["a", "b/*"])(MultiStream.from_iterables({"t": rows}))["t"]
    expected = [{"a": 0, "b": [0, 1]}, {"a": 1, "b": [2]}, {"a": 2, "b": []}]
    assert list(made) == expected == list(made)


def test_functions_in_files_are_a_short_list():
    for name in ("os.system", "subprocess.run", "builtins.eval", "open"):
        with pytest.raises(TrustError, match="may not be named in a file"):
            Apply("a", function=name, to_field="b")
    with settings.context(trust_code=True):
        assert Apply("a", function="os.path.basename", to_field="b").process_instance({"a": "x/y"})["b"] == "y"
        with pytest.raises(ProctorError, match="no function"):
            Apply("a", function="os.nothing", to_field="b")


def test_an_applied_function_survives_a_file():
    operator = Apply("a", "b", function=str.upper, to_field="c", x="d")
    data = operator.to_dict()
    assert data == {
        "__type__": "apply",
        "function": "str.upper",
        "to_field": "c",
        "_argv": ("a", "b"),
        "_kwargs": {"x": "d"},
    }
    assert fetch_artifact(data).to_dict() == data


def test_an_expression_with_code_is_refused_when_it_is_built():
    with pytest.raises(TrustError):
        ExecuteExpression("__import__('os').getcwd()", to_field="x")


def test_only_lists_that_are_there_are_normalized():
    with pytest.raises(MissingFieldError, match="the row has no field 'b'"):
        NormalizeListFields(fields=["b"]).process_instance({"a": []})
    with pytest.raises(FieldTypeError, match="'a' is not a list"):
        NormalizeListFields(fields=["a"]).process_instance({"a": "x"})
