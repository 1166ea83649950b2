"""What people type first, and type wrongly: each message says what to do next."""

import json
import subprocess
import sys

import click
import pytest

from proctor.cli.__main__ import main
from proctor.cli.completion import complete_tasks
from proctor.cli.named_exams import exams_or_run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def said(folder, capsys):
    def ran(*words):
        code = main(list(words))
        return code, "".join(capsys.readouterr())

    return ran


def test_an_exam_needs_no_option(folder, said):
    (folder / "capitals.csv").write_text("question;answer\nof France?;Paris\n")
    answers = ("--model", "scripted", "--model-args", "answer=Paris")
    code, shown = said("run", "capitals.csv", *answers)
    assert not code
    assert "capitals: exact_match = 1.0000" in shown
    code, shown = said("run", "capitals.csv", "samples.arithmetic", "--limit", "1", *answers, "--json")
    found, _ = json.JSONDecoder().raw_decode(shown[shown.index("{") :])  # what is said on standard error stands behind
    assert {"capitals", "samples.arithmetic"} <= set(found)


@pytest.mark.parametrize(
    "words, text",
    [
        (("words.txt",), "words.txt"),
        (("samples.sciense",), "did you mean 'samples.science'"),
        (("nowhere.csv",), "there is no file 'nowhere.csv'"),
        (("again.yaml", "samples"), "again.yaml has a model and exams of its own"),
        (("config.py", "capitals.csv"), "config.py has a model and exams of its own"),
    ],
)
def test_what_is_no_exam_is_named(folder, said, words, text):
    (folder / "words.txt").write_text("hello")
    (folder / "again.yaml").write_text("model: dummy\ntasks: [samples.science]\n")
    (folder / "config.py").write_text("datasets = []\n")
    (folder / "capitals.csv").write_text("question,answer\na,b\n")
    code, shown = said("run", *words, "--model", "scripted")
    assert code
    assert text in shown


@pytest.mark.parametrize(
    "name, text, is_run",
    [
        ("a.yaml", "model: dummy\ntasks: [x]\n", True),
        ("a.yaml", "tasks:\n- samples.science\n", True),
        ("a.yaml", "tasks: [samples.science]\n", True),
        ("a.yaml", "tasks:\n- id: x\n", False),
        ("a.yaml", "task: x\nmetadata:\n  model: y\n", False),
        ("a.json", '{"tasks": ["x"], "model": "dummy"}', True),
        ("a.json", '{"__type__": "dataset_recipe", "card": {"model": "x"}}', False),
        ("a.json", '{"model": ', False),
        ("a.csv", "model: x\n", False),
        ("a.py", "", True),
    ],
)
def test_runs_and_configs_are_told_from_exams(tmp_path, name, text, is_run):
    (tmp_path / name).write_text(text)
    path = str(tmp_path / name)
    assert exams_or_run([path]) == ((tmp_path / name, ()) if is_run else (None, (path,)))


def test_a_run_folder_is_a_run_and_another_folder_an_exam(tmp_path):
    (tmp_path / "run.yaml").write_text("")
    (tmp_path / "tasks").mkdir()
    assert exams_or_run([str(tmp_path)]) == (tmp_path, ())
    assert exams_or_run([str(tmp_path / "tasks")]) == (None, (str(tmp_path / "tasks"),))
    assert exams_or_run([]) == (None, ())


def test_the_file_of_a_run_stays_one(folder, said):
    (folder / "again.yaml").write_text("model: no-such-engine\ntasks: [samples.science]\n")
    assert "there is no engine 'no-such-engine'" in said("run", "again.yaml")[1]
    (folder / "empty-model.yaml").write_text("nonsense: 1\nmodel: dummy\ntasks: []\n")
    assert "no field 'nonsense'" in said("run", "empty-model.yaml")[1]


def test_a_folder_with_runs_says_which(folder, said):
    run = folder / "runs" / "one"
    run.mkdir(parents=True)
    (run / "results.json").write_text("{}")
    for command in (("report", "runs"), ("compare", "runs", "runs")):
        assert "it holds 1 run: runs/one" in said(*command)[1]


def test_a_catalog_behind_include_path_is_told_from_task_files(folder, said):
    card = folder / "mine" / "cards" / "own.json"
    card.parent.mkdir(parents=True)
    card.write_text(json.dumps({"__type__": "task_card"}))
    shown = said("show", "card=cards.own", "--include-path", "mine")[1]
    assert "PROCTOR_CATALOGS=mine" in shown
    assert "PROCTOR_CATALOGS" not in said("show", "card=cards.other", "--include-path", "mine")[1]


def test_configs_of_aisbench_that_are_not_here_can_be_fetched(said):
    shown = said("run", "--models", "vllm_api_general_chat", "--datasets", "gsm8k")[1]
    assert "proctor get ais-bench" in shown


def test_a_table_without_rows_says_so(folder, said):
    (folder / "head.csv").write_text("question,answer\n")
    assert "the table has no rows" in said("run", "--tasks", "head.csv", "--model", "dummy")[1]


