"""What people type first, and type wrongly: each message says what to do next."""

import json

import pytest

from proctor.cli.__main__ import main


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


@pytest.mark.parametrize(
    "name, text",
    [
        ("capitals.csv", "question;answer\nof France?;Paris\n"),
        ("rows.jsonl", '{"question": "a", "answer": "b"}\n'),
        ("task.yaml", "task: t\nprocess_docs: !function helpers.f\n"),
        ("words.txt", "hello"),
    ],
)
def test_an_exam_without_its_option_is_named_with_it(folder, said, name, text):
    (folder / name).write_text(text)
    code, shown = said("run", name)
    assert code
    assert f"--tasks {name}" in shown


def test_the_file_of_a_run_stays_one(folder, said):
    (folder / "again.yaml").write_text("model: no-such-engine\ntasks: [samples.science]\n")
    assert "is not the file of a run" not in said("run", "again.yaml")[1]
    (folder / "empty-model.yaml").write_text("nonsense: 1\nmodel: dummy\ntasks: []\n")
    assert "no field 'nonsense'" in said("run", "empty-model.yaml")[1]


def test_a_folder_with_runs_says_which(folder, said):
    run = folder / "runs" / "one"
    run.mkdir(parents=True)
    (run / "results.json").write_text("{}")
    for command in (("report", "runs"), ("compare", "runs", "runs")):
        assert "it holds 1 run: name one, runs/one" in said(*command)[1]


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
        (("compare", "a"), ("missing argument 'RUN...'", "proctor compare [OPTIONS] BASELINE RUN...")),
        (("compare",), ("missing argument 'BASELINE'", "compare --help")),
        (("export", "."), ("missing option '--to'", "proctor export [OPTIONS] RUN")),
        (("evaluate",), ("missing option '--dataset'", "evaluate --help")),
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
