"""Rows read without pandas are the rows that pandas reads."""

import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.data import json_lines
from proctor.data.dataframes import frames
from proctor.data.files import records
from proctor.data.json_lines import unchanged_lines


def unchanged_rows(data, limit=None):
    rows = unchanged_lines(io.BytesIO(data), limit)
    return None if rows is None else list(rows)


TEXTS = st.one_of(
    st.sampled_from(["1", "1.5", "nan", "1e5", "inf", "2020-01-01", "", " 7 ", "a", "ja", "1_000", "0x10", "true"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=6),
)
NAMES = st.sampled_from(
    "question answer idx may march sat mon date datetime created_at run_time timestamp_x modified 2020 1 monday label at".split()
)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1) | st.integers(-9, 9)
NESTED = st.recursive(
    TEXTS | NUMBERS | st.none() | st.booleans(), lambda each: st.lists(each, max_size=3), max_leaves=4
)
COLUMNS = [TEXTS, st.integers(-99, 99), NUMBERS, st.booleans(), st.none() | TEXTS, st.floats(-9, 9), NESTED]


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    kinds = [draw(st.sampled_from(COLUMNS)) for _ in names]
    count = draw(st.integers(1, 4))
    rows = [{name: draw(kind) for name, kind in zip(names, kinds, strict=True)} for _ in range(count)]
    if draw(st.booleans()):
        rows[draw(st.integers(0, count - 1))].pop(names[0])
    return rows


def by_pandas(data, limit=None):
    with frames() as pd:
        return list(records([pd.read_json(io.BytesIO(data), lines=True, nrows=limit)]))


def same(left, right):
    return type(left) is type(right) and (left == right or (isinstance(left, float) and math.isnan(left)))


@settings(max_examples=300, deadline=None)
@given(tables(), st.booleans(), st.sampled_from([None, 1, 2]))
def test_rows_are_those_of_pandas(rows, ascii_only, limit):
    data = "\n".join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()
    found = unchanged_rows(data, limit)
    if found is not None:
        expected = by_pandas(data, limit)
        assert len(found) == len(expected)
        for mine, other in zip(found, expected, strict=True):
            assert list(mine) == list(other)
            assert all(same(mine[name], other[name]) for name in mine), (mine, other)


def test_ordinary_rows_need_no_pandas():
    rows = [{"question": f"Is {n} even?", "idx": n, "choices": ["a", "b"], "answer": None} for n in range(3)]
    rows[0]["answer"] = "é"
    data = "\n".join(map(json.dumps, rows)).encode()
    assert unchanged_rows(data) == rows
    assert unchanged_rows(data + b"\n", 2) == rows[:2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"[1]",
        b'{"question": "1"}',
        b'{"question": 1.5}',
        b'{"question": [1.5]}',
        b'{"question": {"a": 1e3}}',
        b'{"question": null}',
        b'{"question": "a"}\n{"answer": "a"}',
        b'{"question": "a"}\n\n{"question": "b"}',
        b'{"question": "a"}\r\n{"question": "b"}',
        b'{"question": 9007199254740993}',
        b'{"march": "a"}',
        b'{"question": "a", "created_at": 5}',
        b'{"question": "a", "DATE": 5}',
        b'{"question": true}\n{"question": null}',
        b'{"question": "a"',
        b'{"question": "\xff"}',
        b'{"question": "\\ud800"}',
        b'{"question": "a"},{"question": "b"}\n{"question": "c"}',
    ],
)
def test_what_pandas_may_change_or_refuse_is_left_to_it(data):
    assert unchanged_rows(data) is None


@settings(max_examples=200, deadline=None)
@given(tables(), st.sampled_from([None, 1, 2]), st.sampled_from([b"", b"\n", b"\n\n", b"\n\r", b'\n{"a": "\\u0000"}']))
def test_a_file_of_many_blocks_is_read_as_one_of_one_block(rows, limit, end):
    data = "\n".join(map(json.dumps, rows)).encode() + end
    whole = unchanged_rows(data, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "_BLOCK_BYTES", 1)
        assert unchanged_rows(data, limit) == whole


def test_rows_of_a_large_file_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lines, "_BLOCK_BYTES", 100)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"question": f"Is {n} even?"}) + "\n" for n in range(1000)), encoding="utf-8")
    with path.open("rb") as file:
        rows = json_lines.unchanged_lines(file)
        assert next(rows) == {"question": "Is 0 even?"}
        assert file.tell() < path.stat().st_size / 2
        assert sum(1 for _ in rows) == 999
