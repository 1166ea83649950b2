from __future__ import annotations

import json

import pytest

from proctor.data import hub, hub_access
from proctor.data.hub_loaders import LoadHF
from proctor.errors import DataError, DatasetNotFoundError, TrustError
from proctor.settings import settings

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def mapped(tmp_path, monkeypatch):
    import pyarrow as pa

    def write(path, rows):
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path)

    base = tmp_path / "hub"
    card = base / "owner" / "data"
    write(card / "en" / "train.parquet", [{"q": "a", "n": {"k": [1, 2]}}, {"q": "b", "n": {"k": []}}])
    write(card / "en" / "test.parquet", [{"q": "c", "n": None}])
    write(card / "de" / "train-00000-of-00001.parquet", [{"q": "d"}])
    write(base / "plain" / "train.parquet", [{"q": "e", "lang": "en"}, {"q": "f", "lang": "de"}])
    (base / "aliases.json").write_text(json.dumps({"short": "owner/data"}), encoding="utf-8")
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(base))
    return base


def test_a_mapped_dataset_is_read_without_the_hub(mapped):
    streams = LoadHF(path="owner/data", name="en")()
    assert sorted(streams) == ["test", "train"]
    assert streams["train"].peek() == {"q": "a", "n": {"k": [1, 2]}, "data_classification_policy": ["public"]}
    assert [row["q"] for row in streams["train"]] == ["a", "b"] == [row["q"] for row in streams["train"]]


def test_aliases_name_the_same_dataset(mapped):
    assert LoadHF(path="short", name="de")()["train"].peek()["q"] == "d"


def test_one_configuration_needs_no_name(mapped):
    assert LoadHF(path="plain")()["train"].peek()["q"] == "e"


def test_the_card_of_a_dataset_says_which_files_it_has(mapped):
    header = "---\nconfigs:\n- config_name: x\n  data_files:\n  - split: dev\n    path: en/*.parquet\n---\n# data\n"
    (mapped / "owner" / "data" / "README.md").write_text(header, encoding="utf-8")
    assert len(list(LoadHF(path="owner/data", name="x")()["dev"])) == 3


def test_a_malformed_card_is_shown_with_its_line(mapped):
    (mapped / "plain" / "README.md").write_text("---\nconfigs: [\nx: 1\n---\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"README\.md:\d"):
        LoadHF(path="plain")()


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"path": "owner/data", "name": "enn"}, "did you mean 'en'"),
        ({"path": "owner/data"}, "choose one of"),
        ({"path": "owner/data", "name": "en", "split": "tran"}, "did you mean 'train'"),
    ],
)
def test_what_a_mapped_dataset_lacks_is_an_error(mapped, arguments, words):
    with pytest.raises(DatasetNotFoundError, match=words):
        [list(stream) for stream in LoadHF(**arguments)().values()]


def test_splits_and_limits(mapped):
    assert list(LoadHF(path="owner/data", name="en", split="test")()) == ["test"]
    assert list(LoadHF(path="owner/data", name="en", splits=["train"])()) == ["train"]
    assert len(list(LoadHF(path="owner/data", name="en", loader_limit=1)()["train"])) == 1
    with settings.context(global_loader_limit=1):
        assert len(list(LoadHF(path="owner/data", name="en")()["train"])) == 1


def test_rows_can_be_filtered_by_an_expression(mapped):
    loader = LoadHF(path="plain", filtering_lambda="lambda x: x['lang'] == 'de'")
    assert [row["q"] for row in loader()["train"]] == ["f"]
    with pytest.raises(TrustError):
        LoadHF(path="plain", filtering_lambda="lambda x: __import__('os')")


def test_a_damaged_file_is_an_error(mapped):
    (mapped / "plain" / "train.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(DataError, match="cannot be read as parquet"):
        list(LoadHF(path="plain")()["train"])


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 1}'])
def test_aliases_that_cannot_be_read_are_an_error(mapped, text):
    (mapped / "aliases.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="aliases"):
        hub.local_folder("something")


@pytest.mark.parametrize("hub_id", ["../secret", "/etc"])
def test_ids_do_not_leave_the_mapped_folder(mapped, hub_id):
    assert hub.local_folder(hub_id) is None


def test_a_dataset_that_is_nowhere_says_where_it_was_looked_for(mapped):
    with settings.context(offline=True), pytest.raises(DatasetNotFoundError) as caught:
        LoadHF(path="owner/nothing")()
    assert str(mapped / "owner/nothing") in str(caught.value)
    assert "PROCTOR_HUB_DIR=<folder>" in str(caught.value)


def test_files_are_private_and_the_hub_is_public(tmp_path, mapped):
    assert LoadHF(path="owner/data").default_policy() == ["public"]
    assert LoadHF(path=str(tmp_path)).default_policy() == ["proprietary"]


class Columns:
    """A dataset with the attributes of the ``datasets`` library's, or without some."""

    def __init__(self, rows, **attributes):
        self.__dict__ |= {"_rows": rows} | attributes

    def __iter__(self):
        return iter(self._rows)


@pytest.mark.parametrize("attributes", [{}, {"features": {"q": "x"}}, {"features": {"q": "x"}, "with_format": None}])
def test_rows_of_a_collection_that_is_not_a_dataset_of_the_library_are_those_that_it_yields(attributes):
    assert hub.rows_of(Columns([{"q": "a"}, {"q": "b"}], **attributes)) == [{"q": "a"}, {"q": "b"}]


def test_real_datasets(hub_dir, monkeypatch):
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(hub_dir))
    streams = LoadHF(path="glue", name="wnli")()
    assert {name: len(list(stream)) for name, stream in streams.items()} == {"train": 635, "validation": 71, "test": 20}
    row = LoadHF(path="squad", split="validation")()["validation"].peek()
    assert set(row["answers"]) == {"text", "answer_start"}


def test_files_of_this_machine_are_read_without_asking_anybody(tmp_path, monkeypatch):
    import datasets

    (tmp_path / "rows.jsonl").write_text('{"q": "a"}\n{"q": "b"}\n', encoding="utf-8")

    asked = []

    def refuse(*arguments, **options):
        asked.append(arguments)
        raise OSError("no network")

    monkeypatch.setattr(hub_access.socket, "create_connection", refuse)
    monkeypatch.setattr(datasets.load, "get_session", refuse)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(datasets.config, "HF_UPDATE_DOWNLOAD_COUNTS", True)
    read = hub.Dataset("json", data_files={"test": str(tmp_path / "rows.jsonl")})
    assert list(hub.rows(read, "test")) == [{"q": "a"}, {"q": "b"}]
    assert asked == []
    assert datasets.config.HF_UPDATE_DOWNLOAD_COUNTS
