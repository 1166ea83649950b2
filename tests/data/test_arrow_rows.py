import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data import hub
from proctor.data.arrow_rows import BATCH, KEPT_BATCHES, ArrowRows
from proctor.settings import settings

pa = pytest.importorskip("pyarrow")
ROWS = [{"n": n, "text": f"row {n}", "parts": {"a": [n, None]}} for n in range(2 * BATCH + 3)]
TABLE = ArrowRows.of_table(pa.Table.from_pylist(ROWS))


def test_it_reads_like_a_list():
    assert len(TABLE) == len(ROWS)
    assert list(TABLE) == ROWS
    assert TABLE[-1] == ROWS[-1]
    assert TABLE[BATCH - 1 : BATCH + 2] == ROWS[BATCH - 1 : BATCH + 2]
    assert not ArrowRows.of_table(TABLE_WITHOUT_ROWS)
    for outside in (len(ROWS), -len(ROWS) - 1):
        with pytest.raises(IndexError):
            TABLE[outside]


TABLE_WITHOUT_ROWS = pa.table({"n": pa.array([], pa.int64())})


@given(st.integers(-len(ROWS), len(ROWS) - 1))
def test_every_place(place):
    assert TABLE[place] == ROWS[place]


def test_only_some_batches_stay_made():
    read = []

    def columns(start, end):
        read.append(start)
        return {"n": range(start, end)}

    rows = ArrowRows(columns, (KEPT_BATCHES + 1) * BATCH)
    assert [row["n"] for row in rows] == list(range(len(rows)))
    assert len(read) == KEPT_BATCHES + 1
    rows[len(rows) - 1]  # the last batch is still made
    assert len(read) == KEPT_BATCHES + 1
    rows[0]  # the first has made room
    assert len(read) == KEPT_BATCHES + 2


def test_rows_of_a_dataset_are_those_that_it_gives():
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_list(ROWS)
    assert list(hub.rows_of(whole)) == list(whole)
    chosen = whole.select([5, 3, 9]).filter(lambda row: row["n"] != 3)
    assert list(hub.rows_of(chosen)) == [ROWS[5], ROWS[9]]
    assert list(hub.rows_of(whole.with_format("numpy"))) == list(whole)
    assert hub.rows_of(ROWS) is ROWS
    assert hub.rows_of(iter(ROWS[:2])) == ROWS[:2]


def test_parquet_files_that_differ_keep_their_own_columns(tmp_path, monkeypatch):
    from pyarrow import parquet

    folder = tmp_path / "set" / "default"
    folder.mkdir(parents=True)
    parquet.write_table(pa.table({"n": [1, 2]}), folder / "test-0.parquet")
    parquet.write_table(pa.table({"n": [0.5], "more": ["x"]}), folder / "test-1.parquet")
    parquet.write_table(pa.table({"n": [1]}), folder / "train-0.parquet")
    with settings.context(hub_dir=str(tmp_path)):
        assert list(hub.held_rows(hub.Dataset("set"), "test")) == [{"n": 1}, {"n": 2}, {"n": 0.5, "more": "x"}]
        assert list(hub.held_rows(hub.Dataset("set"), "train")) == [{"n": 1}]
        assert list(hub.rows(hub.Dataset("set"), "test")) == list(hub.held_rows(hub.Dataset("set"), "test"))
