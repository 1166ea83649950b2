import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Failure
from proctor.scoring.grading import column_store as stored
from proctor.scoring.grading.column_store import Store, StoredColumn, are_plain, is_plain

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def exactly(value):
    """Return what tells 1 from True and 1.0, 0.0 from -0.0, and a list from a tuple."""
    if isinstance(value, list | tuple):
        return (type(value), [exactly(each) for each in value])
    if isinstance(value, dict):
        return [(exactly(key), exactly(each)) for key, each in value.items()]
    return (type(value), value.hex() if isinstance(value, float) else value)


@given(st.lists(PLAIN, max_size=30), st.sampled_from([0, 1, 3, 1000]), st.sampled_from([0, 20, 1 << 20]))
def test_what_is_read_back_is_what_was_put_there(values, most_kept, most_bytes):
    before = stored.MOST_KEPT, stored.MOST_BYTES
    stored.MOST_KEPT, stored.MOST_BYTES = most_kept, most_bytes
    try:
        column = StoredColumn(Store(), values)
        assert [exactly(each) for each in column] == [exactly(each) for each in values]
        assert [exactly(column[place]) for place in range(len(values))] == [exactly(each) for each in values]
        backwards = range(len(values) - 1, -1, -1)
        assert [exactly(each) for each in column.at(backwards)] == [exactly(each) for each in reversed(values)]
    finally:
        stored.MOST_KEPT, stored.MOST_BYTES = before


def test_equal_values_are_kept_once():
    store = Store()
    column = StoredColumn(store, ["yes", "no"] * 1000)
    assert len(store._kept) == 2
    assert column[0] is column[2]


def test_lists_are_new_each_time_so_that_nobody_changes_those_of_others():
    column = StoredColumn(Store(), [["a"], ["a"], {"n": [1]}, {"n": [1]}])
    column[0].append("b")
    column[2]["n"].append(2)
    assert column == [["a"], ["a"], {"n": [1]}, {"n": [1]}]


def test_equal_lists_are_kept_once_however_they_were_made():
    one, other = (str(b"word", "ascii") for _ in range(2))
    store = Store()
    column = StoredColumn(store, [[one, one], [one, other], [other, other]])
    assert len(store._kept) == 1
    assert column == [["word", "word"]] * 3


def test_what_is_not_plain_data_is_kept_as_it_is():
    failure, thing = Failure("timeout", "late"), {"image": object()}
    column = StoredColumn(Store(), [failure, thing, math.nan])
    assert column[0] is failure
    assert column[1] is thing
    assert math.isnan(column[2])


def test_long_texts_lie_in_a_file(monkeypatch):
    monkeypatch.setattr(stored, "MOST_BYTES", 1000)
    store = Store()
    texts = [f"{number}" * 700 for number in range(9)]
    column = StoredColumn(store, texts)
    assert store._file is not None
    assert len(store._kept) <= 2
    assert column == texts
    assert column[3:5] == texts[3:5]


def test_what_did_not_change_is_not_kept_twice():
    store = Store()
    raw = StoredColumn(store, ["a", "b" * 1000, "c"])
    originals = [raw[0], raw[1], raw[2]]
    made = StoredColumn(store)
    made.extend_from(raw, originals, [originals[0], originals[1], "C"])
    assert made == ["a", "b" * 1000, "C"]
    assert made._places[1] == raw._places[1]


def test_what_marshal_would_write_as_bare_bytes_is_kept_as_it_is():
    np = pytest.importorskip("numpy")
    values = [np.float64(1.5), {"a": np.int64(3)}, [np.arange(3)], bytearray(b"x"), (1, np.float32(2))]
    column = StoredColumn(Store(), values)
    assert all(found is value for found, value in zip(column, values, strict=True))


@pytest.fixture
def all_in_the_file(monkeypatch):
    monkeypatch.setattr(stored, "MOST_KEPT", 0)
    monkeypatch.setattr(stored, "MOST_BYTES", 0)


