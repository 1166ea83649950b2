# ruff: noqa: UP006, UP007, UP035, UP045, PYI061, PLC0132 - types are tried as files and programs write them

from __future__ import annotations

import typing
from typing import Any, Dict, List, Literal, NewType, Optional, Set, Tuple, TypedDict, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.artifacts.field_types import FIELD_TYPES, Dialog, Document, JsonSchema, Table, Tool
from proctor.artifacts.types import (
    compile_check,
    explain_mismatch,
    is_of_type,
    parse_type_string,
    register_type,
    to_type_string,
)
from proctor.errors import ArtifactError


class Point(TypedDict):
    x: int
    y: Optional[int]


Celsius = NewType("Celsius", float)
Fever = NewType("Fever", Celsius)


class Even:
    @classmethod
    def __verify_type__(cls, value: object) -> bool:
        return isinstance(value, int) and value % 2 == 0


leaves = st.sampled_from([str, int, float, bool, Any, Table, Dialog, Literal["a, b", 3]])
types = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda t: List[t]),
        inner.map(lambda t: Set[t]),
        inner.map(lambda t: Optional[t]),
        st.tuples(inner, inner).map(lambda pair: Dict[pair]),
        st.tuples(inner, inner).map(lambda pair: Tuple[pair]),
        st.tuples(inner, inner).map(lambda pair: Union[pair]),
    ),
    max_leaves=8,
)


@given(types)
def test_types_survive_the_way_to_text_and_back(kind):
    assert parse_type_string(to_type_string(kind)) == kind


@pytest.mark.parametrize(
    "text, kind",
    [
        ("List[Tuple[str, int]]", List[Tuple[str, int]]),
        ("list[int|str]", List[Union[int, str]]),
        ("dict[str, Optional[str]]", Dict[str, Optional[str]]),
        ("typing.List[str]", List[str]),
        ("Literal['a]', 1, None]", Literal["a]", 1, None]),
        ("Dialog", Dialog),
        (" Union[float, int] ", Union[float, int]),
        ("Tuple[int, ...]", Tuple[int, ...]),
        ("None", type(None)),
    ],
)
def test_notations_of_types(text, kind):
    assert parse_type_string(text) == kind


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('x')",
        "int.__class__",
        "os.path",
        "List[lambda: 1]",
        "List[(lambda: 1)()]",
        "[int]",
        "int if 1 else str",
        "List[",
        "",
        "int; str",
        "Strin",
        "int[str]",
        "Literal[[1]]",
        "List['int']",
        "(" * 1000,
    ],
)
def test_what_is_no_type_is_refused(text):
    with pytest.raises(ArtifactError, match="is not a type"):
        parse_type_string(text)


def test_an_unknown_type_is_answered_with_the_nearest_name():
    with pytest.raises(ArtifactError, match="did you mean 'Dialog'"):
        parse_type_string("Dialg")


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        ([1, 2], List[int], True),
        ([1, "2"], List[int], False),
        ((1, 2), List[int], False),
        (True, int, True),
        (1, float, False),
        ({"a": [1]}, Dict[str, List[int]], True),
        ({1: [1]}, Dict[str, List[int]], False),
        ((1, "a"), Tuple[int, str], True),
        ((1, "a", None), Tuple[int, str], True),
        ((1, 2), Tuple[int, str], False),
        ((1, 2, 3), Tuple[int, ...], True),
        ((1, "2"), Tuple[int, ...], False),
        ({1}, Set[int], True),
        (None, Optional[str], True),
        (3, Union[str, List[int]], False),
        ([3], Union[str, List[int]], True),
        ("b", Literal["a", "b"], True),
        ("c", Literal["a", "b"], False),
        ({"x": 1}, Point, True),
        ({"x": 1, "y": None, "z": 2}, Point, True),
        ({"y": 1}, Point, False),
        ({"x": 1, "y": "2"}, Point, False),
        (37.5, Fever, True),
        (37, Fever, False),
        (4, Even, True),
        (5, Even, False),
        ([{"role": "user", "content": "x"}], Dialog, True),
        ([{"role": "user"}], Dialog, False),
        ({"header": ["a"], "rows": [[1]]}, Table, True),
        ({"header": [1], "rows": []}, Table, False),
        ([], List, True),
        ([1, "x"], List, True),
        (object(), Any, True),
        (object(), object, True),
        (None, None, True),
        (None, type(None), True),
        (0, None, False),
        (0, type(None), False),
        ({"a": 1}, Dict, True),
        ([1], Dict, False),
        ([True], List[int], True),
        ([1, True, "a"], List[int], False),
        (3, Union[int, str], True),
        (3.5, Union[int, str], False),
        (4, Union[Even, str], True),
        (5, Union[Even, str], False),
        ({"x": 1}, Union[Point, str], True),
        (int, type, True),
        (int, typing.Type, True),
        (List[int], typing.Type, True),
        (Any, typing.Type, True),
        (Celsius, typing.Type, True),
        (3, typing.Type, False),
        (3, type, False),
    ],
)
def test_checks_follow_the_shape_of_a_type(value, kind, expected):
    assert compile_check(kind)(value) is expected
    assert (explain_mismatch(value, kind) == "") is expected


