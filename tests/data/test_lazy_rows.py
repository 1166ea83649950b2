"""Rows that are read again behave as the list of them."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data import lazy_rows
from proctor.data.lazy_rows import (
    LazyRows,
    PickedRows,
    RepeatedRows,
    RereadRows,
    picked,
    read_through,
    uniform,
)
from proctor.errors import DataError
from proctor.ir import Failure

rows_of = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers() | st.floats(allow_nan=False) | st.text()))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(lazy_rows, "MOST_KEPT", 3)


@given(rows_of, st.data())
def test_many_rows_are_as_few(rows, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_rows, "MOST_KEPT", 3)
        many = read_through(lambda: iter(rows))
        few = uniform(rows)
        assert list(islice(many, 2)) == few[:2], "the first rows are those of all"
        assert isinstance(many.all, RereadRows) == (len(rows) > 3)
    assert list(many) == few
    for place in data.draw(st.lists(st.integers(-len(rows), len(rows) - 1))) if rows else []:
        assert many[place] == few[place]


@given(st.integers(4, 30), st.data())
def test_picked_places_in_any_order(count, data):
    rows = [{"i": i} for i in range(count)]
    places = data.draw(st.lists(st.integers(0, count - 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_rows, "MOST_KEPT", 3)
        found = picked(places, read_through(lambda: iter(rows)))
        assert list(found) == [rows[place] for place in places]
        assert [found[i] for i in range(len(found))] == [rows[place] for place in places]
        assert list(picked(places, PickedRows(range(count), rows))) == list(found)


@given(st.integers(0, 5), st.integers(1, 4), st.booleans())
def test_repeated_rows(count, times, in_blocks):
    rows = [{"i": i} for i in range(count)]
    found = RepeatedRows(rows, times, in_blocks=in_blocks, origin="set_test")
    numbered = [{"i": i, "subdivision": "set_test", "idx": i} for i in range(count)]
    wanted = numbered * times if in_blocks else [row for row in numbered for _ in range(times)]
    assert list(found) == wanted == [found[place] for place in range(len(found))]
    assert found[1:3] == wanted[1:3]


@pytest.mark.usefixtures("few")
def test_files_are_read_once_by_whoever_goes_forwards():
    times = []

    def read():
        times.append(1)
        return iter([{"i": i} for i in range(9)])

    rows = read_through(read)
    assert [rows[place]["i"] for place in (0, 3, 8)] == [0, 3, 8]
    assert len(times) == 2, "once to look, once to go through"
    assert rows[2] == {"i": 2}
    assert len(times) == 3


@pytest.mark.usefixtures("few")
def test_a_row_that_cannot_be_used_stays_one():
    bad = Failure("row", "damaged", retryable=False)
    rows = read_through(lambda: iter([{"a": 1}, bad, {"a": 0.5}, {}, {"a": 2}]))
    assert list(rows) == [{"a": 1.0}, bad, {"a": 0.5}, {"a": None}, {"a": 2.0}]
    named = RepeatedRows([{}, bad], 2, origin="set_test")
    assert [each.message for each in named[2:]] == ["set_test[1]: damaged"] * 2
    assert list(RepeatedRows([{}, bad], 2)[2:]) == [bad] * 2


def test_nothing_is_read_before_somebody_looks():
    times = []
    rows = LazyRows(lambda: times.append(1) or [{"a": 1}])
    assert not times
    assert rows[0] == rows[0] == {"a": 1}
    assert times == [1]


def counting(rows):
    read = []

    def start():
        for row in rows:
            read.append(row)
            if isinstance(row, DataError):
                raise row
            yield row

    return read_through(start), read


def test_rows_are_read_as_far_as_somebody_looks():
    rows, read = counting([{"a": str(place)} for place in range(9)])
    assert [row["a"] for row in islice(rows, 2)] == ["0", "1"]
    assert len(read) == 2
    assert [row["a"] for row in islice(rows, 3)] == ["0", "1", "2"]
    assert len(read) == 3
    assert len(rows) == len(read) == 9


def test_a_row_that_a_later_one_may_change_has_all_read():
    rows, read = counting([{"a": "x", "n": 1.5}, {"a": "y", "n": 1}, {"a": "z", "n": 2}])
    assert next(iter(rows)) == {"a": "x", "n": 1.5}
    assert len(read) == 1
    assert list(map(str, islice(rows, 2))) == ["{'a': 'x', 'n': 1.5}", "{'a': 'y', 'n': 1.0}"]
    assert len(read) == 3


def test_what_is_wrong_with_a_file_is_said_to_everybody_who_gets_there():
    rows, _ = counting([{"a": "x"}, DataError("the rest is missing")])
    assert next(iter(rows)) == {"a": "x"}
    for _ in range(2):
        with pytest.raises(DataError, match="the rest is missing"):
            len(rows)
    assert next(iter(rows)) == {"a": "x"}
