from __future__ import annotations

import pytest

from proctor.data.files import LoadJsonFile
from proctor.data.loaders import LazyLoader, Loader, LoadFromDictionary, MultipleSourceLoader
from proctor.errors import DataError, ValidationError
from proctor.settings import settings

DATA = {"train": [{"a": i, "l": [i]} for i in range(5)], "test": [{"a": 9, "l": []}]}


def test_a_dictionary_is_proprietary_unless_it_says_something_else():
    assert LoadFromDictionary(DATA)()["test"].peek() == {"a": 9, "l": [], "data_classification_policy": ["proprietary"]}
    public = LoadFromDictionary(data=DATA, data_classification_policy=["public"]).process()
    assert public.to_dataset()["test"][0]["data_classification_policy"] == ["public"]


def test_rows_are_new_each_time():
    stream = LoadFromDictionary(data=DATA)()["train"]
    for row in stream:
        row["a"] = None
    assert [row["a"] for row in stream] == [0, 1, 2, 3, 4]


def test_limits_hold_for_each_split():
    loader = LoadFromDictionary(data=DATA, loader_limit=2)
    assert {name: len(list(rows)) for name, rows in loader().items()} == {"train": 2, "test": 1}
    with settings.context(global_loader_limit=1):
        assert len(list(loader()["train"])) == 1
        assert loader.get_limit() == 1
    assert loader.get_splits() == ["train", "test"]


@pytest.mark.parametrize(
    "data, words",
    [({"train": []}, "has no rows"), ({"train": [{"a": 1}, {"a": 1}, {"b": 1}]}, r"\$\.data\.train\[2\]")],
)
def test_data_that_is_not_a_table_is_an_error(data, words):
    with pytest.raises(DataError, match=words):
        LoadFromDictionary(data=data)


def test_data_of_another_form_is_an_error():
    with pytest.raises(ValidationError):
        LoadFromDictionary(data=[{"a": 1}])


def test_several_sources_are_joined(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('[{"a": 7}]', encoding="utf-8")
    loader = MultipleSourceLoader(sources=[LoadFromDictionary(data=DATA), LoadJsonFile(files={"test": str(path)})])
    assert loader.get_splits() == ["train", "test"]
    assert [row["a"] for row in loader()["test"]] == [9, 7]
    assert loader()["test"].peek()["data_classification_policy"] == ["proprietary"]
    marked = MultipleSourceLoader(
        sources=[LoadFromDictionary(data=DATA)], data_classification_policy=["pii"], loader_limit=2
    )
    assert [row["data_classification_policy"] for row in marked()["train"]] == [["pii"], ["pii"]]


def test_a_loader_of_ones_own():
    class Countdown(LazyLoader):
        start: int

        def get_splits(self):
            return ["train", "test"]

        def split_generator(self, split):
            yield from ({"n": i, "split": split} for i in range(self.start, 0, -1))

    assert [row["n"] for row in Countdown(start=3)()["test"]] == [3, 2, 1]
    assert list(Countdown(start=3, split="test")()) == ["test"]


def test_a_loader_has_to_say_what_it_loads():
    for kind in (Loader, LazyLoader):
        with pytest.raises(ValidationError, match="does not define"):
            kind()()