@given(st.lists(st.tuples(st.text(max_size=9), st.integers(0, 99)), min_size=1, max_size=30))
def test_values_may_be_read_between_those_that_are_put(steps):
    before = stored.MOST_KEPT, stored.MOST_BYTES
    stored.MOST_KEPT = stored.MOST_BYTES = 0
    try:
        column, known = StoredColumn(Store()), []
        for text, place in steps:
            column.extend([text])
            known.append(text)
            assert column[place % len(known)] == known[place % len(known)]
        assert column == known
    finally:
        stored.MOST_KEPT, stored.MOST_BYTES = before


@pytest.mark.usefixtures("all_in_the_file")
def test_what_is_too_long_for_a_place_in_the_file_stays_in_memory(monkeypatch):
    monkeypatch.setattr(stored, "_LENGTH_BITS", 8)
    monkeypatch.setattr(stored, "_LONGEST", 1 << 8)
    texts = ["x" * size for size in range(240, 270)]
    store = Store()
    column = StoredColumn(store, [*texts, [texts[-1]]])
    assert column == [*texts, [texts[-1]]]
    assert 0 < len(store._kept) < 30


def test_many_short_values_leave_no_room_for_long_ones(monkeypatch):
    monkeypatch.setattr(stored, "MOST_BYTES", 1000)
    store = Store()
    column = StoredColumn(store, ["y" * 600])
    assert store._file is None
    column.extend(f"answer {number}" for number in range(100))
    column.extend(["z" * 600])
    assert store._file is not None
    assert (column[0], column[50], column[-1]) == ("y" * 600, "answer 49", "z" * 600)


@pytest.mark.parametrize("depth", [100, 500, 1900, 50_000])
def test_answers_that_nest_deep_are_kept(depth):
    nested = []
    for _ in range(depth):
        nested = [nested]
    column = StoredColumn(Store(), [nested, "after"])
    assert column[1] == "after"
    found, levels = column[0], 0
    while found:
        found, levels = found[0], levels + 1
    assert levels == depth


def test_entries_may_be_replaced():
    column = StoredColumn(Store(), ["a", "b", "c"])
    column.replace(1, ["B"])
    assert column == ["a", ["B"], "c"]
    made = StoredColumn(column._store)
    with pytest.raises(ValueError, match="longer"):  # an entry for each of the last ones
        made.extend_from(column, ["c"], ["c", "d"])


def test_columns_are_compared_and_shown_like_lists():
    column = StoredColumn(Store(), ["a", 2])
    assert column == ["a", 2] == list(column)
    assert column == StoredColumn(Store(), ("a", 2))
    for other in (["a"], ["a", 3], ["a", 2, None], "a2", 5):
        assert column != other
    assert StoredColumn(Store(), "ab") != "ab"
    assert repr(column) == "['a', 2]"
    assert column[:1] == ["a"]


ODD = st.sampled_from([object(), {1}, b"bytes", range(2), float])


@given(st.lists(st.recursive(PLAIN | ODD, lambda inner: st.lists(inner, max_size=3), max_leaves=4), max_size=8))
def test_many_values_are_plain_where_each_is(values):
    assert are_plain(values) == all(map(is_plain, values))


def test_values_deeper_than_levels_are_followed_one_by_one():
    deep = "end"
    for _ in range(40):
        deep = [deep, {"in": deep}] if not isinstance(deep, list) else [deep]
    assert are_plain([deep])
    itself = []
    itself += [itself, itself]
    with pytest.raises(RecursionError):
        are_plain([itself])


def test_what_only_looks_like_a_known_value_is_not_taken_for_it():
    known = [1.5, ["a"], {"n": 1}, (True,)]
    others = [np.float64(1.5), [np.str_("a")], {"n": True}, (1,), b"a", [b"a"]]
    column = StoredColumn(Store(), known + others + known)
    assert [exactly(each) for each in column] == [exactly(each) for each in known + others + known]
