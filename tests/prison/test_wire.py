"""Values as text: what is written is read again, and what a stranger made up is a value or an error, and runs nothing."""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.prison.inside import frames, wire


def _refuse(value):
    raise wire.CannotCrossError(type(value).__name__)


def _unknown(tag, body):
    raise ValueError(tag)


WRITER, READER = wire.Writer(_refuse), wire.Reader(_unknown)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.complex_numbers(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.fractions(),
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner)), max_leaves=5)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner),
        st.tuples(inner, inner),
        st.sets(HASHABLE),
        st.dictionaries(HASHABLE, inner),
        st.lists(inner).map(collections.deque),
        st.dictionaries(st.text(), inner).map(collections.OrderedDict),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_is_read_again(value):
    found = READER.value(wire.unpacked(wire.packed(WRITER.form(value))))
    assert (type(found), found) == (type(value), value)


FORMS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from([*"iftdszbacrlqCODegxyTnSok", "", "__import__"]), inner, max_size=2),
    ),
    max_leaves=10,
)


@given(FORMS)
def test_what_somebody_made_up_is_a_value_or_no_value(form):
    try:
        value = READER.value(form)
    except ValueError:
        return
    WRITER.form(value)  # and can be sent on


@pytest.mark.parametrize(
    "form",
    [
        {"i": "not a number"}, {"i": 3}, {"f": []}, {"t": 5}, {"d": [[[], 1]]}, {"d": 3}, {"s": [[1]]}, {"b": "é"}, {"c": ["a", "b"]},
        {"r": [1, 2, 0]}, {"q": [[1], "x"]}, {"e": "x"}, {"g": [1, 0]}, {"x": ["datetime", "no"]}, {"x": ["exec", "1"]}, {"y": ["a"]},
        {"T": "object"}, {"T": "__import__"}, {"n": ["O", [1], ""]}, {"n": ["<i8", [3], "AAAA"]}, {"n": ["<i8", [-1, -1], ""]},
        {"S": ["a", True]}, {"S": ["a", None]}, {"S": ["\0", 1]}, {"S": ["a"]}, {"S": ["a", {"q": [[1], None]}]}, {}, {"a": 1, "b": 2},
        {"unknown": 1}, {"o": 1}, {"k": 1}, {"D": [1]}, {"C": [["a", "b", "c"]]},
    ],
)  # fmt: skip
def test_what_is_no_value_is_one_error(form):
    with pytest.raises(ValueError, match="."):
        READER.value(form)


def test_values_have_a_depth():
    deep, form = [], []
    for _ in range(150):
        deep, form = [deep], [form]
    with pytest.raises(ValueError, match="nested"):
        READER.value(form)
    WRITER.form(deep)
    own: list = []
    own.append(own)
    with pytest.raises(wire.CannotCrossError, match="contains itself"):
        WRITER.form(own)
    with pytest.raises(ValueError, match="nested"):
        wire.unpacked(b"[" * 300_000)
    with pytest.raises(ValueError, match="."):
        wire.unpacked(b"\xff")


def test_data_of_derived_classes_comes_without_their_methods():
    class Loud(list):
        def __eq__(self, other):
            return True

        __hash__ = None

        def __getitem__(self, place):
            return 7919

    found = READER.value(json.loads(wire.packed(WRITER.form(Loud([1, 2])))))
    assert type(found).__name__ == "Loud"
    assert found == [1, 2]
    assert found != [7919, 7919]
    with pytest.raises(wire.CannotCrossError):
        WRITER.form(object())
    with pytest.raises(wire.CannotCrossError, match="time zone"):
        WRITER.form(dt.datetime(2020, 1, 1, tzinfo=type("Zone", (dt.tzinfo,), {"utcoffset": lambda *_: None})()))


# -- the pipe beneath ----------------------------------------------------------------------------------------------------


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    for handle in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(handle)


def test_messages_come_as_they_went(pipe, monkeypatch):
    reading, writing = pipe
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:3]))  # the kernel takes what it takes
    frames.send(writing, b"hello")
    frames.send(writing, b"")
    assert [frames.receive(reading), frames.receive(reading)] == [b"hello", b""]


def test_a_message_of_many_reads_is_one(pipe, monkeypatch):
    reading, writing = pipe
    read = os.read
    os.write(writing, b"\0\0\1\0" + b"x" * 256)
    monkeypatch.setattr(os, "read", lambda handle, count: read(handle, min(count, 100)))
    assert frames.receive(reading) == b"x" * 256


@pytest.mark.parametrize(
    "said, why", [(b"\xff\xff\xff\xff", "too long"), (b"\0\0", "gone"), (b"\0\0\0\3ab", "gone"), (b"", "gone")]
)
def test_what_is_not_a_message_ends_it(pipe, said, why):
    reading, writing = pipe
    os.write(writing, said)
    os.close(writing)
    with pytest.raises(frames.ClosedError, match=why):
        frames.receive(reading)


def test_nobody_at_the_other_end_is_one_error(pipe):
    reading, writing = pipe
    os.close(reading)
    with pytest.raises(frames.ClosedError, match="Broken pipe"):
        frames.send(writing, b"x")
    with pytest.raises(frames.ClosedError, match="Bad file descriptor"):
        frames.receive(reading)


def test_the_longest_message_is_let(pipe, monkeypatch):
    reading, writing = pipe
    monkeypatch.setattr(frames, "LONGEST", 4)
    frames.send(writing, b"four")
    assert frames.receive(reading) == b"four"
    frames.send(writing, b"fives")
    with pytest.raises(frames.ClosedError, match="too long"):
        frames.receive(reading)
