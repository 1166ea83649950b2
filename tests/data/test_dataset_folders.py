"""A folder with data in which runs lie: what is read is the data."""

import json

import pytest

from proctor.data import hub
from proctor.errors import DatasetNotFoundError


@pytest.fixture
def folder(tmp_path):
    """A dataset's folder with a run whose name has the word of a split in it."""
    folder = tmp_path / "data"
    run = folder / "runs" / "scripted-test.yaml-1"
    run.mkdir(parents=True)
    (run / "run.yaml").write_text("model: dummy\n")
    (run / "samples.jsonl").write_text('{"exam": "x"}\n' * 3)
    (run / "results.json").write_text("{}")
    return folder


def _write(path, names):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"name": name}) + "\n" for name in names))


@pytest.mark.parametrize(
    "files, expected",
    [
        ({"test.jsonl": "ab"}, {"test": "ab"}),
        ({"train.jsonl": "ab", "test.jsonl": "c"}, {"train": "ab", "test": "c"}),
        ({"rows.jsonl": "ab"}, {"train": "ab"}),
        ({"data/test-00000-of-00002.jsonl": "a", "data/test-00001-of-00002.jsonl": "b"}, {"test": "ab"}),
        ({"data/hard-00000-of-00001.jsonl": "a", "data/easy-00000-of-00001.jsonl": "b"}, {"hard": "a", "easy": "b"}),
    ],
)
def test_splits_are_those_of_the_data_alone(folder, files, expected):
    for name, names in files.items():
        _write(folder / name, names)
    (folder / "test.yaml").write_text("tasks: []\n")
    dataset = hub.Dataset(str(folder))
    assert sorted(hub.split_names(dataset)) == sorted(expected)
    for split, names in expected.items():
        assert [row["name"] for row in hub.rows(dataset, split)] == list(names)


def test_a_card_says_which_files_are_data(folder):
    _write(folder / "rows.jsonl", "a")
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: default\n  data_files: rows.jsonl\n---\n")
    assert [row["name"] for row in hub.rows(hub.Dataset(str(folder)), "train")] == ["a"]
    with pytest.raises(DatasetNotFoundError, match="no split 'test'"):
        list(hub.rows(hub.Dataset(str(folder)), "test"))


def test_the_only_configuration_of_a_card_is_read_where_nobody_chooses_and_of_several_the_default(folder):
    for name in "ab":
        _write(folder / f"{name}.jsonl", name)
    one = "---\nconfigs:\n- {config_name: a, data_files: a.jsonl}\n"
    (folder / "README.md").write_text(f"{one}---\n")
    assert [row["name"] for row in hub.rows(hub.Dataset(str(folder)), "train")] == ["a"]
    (folder / "README.md").write_text(f"{one}- {{config_name: b, data_files: b.jsonl, default: true}}\n---\n")
    assert [row["name"] for row in hub.rows(hub.Dataset(str(folder)), "train")] == ["b"]
    assert [row["name"] for row in hub.rows(hub.Dataset(str(folder), name="a"), "train")] == ["a"]
    with pytest.raises(DatasetNotFoundError, match="no configuration 'c'"):
        list(hub.rows(hub.Dataset(str(folder), name="c"), "train"))


def test_a_split_that_is_not_there_is_refused_with_those_that_are(folder):
    _write(folder / "train.jsonl", "a")
    with pytest.raises(DatasetNotFoundError) as raised:
        list(hub.rows(hub.Dataset(str(folder)), "test"))
    assert "choose one of train" in str(raised.value)


def test_files_that_cannot_be_read_are_told_with_their_cause(tmp_path):
    (tmp_path / "train.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(DatasetNotFoundError) as raised:
        list(hub.rows(hub.Dataset(str(tmp_path)), "train"))
    said = str(raised.value)
    assert f"the files of the dataset in {tmp_path} cannot be read" in said
    assert "PROCTOR_HUB_DIR" not in said
    assert "JSON" in said


@pytest.mark.parametrize("kept", [(), ("results.json",), ("samples.jsonl", "results.json")])
def test_runs_that_keep_no_samples_or_did_not_end_are_no_data(tmp_path, kept):
    _write(tmp_path / "rows.jsonl", "ab")
    for run in (tmp_path / "runs" / "test-1", tmp_path):
        run.mkdir(parents=True, exist_ok=True)
        (run / "run.yaml").write_text("model: dummy\n")
        for name in kept:
            (run / name).write_text('{"name": "z"}\n')
    dataset = hub.Dataset(str(tmp_path))
    assert hub.split_names(dataset) == ["train"]
    assert [row["name"] for row in hub.rows(dataset, "train")] == ["a", "b"]
