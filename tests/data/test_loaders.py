from __future__ import annotations

import pytest

from proctor.artifacts import Artifact
from proctor.data.field_operators import WikipediaFetcher
from proctor.data.files import FileLoader, LoadJsonFile
from proctor.data.filters import RowFilter
from proctor.data.hub_loaders import LoadFromHFSpace, LoadHF, TURLColumnTypeAnnotationLoader
from proctor.data.iob_files import LoadIOB
from proctor.data.loaders import LazyLoader, Loader, LoadFromDictionary, MultipleSourceLoader
from proctor.data.remote import LoadFromAPI, LoadFromIBMCloud, LoadFromKaggle, LoadFromSklearn
from proctor.data.side_effects import DownloadOperator, ExtractZipFile
from proctor.data.text_operators import TokensSplit
from proctor.errors import DataError, ValidationError
from proctor.settings import settings


def bucket(endpoint):
    """Return a loader of objects whose address is in a variable."""
    keys = {"aws_access_key_id_env": "K", "aws_secret_access_key_env": "S"}
    return LoadFromIBMCloud(endpoint_url_env=endpoint, **keys, bucket_name="b", data_files={"train": "a"})


DATA = {"train": [{"a": i, "l": [i]} for i in range(5)], "test": [{"a": 9, "l": []}]}


def test_a_dictionary_is_proprietary_unless_it_says_something_else():
    assert LoadFromDictionary(DATA)()["test"].peek() == {"a": 9, "l": [], "data_classification_policy": ["proprietary"]}
    public = LoadFromDictionary(data=DATA, data_classification_policy=["public"]).process()
    assert public.to_dataset()["test"][0]["data_classification_policy"] == ["public"]


@pytest.mark.parametrize(
    "step, expected",
    [
        (LoadHF(path="a/b"), ["hub a/b"]),
        (LoadFromHFSpace(space_name="o/s", data_files="a"), ["hub spaces/o/s"]),
        (
            LoadFromHFSpace(space_name="o/s", data_files="a", token_env="T", path="/x"),
            ["hub spaces/o/s", "env T@huggingface.co", "write /x"],
        ),
        (TURLColumnTypeAnnotationLoader(), ["hub stanford-crfm/helm-scenarios"]),
        (LoadFromKaggle(url="https://www.kaggle.com/datasets/o/n"), ["net www.kaggle.com"]),
        (LoadFromSklearn(dataset_name="x"), ["net ndownloader.figshare.com"]),
        (bucket("NOT_SET"), ["env NOT_SET"]),
        (bucket("SET"), ["env SET", "net s3.example", "env K@s3.example", "env S@s3.example"]),
        (LoadFromAPI(urls={"test": "https://api.example/rows"}), ["net api.example"]),
        (LoadIOB(files={"train": "/x/a.iob", "test": "/x/b.iob"}), ["read /x/a.iob", "read /x/b.iob"]),
        (DownloadOperator(source="https://h.example/a", target="/x/t"), ["net h.example", "write /x/t"]),
        (ExtractZipFile(zip_file="/x/a.zip", target_dir="/x/t"), ["read /x/a.zip", "write /x/t"]),
        (TokensSplit(field="a", model="o/m"), ["hub o/m"]),
        (WikipediaFetcher(field="a"), ["net en.wikipedia.org"]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_what_a_step_asks_of_the_machine_and_of_others_is_told(step, expected, monkeypatch):
    monkeypatch.delenv("NOT_SET", raising=False)
    monkeypatch.setenv("SET", "https://s3.example/path")
    assert [f"{effect.kind} {effect.target}" for effect in step.effects()] == expected


class AskedError(Exception):
    """The gate was asked."""


@pytest.mark.parametrize(
    "act",
    [
        lambda: list(LoadFromHFSpace(space_name="o/s", data_files="a")()["train"]),
        lambda: list(TURLColumnTypeAnnotationLoader()()["train"]),
        LoadFromKaggle(url="https://www.kaggle.com/datasets/o/n"),
        lambda: list(LoadFromSklearn(dataset_name="20newsgroups")()["train"]),
        bucket("SET"),
        lambda: list(LoadFromAPI(urls={"test": "https://api.example/rows"})()["test"]),
        lambda: list(LoadIOB(files={"train": "/x/a.iob"})()["train"]),
        lambda: list(LoadJsonFile(files={"train": "/x/a.json"})()["train"]),
        lambda: DownloadOperator(source="https://h.example/a", target="/x/t").process(),
        lambda: ExtractZipFile(zip_file="/x/a.zip", target_dir="/x/t").process(),
        lambda: TokensSplit(field="a", model="o/m").process_value("x"),
    ],
)
def test_the_gate_is_asked_before_a_step_does_anything(act, monkeypatch):
    def refuse(step):
        raise AskedError

    monkeypatch.setattr(Artifact, "act", refuse)
    with pytest.raises(AskedError):
        act()


@pytest.mark.parametrize(
    "call",
    [
        lambda: LazyLoader().split_generator("train"),
        lambda: FileLoader(files={"train": "x"}).read("x"),
        lambda: RowFilter().keeps(),
    ],
)
def test_a_step_that_does_not_say_what_it_does_is_refused(call):
    with pytest.raises(ValidationError, match="does not define"):
        call()


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
