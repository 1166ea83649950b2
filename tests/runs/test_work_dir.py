"""Work folders of AISBench and OpenCompass."""

from __future__ import annotations

import json

import pytest

from proctor.errors import DataError, UnknownArtifactError
from proctor.ir import Failure
from proctor.runs.work_dir import WorkDir


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def lines(*rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_the_last_time_is_taken_where_none_is_named(tmp_path):
    for time in ("20260101_101500", "20260102_101500"):
        (tmp_path / time / "predictions").mkdir(parents=True)
    (tmp_path / "20260103_101500").mkdir()
    assert WorkDir.find(tmp_path).path.name == "20260102_101500"
    assert WorkDir.find(tmp_path, "latest").path.name == "20260102_101500"
    assert WorkDir.find(tmp_path, "20260101_101500").path.name == "20260101_101500"
    assert WorkDir.find(tmp_path / "20260101_101500").path.name == "20260101_101500"
    with pytest.raises(UnknownArtifactError, match="no folder '20260103_101500'(.|\n)*did you mean"):
        WorkDir.find(tmp_path, "20260103_101500")


def test_a_folder_of_results_is_a_work_folder_and_an_empty_one_is_none(tmp_path):
    (tmp_path / "work" / "results").mkdir(parents=True)
    assert WorkDir.find(tmp_path / "work").path.name == "work"
    (tmp_path / "none").mkdir()
    for place in ("none", "nowhere"):
        with pytest.raises(UnknownArtifactError, match="not a folder of AISBench(.|\n)*predictions/ or results/"):
            WorkDir.find(tmp_path / place)
    with pytest.raises(UnknownArtifactError, match="there are none"):
        WorkDir.find(tmp_path / "none", "20260101_101500")


def test_lines_of_aisbench_say_which_row_they_answer(tmp_path):
    put(
        tmp_path / "predictions" / "m" / "d.jsonl",
        lines(
            {"prediction": "a", "id": 1},
            {"prediction": "b", "id": 0},
            {"prediction": "c", "id": 1},
            {"prediction": "", "id": 2, "success": False, "error_info": "late"},
            {"prediction": "", "id": 3, "success": False},
            {"prediction": "f"},
        )
        + "\n",
    )
    work = WorkDir.find(tmp_path)
    assert work.models() == ["m"]
    assert work.models("results") == []
    assert work.predictions("m", "d") == {
        1: ["a", "c"],
        0: ["b"],
        2: [Failure("engine", "late", retryable=False)],
        3: [Failure("engine", "the request failed", retryable=False)],
        5: ["f"],
    }
    assert work.predictions("m", "e") is None
    assert work.predictions("n", "d") is None


def test_documents_of_opencompass_may_be_in_parts(tmp_path):
    folder = tmp_path / "predictions" / "m"
    put(folder / "d.json", {"10": {"prediction": "c"}, "2": {"prediction": "b"}, "0": {"prediction": "a"}})
    work = WorkDir.find(tmp_path)
    assert work.predictions("m", "d") == {0: ["a"], 2: ["b"], 10: ["c"]}
    for part in range(11):
        put(folder / f"e[1]_{part}.json", {"0": {"prediction": f"{part}a"}, "1": {"prediction": f"{part}b"}})
    put(folder / "e[1]_old_3.json", {"0": {"prediction": "of another"}})
    found = work.predictions("m", "e[1]")
    assert [found[place][0] for place in range(22)] == [f"{part}{side}" for part in range(11) for side in "ab"]


def test_results_are_scores_without_details(tmp_path):
    put(tmp_path / "results" / "m" / "d.json", {"accuracy": 50.0, "details": [1]})
    put(tmp_path / "results" / "m" / "c.json", {"f1": 1.0})
    work = WorkDir.find(tmp_path)
    assert work.results("m") == {"c": {"f1": 1.0}, "d": {"accuracy": 50.0}}
    assert (work.results("n"), work.models("results")) == ({}, ["m"])


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("d.jsonl", '{"prediction": "a"}\n[1]\n', r"the line has no prediction \(.*d\.jsonl:2\)"),
        ("d.jsonl", '{"answer": "a"}\n', "the line has no prediction"),
        ("d.jsonl", '{"prediction": "a", "id": "x"}\n', "'id' is not a position(.|\n)*it is 'x'"),
        ("d.jsonl", '{"prediction": \n', "this is not JSON"),
        ("d.json", "[]", "not a JSON object"),
        ("d.json", '{"a": {"prediction": 1}}', "no predictions by position"),
        ("d.json", '{"0": {"answer": 1}}', "no predictions by position"),
        ("d.json", '{"0": [1]}', "no predictions by position"),
        ("d.json", "[" * 100_000, "this is not JSON"),
    ],
)
def test_files_that_hold_something_else_are_refused_with_their_place(tmp_path, name, content, message):
    put(tmp_path / "predictions" / "m" / name, content)
    with pytest.raises(DataError, match=message):
        WorkDir.find(tmp_path).predictions("m", "d")
