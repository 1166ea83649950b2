"""Plain JSON lines are read as the ``datasets`` library reads them, or are left to it."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.data.arrow_rows import plain_table
from proctor.data.hub import Dataset, held_rows

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = {
    "text": TEXTS,
    "whole": st.integers(-(2**63), 2**63 - 1),
    "truth": st.booleans(),
}


def written(folder, rows):
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def of_library(path, folder):
    import datasets

    found = datasets.load_dataset("json", data_files={"test": str(path)}, split="test", cache_dir=str(folder / "cache"))
    return list(found)


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=5))
def test_rows_are_those_of_the_library(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    path = written(folder, rows)
    assert held_rows(Dataset("json", data_files={"test": str(path)}), "test")[:] == rows == of_library(path, folder)


@pytest.mark.parametrize(
    "rows",
    [
        [{"a": "2020-01-01"}],
        [{"a": "2020-01-01"}, {"a": "no date"}],
        [{"a": 1}, {"a": None}],
        [{"a": 1}, {"b": 1}],
        [{"a": 1}, {"a": 2.5}],
        [{"a": 1.0}],
        [{"a": 2**63}],
        [{"a": [1]}],
        [{"a": {"b": 1}}],
        [{"a": 1}, {"a": "1"}],
        [{}],
        [{"type": "t", "id": "i", "version": 1, "cwd": "/"}],
    ],
    ids=repr,
)
def test_what_is_not_plain_is_left_to_the_library(rows, tmp_path):
    assert plain_table(written(tmp_path, rows)) is None


@pytest.mark.parametrize("content", [b"", b"[]", b'[{"a": 1}]', b'\xef\xbb\xbf{"a": 1}', b'{"a": 1', b'{"a": "\xff"}'])
def test_other_files_are_left_to_the_library(content, tmp_path):
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    assert plain_table(path) is None


def test_several_splits_and_arguments_are_left_to_the_library(tmp_path):
    path = str(written(tmp_path, [{"a": "x"}]))
    program = (
        "import sys\n"
        "from proctor.data.hub import Dataset, held_rows\n"
        "path, given = sys.argv[1], eval(sys.argv[2])\n"
        "assert held_rows(Dataset('json', data_files={'test': path}, **given), 'test')[0] == {'a': 'x'}\n"
        "print('datasets' in sys.modules)\n"
    )

    def asks_the_library(given):
        command = [sys.executable, "-c", program, path, repr(given)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "True"

    assert not asks_the_library({})
    assert asks_the_library({"extra": {"features": None}})
