"""The real thing from end to end: the exams that come along, the scripted engine, the run folder."""

import json
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


ARGUMENTS = {"answer": "positive", "log_likelihoods": {"A": -1.0, "B": -2.0, "C": -3.0, "D": -4.0}}


def test_a_model_sits_the_samples(invoke):
    given = ("--model", "scripted", "--model-args", json.dumps(ARGUMENTS), "--tasks", "samples", "--limit", "6")
    code, out, err = invoke("run", *given, "-o", "here")
    assert code == 0, err
    assert [line.split()[0] for line in out.splitlines() if line.startswith(" ") and "samples." in line] == [
        "samples.science",
        "samples.sentiment",
        "samples.arithmetic",
    ]
    results = json.loads(Path("here/results.json").read_text())["results"]
    exams = [entry for entry in results.values() if "members" not in entry]
    assert [(entry["n"], entry["failures"]) for entry in exams] == [(6, 0)] * 3
    assert results["samples"]["n"] == 18
    before = {name: Path("here", name).read_bytes() for name in ("run.yaml", "samples.jsonl")}
    assert invoke("run", "here/run.yaml", "-o", "again")[0] == 0
    assert before == {name: Path("again", name).read_bytes() for name in before}


def test_the_prompts_that_are_shown_are_those_that_are_sent(invoke):
    given = ("--model", "scripted", "--model-args", json.dumps(ARGUMENTS), "--tasks", "samples", "--limit", "2")
    invoke("run", *given, "-o", "here")
    _, out, _ = invoke("show", "samples", "--limit", "2", "--docs", "2", "--json")
    shown = [(row["task"], row["doc_id"], row["prompt"]) for row in map(json.loads, out.splitlines())]
    lines = Path("here/samples.jsonl").read_text().splitlines()
    assert shown == [(row["exam"], row["doc_id"], row["prompt"]) for row in map(json.loads, lines)]


def test_exams_of_other_dialects_are_written_as_lm_eval_does(invoke, tmp_path):
    given = (
        "--model",
        "scripted",
        "--model-args",
        "answer=x",
        "--tasks",
        "samples.sentiment",
        "--output-format",
        "lm-eval",
        "--output",
        str(tmp_path / "run"),
    )
    code, _, err = invoke("run", *given)
    assert code == 0, err
    (results,) = (tmp_path / "run").rglob("results_*.json")
    assert "f1_macro,none" in json.loads(results.read_text())["results"]["samples.sentiment"]


def test_a_budget_that_is_used_up_is_a_failure_that_is_counted(invoke):
    given = ("--model", "scripted", "--model-args", "answer=positive", "--tasks", "samples.sentiment", "--limit", "20")
    code, _, err = invoke("run", *given, "--budget-tokens", "300", "-o", "here", "--allow-failures")
    assert code == 1  # whatever may fail: not everything was asked
    said = [line for line in err.splitlines() if line.startswith(("stopped", "run folder", "warning"))]
    assert said[0].startswith("stopped: the budget of 300 tokens has no room for another request (")
    assert json.loads(Path("here/results.json").read_text())["run"]["stopped"] in said[0]
