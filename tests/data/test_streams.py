from __future__ import annotations

import pytest

from proctor.data.streams import GeneratorStream, ListStream, MultiStream, Stream
from proctor.errors import DataError


def test_streams_are_lazy_and_start_again():
    made = []

    def rows(count):
        for i in range(count):
            made.append(i)
            yield {"a": i}

    stream = GeneratorStream(rows, gen_kwargs={"count": 3})
    assert made == []
    assert stream.peek() == {"a": 0}
    assert made == [0]
    assert [row["a"] for row in stream] == [0, 1, 2]
    assert [row["a"] for row in stream.take(2)] == [0, 1]


def test_a_collection_of_rows_is_not_changed_by_those_who_read_it():
    rows = [{"a": 1}]
    for row in ListStream(rows):
        row["a"] = 2
    assert rows == [{"a": 1}]


def test_an_empty_stream_has_no_first_row():
    with pytest.raises(DataError, match="empty"):
        ListStream([]).peek()


def test_only_streams_are_streams():
    with pytest.raises(DataError, match="cannot be the stream"):
        MultiStream({"train": {"a": 1}})
    with pytest.raises(DataError, match="cannot be the stream"):
        MultiStream({3: ListStream([])})


def test_a_missing_stream_is_answered_with_the_nearest():
    with pytest.raises(DataError, match="did you mean 'train'"):
        MultiStream({"train": ListStream([])})["tran"]


def test_streams_become_datasets():
    streams = MultiStream.from_iterables({"train": [{"a": 1, "b": "x"}, {"a": 2, "c": [1]}], "test": [{"a": 3}]})
    dataset = streams.to_dataset()
    assert dataset["train"][1] == {"a": 2, "b": None, "c": [1]}
    assert dataset["test"].num_rows == 1
    assert next(iter(streams.to_iterable_dataset()["train"]))["a"] == 1


def test_functions_become_streams():
    streams = MultiStream.from_generators({"train": lambda: iter([{"a": 1}])})
    assert list(streams["train"]) == [{"a": 1}]


def test_a_list_of_rows_becomes_a_stream():
    streams = MultiStream({"train": [{"a": 1}], "test": ListStream([])})
    assert list(streams["train"]) == [{"a": 1}]


def test_lists_in_rows_are_copied_where_somebody_says_so():
    def made():
        yield {"n": made.kept}

    made.kept = [1]
    for streams in (
        MultiStream.from_iterables({"a": [{"n": [1]}]}, copying=True),
        MultiStream.from_generators({"a": made}, copying=True),
    ):
        for row in streams["a"]:
            row["n"].append(2)
        assert list(streams["a"]) == [{"n": [1]}]
        streams["a"].copying = False
        for row in streams["a"]:
            row["n"].append(2)
        assert list(streams["a"]) == [{"n": [1, 2]}]


def test_rows_are_made_once_where_somebody_says_so():
    calls = []

    def made():
        calls.append(1)
        yield {"n": len(calls)}

    assert [list(MultiStream.from_generators({"a": made}, caching=True)["a"]) for _ in "ab"] == [[{"n": 1}], [{"n": 2}]]
    streams = MultiStream.from_generators({"a": made})
    streams["a"].caching = True
    assert [list(streams["a"]) for _ in "ab"] == [[{"n": 3}], [{"n": 3}]]


def test_a_stream_that_nobody_made_is_empty():
    assert list(Stream()) == []


def test_datasets_of_streams_may_lie_in_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path / "cache" / "datasets"))
    streams = MultiStream.from_iterables({"train": [{"a": 1}]})
    for given, folder in ((None, tmp_path / "cache" / "datasets"), (str(tmp_path), tmp_path)):
        found = streams.to_dataset(disable_cache=False, cache_dir=given)
        assert found["train"][0] == {"a": 1}
        (made,) = folder.glob("streams-*")
        assert made.is_dir()
