from __future__ import annotations

import copy

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proctor.data.fields import (
    MISSING,
    delete_field,
    deleter,
    finder,
    get_field,
    getter,
    is_subpath,
    set_field,
    setter,
    split_path,
)
from proctor.errors import DataError, MissingFieldError

names = st.sampled_from(["a", "b", "c d", "e.f"])
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
rows = st.dictionaries(names, values, max_size=4)
paths = st.tuples(names, st.lists(names | st.sampled_from(["0", "1", "2"]), max_size=3)).map(
    lambda parts: "/".join([parts[0], *parts[1]])
)


@given(rows, paths, values)
def test_what_is_set_is_what_is_read(row, path, value):
    set_field(row, path, value)
    assert get_field(row, path) == value


@given(rows, paths, values)
def test_setting_never_changes_a_value_inside(row, path, value):
    shallow, before = dict(row), copy.deepcopy(row)
    set_field(shallow, path, value)
    assert row == before


@given(rows, paths)
def test_deleting_never_changes_a_value_inside(row, path):
    shallow, before = dict(row), copy.deepcopy(row)
    delete_field(shallow, path, missing_ok=True)
    assert row == before


@given(rows, paths)
def test_what_is_deleted_is_gone(row, path):
    assume(finder(path)(row) is not MISSING and not path[-1].isdigit())
    delete_field(row, path)
    assert finder(path)(row) is MISSING


@pytest.mark.parametrize(
    "path, expected",
    [
        ("a/b/0", 1),
        ("a/b/-1", 3),
        ("/a/b/1", 2),
        ("l/*/k", ["x", "y"]),
        ("a/b/", [1, 2, 3]),
        ("*/b", [[1, 2, 3]]),
        ("x/y", "literal"),
        ("", {"a": {"b": [1, 2, 3]}, "l": [{"k": "x"}, {"z": 1}, {"k": "y"}], "x/y": "literal"}),
    ],
)
def test_paths_reach_inside(path, expected):
    row = {"a": {"b": [1, 2, 3]}, "l": [{"k": "x"}, {"z": 1}, {"k": "y"}], "x/y": "literal"}
    assert get_field(row, path) == expected


@pytest.mark.parametrize("path", ["a/x", "a/b/7", "a/b/0/c", "q", "l/*/nothing"])
def test_a_missing_field_is_an_error_that_lists_what_there_is(path):
    row = {"a": {"b": [1]}, "l": [{}]}
    assert get_field(row, path, default="d") == "d"
    with pytest.raises(MissingFieldError, match="has no field") as caught:
        getter(path)(row)
    assert "a, l" in str(caught.value)


@pytest.mark.parametrize("path", ["a/+", "a,b", "?"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(DataError, match="not a field path"):
        split_path(path)


@pytest.mark.parametrize(
    "row, path, value, expected",
    [
        ({}, "a/b/1", "x", {"a": {"b": [None, "x"]}}),
        ({"a": 3}, "a/b", "x", {"a": {"b": "x"}}),
        ({"a": [{}, {}]}, "a/*/k", 1, {"a": [{"k": 1}, {"k": 1}]}),
        ({}, "a/*", 1, {"a": [1]}),
    ],
)
def test_what_is_missing_is_made(row, path, value, expected):
    set_field(row, path, value)
    assert row == expected


def test_each_match_can_get_a_value_of_its_own():
    row = {"a": [{}, {}]}
    setter("a/*/k", each=True)(row, [1, 2])
    assert row == {"a": [{"k": 1}, {"k": 2}]}


@pytest.mark.parametrize(
    "row, value", [({"a": [1, 2, 3]}, [1, 2]), ({"a": {"x": 1}}, [1, 2]), ({"a": [1]}, []), ({"a": [1]}, "no list")]
)
def test_values_that_do_not_fit_their_places_are_an_error(row, value):
    with pytest.raises(DataError):
        setter("a/*", each=True)(row, value)


def test_nothing_is_made_where_that_is_not_wanted():
    with pytest.raises(MissingFieldError):
        setter("a/b", create=False)({"a": {}}, 1)


def test_containers_that_become_empty_can_be_removed():
    row = {"a": {"b": {"c": 1}}, "d": 2}
    deleter("a/b/c", prune=True)(row)
    assert row == {"d": 2}


def test_deleting_what_is_not_there_is_an_error():
    with pytest.raises(MissingFieldError):
        delete_field({"a": {}}, "a/b")


def test_all_members_can_be_removed():
    row = {"a": [1, 2], "b": {"c": 1}}
    delete_field(row, "a/*")
    delete_field(row, "b/*")
    assert row == {"a": [], "b": {}}


@pytest.mark.parametrize("inner, outer, expected", [("a", "a/b", True), ("a/b", "a", False), ("a", "ab", False)])
def test_subpaths(inner, outer, expected):
    assert is_subpath(inner, outer) is expected
