import json

import pytest

from proctor.cli.__main__ import main

GOOD = "task: good\ntest_split: test\ndataset_path: json\noutput_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    return tmp_path


def test_good_files(invoke, folder):
    code, out, err = invoke("validate", str(folder))
    assert (code, out) == (0, "")
    assert "1 file, 0 problems" in err


def test_every_problem_of_every_file_with_place_and_hint(invoke, folder):
    (folder / "bad.yaml").write_text(GOOD.replace("good", "bad") + "metrc_list: []\n")
    (folder / "artifact.json").write_text('{"__type__": "task_crad"}')
    (folder / "broken.json").write_text('{"__type__": "task",\n "a": }')
    code, _, err = invoke("validate", str(folder))
    assert code == 2
    assert "bad.yaml:7:1" in err
    assert "did you mean 'metric_list'" in err
    assert "did you mean 'task_card'" in err
    assert "broken.json:2:7" in err
    assert "4 files, 3 problems" in err


def test_a_mistyped_path_is_answered_with_what_its_folder_has(invoke, folder):
    code, _, err = invoke("validate", str(folder / "goood.yaml"))
    assert code == 2
    assert f"did you mean '{folder / 'good.yaml'}'?" in err


def test_problems_as_json(invoke, folder):
    (folder / "bad.yaml").write_text(GOOD.replace("good", "bad") + "metrc_list: []\n")
    code, out, _ = invoke("validate", str(folder), "--json")
    assert code == 2
    (problem,) = map(json.loads, out.splitlines())
    assert (problem["line"], problem["column"]) == (7, 1)


def test_nothing_to_validate(invoke, tmp_path):
    code, _, err = invoke("validate", str(tmp_path))
    assert code == 2
    assert "there is no task file" in err


def test_a_folder_with_tasks_is_listed(invoke, folder):
    _, out, _ = invoke("ls", "goo*", "--include-path", str(folder), "--json")
    entry = json.loads(out)
    assert (entry["name"], entry["kind"], entry["description"]) == ("good", "exam", "lm-eval: generate until")
    assert invoke("ls", "goo*", "--include-path", str(folder), "--from", "nowhere")[0] == 2


def test_a_table_is_an_exam_whose_columns_are_looked_at(invoke, folder):
    (folder / "good.csv").write_text("question,answer\nWhy?,so\n")
    (folder / "bad.csv").write_text("x,y\n1,2\n")
    code, _, err = invoke("validate", str(folder / "good.csv"), str(folder / "bad.csv"))
    assert code == 2
    assert "nothing says which column of the table is asked" in err
    assert "its columns are 'x', 'y'" in err
    assert "2 files, 1 problem" in err


RUN = "model: dummy\ntasks: [samples.science]\n"


@pytest.mark.parametrize(
    "text, said",
    [
        (RUN, "1 file, 0 problems"),
        (f"{RUN}limt: 3\n", "a run file has no field 'limt' (run.yaml:3:1"),
        (RUN.replace("science", "sciense"), "there is no exam 'samples.sciense'"),
        (f"{RUN}overrides: {{num_demo: 3}}\n", "num_demo"),
    ],
)
@pytest.mark.parametrize("named", ["run.yaml", "."])
def test_the_file_of_a_run_is_read_as_one(tmp_path, monkeypatch, capsys, text, said, named):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.yaml").write_text(text)
    assert main(["validate", named]) == (0 if text == RUN else 2)
    assert said in capsys.readouterr().err


def test_runs_in_a_folder_of_exams_are_no_exams(tmp_path, capsys):
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run / "run.yaml").write_text(f"{RUN}exams:\n  e:\n    field_spec: {{input: a}}\n")
    (tmp_path / "rows.jsonl").write_text('{"a": "b", "t": "c"}\n')
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        'output_type: generate_until\ndoc_to_text: "{{a}}"\ndoc_to_target: "{{t}}"\n'
    )
    assert main(["validate", str(tmp_path)]) == 0, capsys.readouterr().err
