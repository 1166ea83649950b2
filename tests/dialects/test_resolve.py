"""Names that nobody knows: the closest ones of all dialects, and files that are not there."""

import re

import pytest

from proctor.artifacts import fetch_artifact
from proctor.dialects.resolve import resolve_task
from proctor.errors import UnknownArtifactError
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

GROUP = (
    "group: planets\nchildren:\n  near: {dataset_path: d, doc_to_text: q}\n  far: {dataset_path: d, doc_to_text: q}\n"
)


@pytest.fixture
def unknown(tmp_path, monkeypatch):
    (tmp_path / "planets.yaml").write_text(GROUP)
    monkeypatch.chdir(tmp_path)

    def error(name):
        with pytest.raises(UnknownArtifactError) as caught:
            resolve_task(name, ExamOptions(include_paths=(str(tmp_path),)))
        (problem,) = caught.value.diagnostics
        return problem

    return error


@pytest.mark.parametrize(
    "name, near",
    [("planet", "'planets'"), ("planet::near", "'planets::near'"), ("samples.scinece", "'samples.science'")],
)
def test_the_closest_name_of_every_dialect(unknown, name, near):
    assert near in unknown(name).hint


@pytest.mark.parametrize("name", ["planes.yaml", "planes.yaml@cloze", "planes.yaml::near"])
def test_a_file_that_is_not_there(unknown, name):
    problem = unknown(name)
    assert problem.what == "there is no file 'planes.yaml'"
    assert problem.hint == "did you mean 'planets.yaml'?"


@pytest.mark.parametrize("name", ["planets.ymal", "planets.yml"])
def test_a_mistyped_ending(unknown, name):
    assert unknown(name).hint == "did you mean 'planets.yaml'?"


def test_a_name_with_a_dot_is_not_taken_for_a_file(unknown):
    assert unknown("planets.science").what == "there is no exam 'planets.science'"


def test_a_folder_that_is_not_there(unknown):
    assert "there is no folder 'nowhere'" in unknown("nowhere/rows.jsonl").why


def test_a_catalog_whose_folder_is_not_there(unknown, tmp_path):
    folder = str(tmp_path / "catalog")
    with settings.context(catalogs=folder):
        assert unknown("capitals").why == f"PROCTOR_CATALOGS names {folder}, and there is no such folder"
        with pytest.raises(UnknownArtifactError, match=rf"{re.escape(folder)} \(there is no such folder\)"):
            fetch_artifact("cards.capitals")
    assert unknown("capitals").why == ""


@pytest.mark.parametrize("name", ["openai/gsm8k", "allenai/ai2_arc/ARC-Easy", "a/b/c/test"])
def test_a_dataset_of_the_hub_is_told_how_it_is_written(unknown, name):
    assert f"a dataset of the hub is hf/{name}" in unknown(name).hint
