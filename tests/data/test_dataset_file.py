"""One file of a dataset: of the mapped folder, else of the hub."""

import pytest

from proctor.data import dataset_file as module
from proctor.data.dataset_file import dataset_file
from proctor.errors import DatasetNotFoundError, UsageError
from proctor.settings import settings


@pytest.fixture
def mapped(tmp_path):
    (tmp_path / "org" / "data").mkdir(parents=True)
    (tmp_path / "org" / "data" / "eval.yaml").write_text("tasks: []\n")
    with settings.context(hub_dir=str(tmp_path), offline=True):
        yield tmp_path


def test_a_mapped_folder_has_the_file_or_says_where_it_was_looked_for(mapped):
    assert dataset_file("org/data", "eval.yaml") == mapped / "org" / "data" / "eval.yaml"
    with pytest.raises(DatasetNotFoundError, match="the dataset 'org/data' has no README.md") as raised:
        dataset_file("org/data", "README.md")
    assert str(mapped / "org" / "data") in str(raised.value)
    with pytest.raises(UsageError, match="leave @v1 out"):
        dataset_file("org/data", "eval.yaml", "v1")


def test_what_the_hub_does_not_give_is_told_with_the_folder_to_put_it_in(mapped, monkeypatch):
    with pytest.raises(DatasetNotFoundError, match=r"the eval.yaml of the dataset 'org/other' cannot be had") as raised:
        dataset_file("org/other", "eval.yaml")
    assert "<folder>/org/other/" in str(raised.value)


@pytest.mark.parametrize("answers, is_local", [(True, False), (False, True)])
def test_the_hub_is_asked_where_it_answers_and_its_cache_otherwise(tmp_path, monkeypatch, answers, is_local):
    asked = []

    def download(dataset, name, **given):
        asked.append((dataset, name, given))
        return str(tmp_path / name)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    monkeypatch.setattr(module, "is_offline", lambda: False)
    monkeypatch.setattr(module, "hub_answers", lambda: answers)
    assert dataset_file("org/other", "eval.yaml", "v1") == tmp_path / "eval.yaml"
    assert asked == [
        ("org/other", "eval.yaml", {"repo_type": "dataset", "revision": "v1", "local_files_only": is_local})
    ]
