"""Parquet files whose rows are larger than they look are refused before they are unpacked."""

import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from tests_pace import in_time

from proctor.data import bounds, parquet_bounds
from proctor.data.bounds import check_file
from proctor.data.hub import Dataset, _held_parquet, held_rows, read_parquet
from proctor.data.parquet_bounds import _written_out
from proctor.errors import DataError

READERS = {
    "held": lambda path: _held_parquet([path]),
    "stream": lambda path: list(read_parquet([path])),
    "library": lambda path: held_rows(Dataset("parquet", data_files={"test": path}), "test"),
    "check": check_file,
}


def repeated(value, count):
    """Return a column of one value, which Arrow writes once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, "int32")), pa.array([value]))


def nested(value, count):
    """Return a column of one list, with one value in it many times."""
    return pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), repeated(value, count))


BOMBS = {
    "texts": lambda: {"q": repeated("a" * 1000, 2_000_000)},
    "large texts": lambda: {"q": repeated("a" * 1_000_000, 5_000)},
    "bytes": lambda: {"q": repeated(b"a" * 1000, 2_000_000)},
    "in lists": lambda: {"q": nested("a" * 1000, 2_000_000)},
    "in structs": lambda: {"q": pa.StructArray.from_arrays([repeated("a" * 1000, 2_000_000)], ["x"])},
    "fixed widths": lambda: {"q": repeated(pa.scalar(b"a" * 100_000, pa.binary(100_000)), 20_000)},
    "numbers": lambda: {"q": repeated(0, 150_000_000)},
    "beside others": lambda: {"n": np.arange(2_000_000) % 7, "q": repeated("a" * 1000, 2_000_000)},
}


@pytest.mark.parametrize("stored", [True, False], ids=["with Arrow's types", "plain"])
@pytest.mark.parametrize("kind", BOMBS)
def test_a_value_repeated_without_end_is_refused_before_it_is_unpacked(tmp_path, kind, stored):
    path = str(tmp_path / "x.parquet")
    parquet.write_table(pa.table(BOMBS[kind]()), path, store_schema=stored, dictionary_pagesize_limit=1 << 30)
    for name, read in READERS.items():
        began = time.process_time()
        with pytest.raises(DataError, match="would unpack to more than"):
            read(path)
        assert in_time(time.process_time() - began, 2), name


def test_pages_that_unpack_without_end_are_refused(tmp_path):
    parquet.write_table(pa.table({"q": ["a" * 90_000_000]}), tmp_path / "one.parquet", compression="zstd")
    for name in ("held", "stream", "check"):
        with pytest.raises(DataError, match="would unpack to more than"):
            READERS[name](str(tmp_path / "one.parquet"))


def test_rows_that_fill_half_of_the_memory_are_not_held(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"q": repeated("a" * 1000, 300_000)}), tmp_path / "x.parquet", store_schema=False)
    monkeypatch.setattr(parquet_bounds, "_memory", lambda: 1 << 28)
    with pytest.raises(DataError, match="the rows take more than 0 GiB of memory"):
        _held_parquet([str(tmp_path / "x.parquet")])


COLUMNS = {
    "texts": [f"text {number}" for number in range(70_000)],
    "few": ["yes", "no"] * 35_000,
    "numbers": range(70_000),
    "lists": [["a", "b"], []] * 35_000,
    "gaps": [None, "a"] * 35_000,
}


def test_honest_files_are_held_as_they_are_though_they_are_counted(tmp_path, monkeypatch):
    table = pa.table(COLUMNS)
    parquet.write_table(table, tmp_path / "x.parquet")
    monkeypatch.setattr(parquet_bounds, "MOST_RATIO", 50)
    monkeypatch.setattr(parquet_bounds, "SMALL_ROWS", 0)
    with parquet.ParquetFile(tmp_path / "x.parquet") as file:
        assert parquet_bounds.held_table(file, str(tmp_path / "x.parquet")).equals(table)


@given(st.lists(st.none() | st.text(max_size=5), min_size=1))
def test_what_is_counted_is_what_texts_take(texts):
    plain = sum(len((each or "").encode()) for each in texts)
    column = pa.array(texts, pa.string())
    assert _written_out(column.dictionary_encode()) == plain
    lists = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), column.dictionary_encode())
    assert _written_out(lists) == plain
    assert _written_out(pa.StructArray.from_arrays([lists.flatten(), lists.flatten()], ["a", "b"])) == 2 * plain


def test_a_file_that_no_library_could_read_is_left_to_it(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + b"\0" * 20 + b"PAR1")
    check_file(tmp_path / "x.parquet")
    assert bounds.most_bytes(1) == bounds.SMALL_BYTES


def test_what_a_file_claims_is_the_width_of_its_values_and_its_texts_as_often_as_they_come(tmp_path):
    columns = {
        "n": pa.array([1, 2, 3]),
        "f": pa.array([1.0, 2.0, 3.0], pa.float32()),
        "b": pa.array([b"ab"] * 3, pa.binary(2)),
    }
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=2)
    with parquet.ParquetFile(tmp_path / "x.parquet") as file:
        assert parquet_bounds._claimed(file) == (3 * (8 + 4 + 2), 3 * (8 + 4 + 2))
    parquet.write_table(pa.table({"t": ["a", "b", "b"]}), tmp_path / "y.parquet")
    with parquet.ParquetFile(tmp_path / "y.parquet") as file:
        size = file.metadata.row_group(0).column(0).total_uncompressed_size
        assert parquet_bounds._claimed(file) == (0, 3 * size)
    parquet.write_table(pa.table({"t": ["a", "b", "b"]}), tmp_path / "z.parquet", use_dictionary=False)
    with parquet.ParquetFile(tmp_path / "z.parquet") as file:
        size = file.metadata.row_group(0).column(0).total_uncompressed_size
        assert parquet_bounds._claimed(file) == (size, size)


def test_rows_may_fill_half_of_the_memory_and_no_more(tmp_path, monkeypatch):
    path = str(tmp_path / "x.parquet")
    parquet.write_table(pa.table({"n": [1, 2, 3]}), path)
    with parquet.ParquetFile(path) as file:
        size = sum(batch.nbytes for batch in file.iter_batches())
        monkeypatch.setattr(parquet_bounds, "_memory", lambda: 2 * size)
        assert parquet_bounds.held_table(file, path).num_rows == 3
        monkeypatch.setattr(parquet_bounds, "_memory", lambda: 2 * size - 1)
        with pytest.raises(DataError, match="the rows take more than 0 GiB"):
            parquet_bounds.held_table(file, path)
    assert parquet_bounds._written_out(pa.array([1, 2])) == 16
