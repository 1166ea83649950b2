"""Runs from Python: what the command line takes, tables in memory, functions as models."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import proctor
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError

ROWS = [{"question": "Capital of Peru?", "answer": "Lima"}, {"question": "Capital of Mali?", "answer": "Bamako"}]


def lima(prompt):
    return "It is Lima."


def test_rows_and_a_function_are_an_exam_and_a_model(tmp_path):
    found = proctor.run(ROWS, lima, metric="includes", log=tmp_path / "log.db")
    (row,) = found.rows
    assert (row.task, row.metric, row.value, row.scored) == ("rows", "includes", 0.5, 2)
    assert str(found).startswith("rows: includes 0.5000 (0.0256 to 0.9744), n = 2")
    several = proctor.run(ROWS, lima, metric=["includes", "exact"], log=tmp_path / "log.db")
    assert [each.metric for each in several.rows] == ["includes", "exact_match"]


def test_data_frames_are_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"question": ["a?", "b?", "c?"], "answer": ["Lima", float("nan"), pandas.NA]})
    found = proctor.run(frame, lima, metric="includes", log=tmp_path / "log.db")
    assert (found.rows[0].scored, found.rows[0].failed) == (1, 2)
    several = pandas.DataFrame({"question": ["a?"], "answer": [pandas.array(["Lima", "Cusco"]).to_numpy()]})
    assert proctor.run(several, lima, metric="includes", log=tmp_path / "log.db").rows[0].value == 1.0


def test_datasets_are_tables(tmp_path):
    datasets = pytest.importorskip("datasets")
    found = proctor.run(datasets.Dataset.from_list(ROWS), "dummy", limit=1, log=tmp_path / "log.db")
    assert found.results["rows"]["n"] == 1


def test_names_options_and_engines_are_those_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    seen = []

    def model(messages):
        seen.append(messages)
        return "Lima"

    found = proctor.run(["rows.jsonl"], model, num_demos=1, seed=3, system_prompt="Be brief", log="log.db")
    assert found.rows[0].value == 0.5
    assert seen[0][0] == {"role": "system", "content": "Be brief"}
    assert any("Bamako" in str(each) for each in seen[0])
    named = proctor.run(Path("rows.jsonl"), "scripted", model_args={"answer": "Bamako"}, log="log.db")
    made = proctor.run(resolve_tasks(["rows.jsonl"]), ScriptedEngine(answer="Bamako"), log="log.db")
    assert named.results == made.results


def test_a_folder_of_a_run_can_be_run_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    proctor.run("rows.jsonl", ScriptedEngine(answer="Lima"), prompt="Q: {question}", output="out", log="log.db")
    command = [sys.executable, "-m", "proctor.cli", "run", "out/run.yaml", "--log", "log.db"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1.0000" in done.stdout
    proctor.run(ROWS, lima, output="mine", log="log.db")
    command[4] = "mine/run.yaml"
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "a function of a program, which no file holds" in done.stderr


def test_a_function_is_asked_anew_unless_its_version_is_said(tmp_path):
    asked = []

    def model(prompt):
        asked.append(prompt)
        return "Lima"

    for _ in range(2):
        proctor.run(ROWS, model, log=tmp_path / "log.db")
    assert len(asked) == 4
    for _ in range(2):
        proctor.run(ROWS, model, model_args={"version": "1"}, log=tmp_path / "log.db")
    assert len(asked) == 6
    proctor.run(ROWS, model, model_args={"version": "2"}, log=tmp_path / "log.db")
    assert len(asked) == 8


@pytest.mark.parametrize(
    "exams, model, options, why",
    [
        (ROWS, lima, {"metrics": "includes"}, "did you mean 'metric'"),
        (ROWS, lima, {"limit_": 1}, "no option 'limit_'\\n  hint: did you mean 'limit'"),
        (ROWS, lima, {"limit": "2"}, "'limit' cannot be '2'"),
        (ROWS, 7, {}, "a function, and this is int"),
        (ROWS, lambda question: question, {}, "(?s)takes 'question'.*call it 'prompt'.*f\\(question=prompt\\)"),
        (ROWS, ScriptedEngine(answer="a"), {"model_args": {"answer": "b"}}, "has its arguments already"),
        ([], "dummy", {}, "no exam to run"),
        (7, "dummy", {}, "this is int, not an exam"),
        ([*ROWS, "samples"], "dummy", {}, "this is dict, not an exam"),
        ([{"a": 1}], "dummy", {}, "which column of the table is asked"),
        ("nowhere.csv", "dummy", {}, "there is no file"),
        ("samples.sentiment", "dumy", {}, "did you mean 'dummy'"),
        ("samples.science", "dummy", {"prompt": "{x}"}, "prompt"),
        (resolve_tasks(["samples.science"]), "dummy", {"num_demos": 1}, "leave num_demos out"),
        (resolve_tasks(["samples.science"]), "dummy", {"limit": 0.5}, "leave limit out"),
        (ROWS, lima, {"num_demos": "1"}, "'num_demos' cannot be '1'"),
        (ROWS, lima, {"predict_only": "no"}, "'predict_only' cannot be 'no'"),
        (ROWS, lima, {"metric": 3}, "'metric' cannot be 3"),
    ],
)
def test_what_is_wrong_is_said_before_anybody_is_asked(exams, model, options, why):
    with pytest.raises(ProctorError, match=why):
        proctor.run(exams, model, **options)


def test_of_a_dataset_classes_have_names_and_splits_are_chosen(tmp_path):
    datasets = pytest.importorskip("datasets")
    label = datasets.ClassLabel(names=["bad", "good"])
    features = datasets.Features({"text": datasets.Value("string"), "label": label})
    whole = datasets.Dataset.from_dict({"text": ["Fine!", "Awful."], "label": [1, 0]}, features=features)
    assert proctor.run(whole, lambda prompt: "good", log=tmp_path / "log.db").rows[0].value == 0.5
    with pytest.raises(ProctorError, match=r"(?s)2 splits.*data\['train'\]"):
        proctor.run(datasets.DatasetDict({"train": whole, "test": whole}), lima)
    with pytest.raises(ProctorError, match="this Dataset has no rows"):
        proctor.run(whole.select([]), lima)


def test_columns_and_frames_without_rows_are_no_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    with pytest.raises(ProctorError, match="this DataFrame has no rows"):
        proctor.run(frame[:0], lima)
    with pytest.raises(ProctorError, match="there is no exam"):
        proctor.run(frame["question"], lima)


def test_a_result_says_why_instances_failed(tmp_path):
    assert "ZeroDivisionError: division by zero" in str(
        proctor.run(ROWS, lambda prompt: 1 / 0, log=tmp_path / "log.db")
    )


def test_a_notebook_has_a_loop_of_its_own(tmp_path):
    async def model(prompt):
        await asyncio.sleep(0)
        return "Lima"

    async def cell():
        return proctor.run(ROWS, model, log=tmp_path / "log.db")

    assert asyncio.run(cell()).rows[0].value == 0.5


def test_tags_limits_and_numbers_count(tmp_path):
    (exam,) = resolve_tasks(["samples.sentiment"])
    found = proctor.run(exam, "dummy", limit=3, tags="nightly", output=tmp_path / "out", log=tmp_path / "log.db")
    assert found.results["samples.sentiment"]["n"] == 3
    assert "- nightly" in (tmp_path / "out" / "run.yaml").read_text()
    assert proctor.run(ROWS, "dummy", limit=0.5, log=tmp_path / "log.db").results["rows"]["n"] == 1
    rows = [{"question": "2.5 + 2?", "answer": 4.5}]
    assert proctor.run(rows, lambda prompt: "4.5", log=tmp_path / "log.db").rows[0].value == 1.0


def test_groups_are_rows_and_lines(tmp_path):
    rows = [{**row, "topic": topic} for row, topic in zip(ROWS, ("sa", "af"), strict=True)]
    found = proctor.run(rows, lima, metric=["includes", "exact"], group_by="topic", log=tmp_path / "log.db")
    listed = [(each.task, each.metric, each.value) for each in found.rows]
    assert listed[2:] == [("rows, topic=sa", "includes", 1.0), ("rows, topic=af", "includes", 0.0)]
    assert "rows, topic=sa: includes 1.0000 (" in str(found)


def test_what_a_function_does_not_take_is_said(tmp_path, caplog):
    proctor.run(ROWS, lima, decoding={"temperature": 0.7, "max_tokens": 9}, log=tmp_path / "log.db")
    assert "lima takes no temperature: it is asked without" in caplog.text


def test_a_row_that_cannot_be_asked_is_the_same_row_however_it_is_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [*ROWS, {"question": "Something without answers?", "answer": ""}]
    options = {"log": "log.db", "perturb": "typos", "output": "runs/typos"}
    changed = proctor.run(rows, "dummy", **options)
    assert proctor.run(rows, "dummy", **options).results == changed.results
    plain = proctor.run(rows, "dummy", log="log.db")
    assert plain.results["rows"]["fingerprint"]["data"] == changed.results["rows"]["fingerprint"]["data"]
