"""What people type on their first day, and what is said: the right words for what they meant, before anybody is asked."""

import pytest
from tests_commands import proctor

QUESTIONS = "question,answer\n1+1?,2\n2+2?,4\n3+3?,6\n"
MODELS = "first: {engine: dummy}\nsecond: {engine: scripted, answer: '2'}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qa.csv").write_text(QUESTIONS)
    (tmp_path / "models.yaml").write_text(MODELS)
    return tmp_path


@pytest.mark.parametrize(
    "typed, what, hint",
    [
        (("--metric", "is-json:{"), "the JSON schema '{' is not JSON", ""),
        (("--metric", "latency(2s)"), "'latency(2s)' cannot be read", "write latency(2000), in milliseconds"),
        (("--metric", "not-cost(1ct)"), "'not-cost(1ct)' cannot be read", "write cost(0.01), in US dollars"),
        (("--metric", "similar(80%)"), "'similar(80%)' cannot be read", "write similar(0.8), a share of 1"),
        (("--metric", "contains(Paris)"), "'contains(Paris)' cannot be read", "write contains:Paris"),
        (("--metric", "f1(macro)"), "there is no metric 'f1(macro)'", "'f1_macro'"),
        (("--metric", "not-exat"), "there is no metric 'not-exat'", "did you mean 'not-exact'"),
        (("--metric", "exact", "f1_makro"), "there is no exam 'f1_makro'", "'f1_macro' or 'f1_micro'? It is a metric"),
        (("--metric", "judge:on {questoin}", "--judge", "dummy"), "names 'questoin'", "did you mean 'question'?"),
        (("--judge", "dummy"), "--judge has no effect: no exam here asks a judge", "--criteria correctness"),
        (("--prompt", "prompt.txt"), "asks the same of every row", "a file of prompts is --prompts prompt.txt"),
        (("--temperature", "0.5"), "no option '--temperature'", "--decoding temperature=VALUE"),
        (("--max-tokens", "5"), "no option '--max-tokens'", "--decoding max_tokens=VALUE"),
        (("--max_retries", "5"), "no option '--max-retries'", "--model-args max_retries=VALUE"),
        (("--at-least", "0.5"), "no option '--at-least'", "--fail-under TASK=0.7"),
        (("--output", "qa.csv"), "'qa.csv' is a file, and a folder is wanted", ""),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_options_and_metrics(folder, typed, what, hint):
    done = proctor("run", "qa.csv", "-m", "dummy", *typed)
    assert done.returncode == 2, done.stdout + done.stderr
    assert what in done.stderr
    assert hint in done.stderr


def test_a_judge_whom_one_of_several_exams_asks_is_not_refused(folder):
    (folder / "judged.jsonl").write_text('{"question": "q", "answer": "a", "__expected": "llm-rubric: Is it kind?"}\n')
    done = proctor("run", "qa.csv", "judged.jsonl", "-m", "dummy", "--judge", "dummy", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "--judge has no effect here on qa: no judge is asked" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "typed, what, hint",
    [
        (("-m", "openai:gpt-4.1"), "there is no engine 'openai:gpt-4.1'", "--model openai/gpt-4.1"),
        (("-m", "openai:chat:gpt-4.1"), "have a slash between them", "--model openai/gpt-4.1"),
        (("-m", "ollama:llama3:8b"), "have a slash between them", "--model ollama/llama3:8b"),
        (("--models", "models.yaml::third"), "models.yaml has no model 'third'", "there are first, second"),
    ],
    ids=lambda each: each[1] if isinstance(each, tuple) else "",
)
def test_models(folder, typed, what, hint):
    done = proctor("run", "qa.csv", *typed)
    assert done.returncode == 2
    assert what in done.stderr
    assert hint in done.stderr


@pytest.mark.parametrize(
    "name, what, hint",
    [
        ("qa.csv::Sheet2", "qa.csv is one exam, and has no part 'Sheet2'", "the first sheet"),
        ("qa.csv[input_colum=question]", "has no 'input_colum'", "did you mean 'input_column'?"),
        ("qa.tsv[sheet=Two]", "a table has no 'sheet'", "input_column, answer_column"),
        ("f1_macro", "there is no exam 'f1_macro'", "'f1_macro' is a metric: --metric f1_macro"),
    ],
)
def test_exams(folder, name, what, hint):
    (folder / "qa.tsv").write_text(QUESTIONS.replace(",", "\t"))
    done = proctor("run", name, "-m", "dummy")
    assert done.returncode == 2
    assert what in done.stderr
    assert hint in done.stderr


def test_runs_to_compare(folder):
    assert proctor("run", "qa.csv", "--models", "models.yaml", "-o", "both").returncode == 0
    both = proctor("compare", "both")
    assert "both alone is compared with nothing" in both.stderr
    assert "it holds 2 runs: both/first both/second" in both.stderr
    assert "name two runs" in proctor("compare", "both/first").stderr
    two = ("--prompt", "{question}?", "--prompt", "{question}!")
    assert proctor("run", "qa.csv", "-m", "dummy", *two, "-o", "two").returncode == 0
    hint = proctor("compare", "two").stderr.rpartition("two exams of one: ")[2].split()
    assert len(hint) == 2
    assert proctor("compare", *hint).returncode == 0
    assert "name its run folder, both/first" in proctor("compare", "both/first/results.json", "both/second").stderr


@pytest.mark.parametrize("share, verdict", [("30%", 0), ("0.3", 0), ("90%", 1), ("9x", 2)])
def test_shares_of_gates_may_be_percent(folder, share, verdict):
    done = proctor("gate", "qa.csv", "-m", "scripted", "-a", "answer=2", "--at-least", share)
    assert done.returncode == verdict, done.stdout + done.stderr
    assert verdict != 2 or "'9x' is not a share (0.9, 90%)" in done.stderr


def test_metrics_of_catalogs_follow_one_another(folder):
    done = proctor("run", "qa.csv", "-m", "dummy", "--metric", "exact", "f1_macro", "accuracy", "-o", "run")
    assert done.returncode == 0, done.stderr
    assert all(name in done.stdout for name in ("exact_match", "f1_macro", "accuracy"))


def test_models_in_brackets_have_folders_without(folder):
    models = ("scripted[answer=2]", "dummy")
    assert proctor("run", "qa.csv", "--models", *models, "-o", "plain").returncode == 0
    assert {each.name for each in (folder / "plain").iterdir()} == {"scripted", "dummy"}
    twice = ("scripted[answer=2]", "scripted[answer=4]")
    assert proctor("run", "qa.csv", "--models", *twice, "-o", "twice").returncode == 0
    assert {each.name for each in (folder / "twice").iterdir()} == set(twice)


def test_a_folder_is_its_config_of_promptfoo(folder, monkeypatch):
    (folder / "short").mkdir()
    (folder / "short" / "promptfooconfig.yaml").write_text(
        "prompts: ['Say {{x}}']\nproviders: [dummy]\ntests:\n  - {vars: {x: a}, assert: [{type: contains, value: a}]}\n"
    )
    assert proctor("run", "short", "-m", "scripted", "-a", "answer=a").returncode == 0
    monkeypatch.chdir(folder / "short")
    assert proctor("run", ".", "-m", "scripted", "-a", "answer=a").returncode == 0


def test_a_task_of_inspect_is_told_what_is_read_instead(folder):
    source = "from inspect_ai import Task, task\n@task\ndef capitals():\n    return Task(dataset=[])\n"
    (folder / "capitals.py").write_text(source)
    said = proctor("run", "capitals.py", "-m", "dummy").stderr
    assert (
        "tasks of inspect_ai are not read: write their samples as JSON lines; proctor import reads their logs" in said
    )
    assert "--trust-code" not in said
    (folder / "capitals.py").write_text(source.replace("inspect_ai", "other"))
    assert "--trust-code" in proctor("run", "capitals.py", "-m", "dummy").stderr