@pytest.mark.parametrize(
    "value, kind, words",
    [
        ([("a", "b")], List[Tuple[str, int]], "expected int, got 'b' (str) at [0][1]"),
        ({"a": {"b": 1}}, Dict[str, Dict[str, str]], "expected str, got 1 (int) at ['a']['b']"),
        ([{"x": 1, "y": "2"}], List[Point], "expected Optional[int], got '2' (str) at [0].y"),
        ({"y": 1}, Point, "expected Point, which needs the key 'x'"),
        ("no", int, "expected int, got 'no' (str)"),
        ("x" * 58, int, f"expected int, got {'x' * 58!r} (str)"),
        ("x" * 59, int, f"expected int, got '{'x' * 56}... (str)"),
        (3, None, "expected None, got 3 (int)"),
    ],
)
def test_a_mismatch_is_explained_with_its_place(value, kind, words):
    assert explain_mismatch(value, kind) == words


def test_types_of_programs_can_be_registered():
    register_type(Point)
    try:
        assert parse_type_string("List[Point]") == List[Point]
        assert is_of_type([{"x": 1}], parse_type_string("List[Point]"))
    finally:
        from proctor.artifacts import types as module

        module._names.pop("Point")


@pytest.mark.parametrize("candidate", [3, str, lambda: 1])
def test_what_is_no_new_type_cannot_be_registered(candidate):
    with pytest.raises(ArtifactError, match="cannot be registered"):
        register_type(candidate)


def test_pythons_own_types_cannot_be_replaced():
    fake = NewType("int", str)
    with pytest.raises(ArtifactError, match="Python's own"):
        register_type(fake)


@pytest.mark.parametrize("name", sorted(FIELD_TYPES))
def test_every_built_in_type_has_a_name_that_reads_back(name):
    assert parse_type_string(name) is FIELD_TYPES[name]
    assert to_type_string(FIELD_TYPES[name]) == name


@pytest.mark.parametrize(
    "schema, valid",
    [
        ({"type": "object", "properties": {"x": {"type": ["string", "null"]}}, "required": ["x"]}, True),
        ({"type": "dict"}, False),
        ({"properties": {"x": 3}}, False),
        ({"required": "x"}, False),
        ({"items": [True, {"type": "integer"}]}, True),
        ({"anyOf": []}, False),
        ([], False),
    ],
)
def test_json_schemas_have_known_keywords_of_the_right_kind(schema, valid):
    assert is_of_type(schema, JsonSchema) is valid
    assert is_of_type({"name": "f", "description": "", "parameters": schema}, Tool) is valid


def test_a_document_is_not_a_dialog():
    document = {"title": "t", "body": "b"}
    assert is_of_type(document, Document)
    assert not is_of_type([document], Dialog)


@pytest.mark.parametrize(
    "kind, text",
    [
        (None, "None"),
        (type(None), "None"),
        ("Dialog", "Dialog"),
        (Any, "Any"),
        (Celsius, "Celsius"),
        (Point, "Point"),
        (Optional[int], "Optional[int]"),
        (int | str, "Union[int, str]"),
        (List, "List"),
        (Tuple[int, ...], "Tuple[int, ...]"),
        (Literal["a", 3], "Literal['a', 3]"),
        (Even, "Even"),
    ],
)
def test_types_have_names_in_files(kind, text):
    assert to_type_string(kind) == text


def test_what_is_no_type_has_no_name_and_no_check():
    with pytest.raises(ArtifactError, match="has no name in files"):
        to_type_string(3)
    with pytest.raises(ArtifactError, match="is not a type that values can be checked against"):
        compile_check(3)
