"""Values of any library become JSON, the same bytes for the same values."""

from __future__ import annotations

import json
from enum import IntEnum, StrEnum
from types import MappingProxyType

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Failure
from proctor.jsonable import jsonable, to_document, to_line, to_lines


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    BIG = 3


@pytest.mark.parametrize(
    "value, expected",
    [
        (float("nan"), None),
        (float("inf"), None),
        (np.float64(0.5), 0.5),
        (np.float32("nan"), None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan], [2, 3]]), [[1.0, None], [2.0, 3.0]]),
        ((1, [2]), [1, [2]]),
        ({"b", "a"}, ["a", "b"]),
        ({1: "x", None: 2}, {"1": "x", "None": 2}),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        (Colour.RED, "red"),
        (Size.BIG, 3),
        (Failure("timeout", "slow"), {"kind": "timeout", "message": "slow"}),
        (b"bytes", "Ynl0ZXM="),
        (object(), "<object>"),
        (range(2), [0, 1]),
    ],
)
def test_values(value, expected):
    found = jsonable(value)
    assert found == expected
    assert type(found) is type(expected)
    assert json.loads(to_line({"value": value})) == {"value": expected}
    assert json.loads(to_document({"value": value})) == {"value": expected}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_everything_gives_strict_json_twice_the_same(value):
    def refuse(token: str) -> None:
        raise ValueError(token)

    line, document = to_line({"value": value}), to_document({"value": value})
    assert json.loads(line, parse_constant=refuse) == {"value": jsonable(value)}
    json.loads(document, parse_constant=refuse)
    assert line == to_line({"value": value})
    assert b"\n" not in line


def test_documents_are_sorted():
    assert to_document({"b": 1, "a": {"d": 1, "c": 2}}) == b'{\n  "a": {\n    "c": 2,\n    "d": 1\n  },\n  "b": 1\n}\n'


def test_a_struct_may_hold_what_is_no_data():
    class Holder(msgspec.Struct):
        name: str
        held: object

    assert jsonable(Holder("a", object())) == {"name": "a", "held": "<object>"}
    assert jsonable(Holder("a", {"b": (1, 2.5)})) == {"name": "a", "held": {"b": [1, 2.5]}}


RECORDS = st.lists(st.dictionaries(st.text(min_size=1, max_size=4), st.text(max_size=4) | st.floats(), min_size=1))


def _named(records):
    return [(tuple(record), tuple(record.values())) for record in records]


@given(RECORDS)
def test_lines_are_those_of_each_record(records):
    assert to_lines(_named(records)) == b"".join([to_line(record) + b"\n" for record in records])


def test_lines_of_records_that_are_hard_to_write_are_those_of_each():
    records = [{"a": "line\nbreak\u2028"}, {"a": "\ud800"}, {"b": {"z": 1, "a": None}}]
    assert to_lines(_named(records)) == b"".join([to_line(record) + b"\n" for record in records])
    assert to_lines([]) == b""