@pytest.mark.parametrize(
    "words, texts",
    [
        (("compare", "a"), ("a alone is compared with nothing", "proctor compare BASELINE RUN")),
        (("compare",), ("missing argument 'BASELINE'", "compare --help")),
        (("sweep", "a", "--prompts", "b"), ("no option '--prompts'", "--templates FILE")),
        (("evaluate", "a", "--output", "b"), ("no option '--output'", "run EXAM --model replay")),
        (("export", "."), ("missing option '--to'", "proctor export [OPTIONS] RUN")),
        (("evaluate",), ("there is no exam to score for", "proctor evaluate EXAM --predictions FILE")),
        (("import",), ("missing argument 'RECORD'", "import --help")),
    ],
)
def test_what_is_missing_is_named(said, words, texts):
    code, text = said(*words)
    assert code == 2
    assert text.startswith("error: ")
    for each in texts:
        assert each in text


@pytest.mark.parametrize(
    "words, text",
    [
        (("run", "--num-fewshot", "x"), "'x' is not a whole number\n"),
        (("show", "--docs", "x"), "'x' is not a whole number\n"),
        (("run", "--budget-usd", "x"), "'x' is not a number\n"),
        (("view", "--host", "nosuch.invalid", "--no-open", "--port", "0"), "choose another --host"),
        (("run", "--limt", "3"), "did you mean '--limit'?"),
    ],
)
def test_a_mistake_is_said_in_words_of_everyday(said, words, text):
    code, said_text = said(*words)
    assert code == 2
    assert text in said_text


def test_data_that_changed_gets_a_folder_of_its_own(folder, said):
    answers = ("--model", "scripted", "--model-args", "answer=Paris")
    rows = folder / "capitals.csv"
    found = []
    for city in ("Paris", "Lyon", "Paris", "Nice", "Lyon"):
        rows.write_text(f"question;answer\nof France?;{city}\n")
        code, shown = said("run", "capitals.csv", *answers)
        assert not code
        found.append(shown.partition("run folder: ")[2].split()[0])
    first = found[0]
    assert found == [first, f"{first}-2", first, f"{first}-3", f"{first}-2"]
    for at, score in ((first, 1.0), (f"{first}-2", 0.0), (f"{first}-3", 0.0)):
        results = json.loads((folder / at / "results.json").read_text())["results"]
        assert results["capitals"]["score"] == score
    rows.write_text("question;answer\nof France?;Toulouse\n")
    code, shown = said("run", "capitals.csv", *answers, "-o", first)
    assert code == 2
    assert "holds another run" in shown
    code, shown = said("run", first)
    assert code == 2
    assert "the data of capitals" in shown


def test_predictions_are_scored_for_an_exam_by_either_name_of_the_option(folder, said):
    (folder / "capitals.csv").write_text("question;answer\nof France?;Paris\n")
    (folder / "given.jsonl").write_text('"Paris"\n')
    for option in ("--dataset", "--tasks", "-t"):
        assert "1.0000" in said("evaluate", option, "capitals.csv", "--predictions", "given.jsonl")[1]


@pytest.mark.parametrize(
    "beginning, files, exams",
    [
        ("capi", True, set()),
        ("runs/", True, set()),
        ("runs/on", True, set()),
        ("samples.sci", False, {"samples.science"}),
        ("nowhere/", False, set()),
        ("samples.science,capi", False, set()),
    ],
)
def test_exams_and_files_complete_alike(folder, beginning, files, exams):
    (folder / "capitals.csv").write_text("question,answer\na,b\n")
    (folder / "runs" / "one").mkdir(parents=True)
    context = click.Context(click.Command("run"))
    found = complete_tasks(context, click.Argument(["named"]), beginning)
    assert any(each.type == "file" for each in found) == files
    assert exams <= {each.value for each in found}


@pytest.mark.parametrize("command", [("plan",), ("gate", "--at-least", "0.1")])
def test_plans_and_gates_need_no_option_for_exams_either(said, command):
    code, text = said(*command, "samples.arithmetic", "--limit", "3", "--model", "scripted", "--model-args", "answer=1")
    assert "samples.arithmetic" in text
    assert code in (0, 1, 4)


@pytest.mark.parametrize(
    "name, text",
    [("samples.science@nope", "has no template 'nope'"), ("samples::nope", "'samples' has no member 'nope'")],
)
def test_a_part_that_an_exam_lacks_is_named(said, name, text):
    assert text in said("show", name)[1]


@pytest.mark.parametrize("to", ["proctor", "card", "lm-eval"])
def test_what_is_to_be_converted_and_is_not_there_is_said_to_be_so(said, to):
    assert "there is no exam 'nope-at-all'" in said("convert", "nope-at-all", "--to", to)[1]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(folder, closed):
    program = f"{sys.executable} -m proctor ls samples.science {closed}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
