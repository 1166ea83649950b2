"""Data that is read once for several exams."""

from __future__ import annotations

import pytest

from proctor.data import hub
from proctor.data.hub import Dataset, held_rows, library_split
from proctor.data.read_once import once, read_once
from proctor.dialects.lm_eval import selection
from proctor.dialects.lm_eval.index import TaskIndex


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text("word,number\nant,1\nbee,2\n")
    return Dataset("csv", data_files={"test": str(tmp_path / "a.csv")})


def test_rows_are_read_once_within_the_block_and_belong_to_each_exam_alone(files, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(hub, "library_split", lambda *which: read.append(which) or library_split(*which))
    with read_once():
        first, second = held_rows(files, "test"), held_rows(files, "test")
        (tmp_path / "a.csv").write_text("word,number\ncat,3\n")
        assert list(held_rows(files, "test")) == [{"word": "ant", "number": 1}, {"word": "bee", "number": 2}]
        first[0]["word"] = "changed by the code of one exam"
        assert second[0] == {"word": "ant", "number": 1}
    assert len(read) == 1
    assert list(held_rows(files, "test")) == [{"word": "cat", "number": 3}]


def test_a_dataset_of_the_library_that_code_changes_stays_as_it_is_for_others(files):
    with read_once():
        library_split(files, "test").set_format("numpy")
        assert library_split(files, "test").format["type"] is None


def test_lists_are_made_anew_and_nothing_is_kept_outside():
    made = []
    with read_once():
        for _ in range(2):
            once("rows", lambda: made.append(1) or [{}])
    for _ in range(2):
        once("letters", lambda: made.append(1) or {"a"})
    assert len(made) == 4


def test_names_of_tasks_are_indexed_once(monkeypatch):
    made = []
    monkeypatch.setattr(selection, "build_index", lambda *_, **__: made.append(1) or TaskIndex())
    with read_once():
        first, second = (selection.TaskFinder().index for _ in range(2))
    assert (len(made), first) == (1, second)
    assert selection.TaskFinder().index is not first
