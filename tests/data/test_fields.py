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


@pytest.mark.parametrize(
    "row, path, value, after",
    [
        ({"a b/c": 1, "x": 2}, "a b/c", 3, {"a b/c": 3, "x": 2}),  # a field of just that name comes first
        ({"x": 1}, "", {"y": 2}, {"y": 2}),
        ({}, "a/1", "v", {"a": [None, "v"]}),
        ({"a": {"k": 1}}, "a/0", "v", {"a": ["v"]}),
        ({"a": [1, 2]}, "a/k", "v", {"a": {"k": "v"}}),
        ({"a": [1, 2]}, "a/-1", "v", {"a": [1, "v"]}),
        ({"a": [{}, {"k": 0}]}, "a/*/k", 7, {"a": [{"k": 7}, {"k": 7}]}),
        ({"a": {"x": {}, "y": {}}}, "a/*/k", 7, {"a": {"x": {"k": 7}, "y": {"k": 7}}}),
        ({}, "a/*/k", 7, {"a": [{"k": 7}]}),
        ({"a": [1, 2]}, "a/*", 7, {"a": [7, 7]}),
        ({"a": [1, 2]}, "a/", 7, {"a": [7, 7]}),
    ],
)
def test_containers_on_the_way_are_made_of_the_kind_that_the_path_needs(row, path, value, after):
    before = copy.deepcopy(row.get("a"))
    held = row.get("a")
    setter(path)(row, value)
    assert row == after
    assert held == before  # what others may hold is not written to


@pytest.mark.parametrize(
    "row, path", [({"a": [1]}, "a/3"), ({"a": [1]}, "a/k"), ({"a": {}}, "a/0"), ({"a": 1}, "a/b"), ({}, "a/*/k")]
)
def test_a_place_that_is_not_there_is_named_where_none_is_made(row, path):
    before = copy.deepcopy(row)
    with pytest.raises(MissingFieldError, match=f"no field '{path.replace('*', '[*]')}'"):
        setter(path, create=False)(row, 1)
    assert row == before


@pytest.mark.parametrize("path, each", [("a/-3", False), ("a/*/k", True)])
def test_a_place_before_a_list_or_fewer_values_than_members_are_an_error(path, each):
    with pytest.raises(MissingFieldError):
        setter(path, each=each)({"a": [{}, {}]}, [1] if each else 1)


def test_more_values_than_members_make_members():
    row = {"a": [{"k": 0}]}
    setter("a/*/k", each=True)(row, [1, 2])
    assert row == {"a": [{"k": 1}, {"k": 2}]}


def test_a_whole_row_is_replaced_by_its_kind_alone():
    with pytest.raises(DataError, match="a list cannot replace a whole row"):
        setter("")({"a": 1}, [1])
    row = [1]
    setter("")(row, [2, 3])
    assert row == [2, 3]


@pytest.mark.parametrize(
    "row, path, prune, after",
    [
        ({"a/b": 1, "a": {"b": 2}}, "a/b", False, {"a": {"b": 2}}),
        ({"a": [{"k": 1}, {"k": 2, "j": 3}, 4]}, "a/*/k", False, {"a": [{}, {"j": 3}, 4]}),
        ({"a": [{"k": 1}, {"k": 2, "j": 3}, 4]}, "a/*/k", True, {"a": [{"j": 3}, 4]}),
        ({"a": {"x": {"k": 1}, "y": {}}}, "a/*/k", True, {"a": {"y": {}}}),
        ({"a": [1, 2, 3]}, "a/1", False, {"a": [1, 3]}),
        ({"a": [1]}, "a/0", True, {}),
        ({"a": {"b": {"c": 1}}}, "a/b/c", True, {}),
        ({"a": {"k": 1}}, "a/*", False, {"a": {}}),
    ],
)
def test_what_a_path_matches_is_removed(row, path, prune, after):
    deleter(path, prune=prune)(row)
    assert row == after


@pytest.mark.parametrize("row", [{}, {"a": 1}, {"a": []}, {"a": [{}, 1]}])
def test_removing_nothing_is_an_error_or_wanted(row):
    before = copy.deepcopy(row)
    with pytest.raises(MissingFieldError):
        delete_field(row, "a/*/k")
    delete_field(row, "a/*/k", missing_ok=True)
    assert row == before


def test_what_is_not_there_is_falsy_and_reads_of_a_list_say_what_it_is():
    assert not MISSING
    assert repr(MISSING) == "MISSING"
    assert finder("a b")({" a b ": 1}) is MISSING
    assert finder(" a ")({"a": 1}) == finder(" a ")({"a": 1, "b": 2}) == 1
    assert get_field({"a": [{"k": 1}, {}, {"k": 2}]}, "a/*/k") == [1, 2]
    assert get_field({"a": {"x": {"k": 1}}}, "a/*/k") == [1]
    assert finder("a/*/k")({"a": 3}) is finder("a/*/k")({"a": [{}]}) is MISSING
    with pytest.raises(MissingFieldError, match="it is a list"):
        getter("a")([1])
    with pytest.raises(DataError, match=r"'b\$' is not a name"):
        split_path("a/b$")
