import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Failure
from proctor.scoring import stored
from proctor.scoring.stored import Store, StoredColumn

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
    column = StoredColumn(Store(), [["a"], ["a"]])
    column[0].append("b")
    assert column == [["a"], ["a"]]


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
