"""``proctor plan``: what a run would take. Nobody is asked, and nothing is written."""

from __future__ import annotations

import json

import pytest

from proctor.running.planning import Estimate
from proctor.statistics.paired_shares import needed_pairs


def plan(invoke, *more: str):
    given = ("plan", "--model", "scripted", "--model-args", "answer=12", "--tasks", "samples.arithmetic", *more)
    return invoke(*given)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_plan_counts_requests_and_tokens_and_knows_what_the_log_has(invoke, tmp_path):
    code, out, _ = plan(invoke, "--json", "--log", "log.db")
    assert code == 0
    (before,) = json.loads(out)["exams"]
    assert (before["instances"], before["requests"], before["from_log"]) == (82, 82, 0)
    assert before["tokens_in"]["low"] < before["tokens_in"]["value"] < before["tokens_in"]["high"]
    assert before["tokens_out"]["from"] == "limit"
    assert not (tmp_path / "log.db").exists()
    given = ("--model", "scripted", "--model-args", "answer=12", "--tasks", "samples.arithmetic", "--log", "log.db")
    assert invoke("run", *given, "--limit", "40", "--output", "r")[0] == 0
    run = json.loads((tmp_path / "r" / "results.json").read_text())["run"]
    code, out, _ = plan(invoke, "--json", "--log", "log.db")
    (after,) = json.loads(out)["exams"]
    assert (after["requests"], after["from_log"]) == (82, 40)
    assert after["tokens_out"]["from"] == "model"
    assert after["tokens_out"]["value"] == 42
    spent = run["usage"]["samples.arithmetic"]["prompt_tokens"]
    assert after["tokens_in"]["value"] == pytest.approx(spent / 40 * 42, rel=0.4)


def test_repeats_and_limits_count(invoke):
    code, out, _ = plan(invoke, "--json", "--repeats", "3", "--limit", "5", "--decoding", "temperature=0.5")
    assert code == 0
    assert json.loads(out)["exams"][0]["requests"] == 15


def test_another_models_answers_say_how_long_answers_are(invoke):
    given = ("--model", "scripted", "--model-args", "answer=twelve or so", "--tasks", "samples.arithmetic")
    assert invoke("run", *given, "--log", "log.db", "--output", "r")[0] == 0
    _, out, _ = plan(invoke, "--json", "--log", "log.db")
    assert json.loads(out)["exams"][0]["tokens_out"]["from"] == "exam"


def test_what_the_exam_shows_and_what_a_difference_needs(invoke):
    _, out, err = plan(invoke, "--difference", "0.02")
    assert "points" in out
    assert f"a difference of 2 points needs {needed_pairs(0.02, 0.1):,}" in err


@pytest.mark.parametrize("name", ["--difference", "--discordant"])
def test_shares_are_shares(invoke, name):
    code, _, err = plan(invoke, name, "2")
    assert code == 2
    assert f"{name} is a share" in err


def test_a_price_is_an_interval_too(invoke):
    (entry,) = json.loads(
        invoke("plan", "--model", "openai", "--model-args", "model=gpt-4o", "--tasks", "samples.arithmetic", "--json")[
            1
        ]
    )["exams"]
    expected = (entry["tokens_in"]["value"] * 2.5 + entry["tokens_out"]["value"] * 10) / 1e6
    assert entry["usd"]["value"] == pytest.approx(expected)
    assert entry["usd"]["low"] < entry["usd"]["value"] < entry["usd"]["high"]


def test_estimates_add_up():
    total = Estimate(10, 7, 13) + Estimate(20, 16, 24)
    assert (total.value, total.low, total.high) == pytest.approx((30, 25, 35))
    assert (Estimate(1) + Estimate(2, 1, 3)).low is None


def test_where_nothing_is_left_a_plan_says_so(invoke, tmp_path):
    given = ("--model", "scripted", "--model-args", "answer=12", "--tasks", "samples.arithmetic", "--log", "log.db")
    assert invoke("run", *given, "--output", "r")[0] == 0
    code, out, err = invoke("plan", *given)
    assert code == 0
    assert "?" not in out
    assert "samples.arithmetic: tokens out are none: the log has every answer" in err
    (each,) = json.loads(invoke("plan", *given, "--json")[1])["exams"]
    assert (each["from_log"], each["seconds"], each["usd"]["value"], each["tokens_out"]["from"]) == (82, 0, 0, "done")


def test_what_judges_are_asked_is_said_to_come_on_top_and_stands_on_the_bill(invoke, tmp_path):
    (tmp_path / "q.csv").write_text("question,answer\nCapital of France?,Paris\nCapital of Peru?,Lima\n")
    (tmp_path / "prices.json").write_text(
        json.dumps({"date": "2026-11-30", "models": {"dummy": {"input": 100, "output": 100}}})
    )
    (tmp_path / "judge.py").write_text("def decide(prompt):\n    return '{\"pass\": true}'\n")
    given = ("q.csv", "-m", "dummy", "--metric", "judge", "exact_match", "--prices", "prices.json", "--log", "log.db")
    given += ("--trust-code", "--judge")
    _, _, err = invoke("plan", *given, "dummy")
    assert "q: judges are asked on top, if the log has no verdicts of theirs: dummy (" in err
    assert "), about 2 requests that read at least " in err
    (entry,) = json.loads(invoke("plan", *given, "dummy", "--json")[1])["exams"]
    (planned,) = entry["judges"].values()
    assert planned["usd"] == pytest.approx(planned["tokens_in"] * 100 / 1e6)
    _, _, err = invoke("run", *given, "dummy", "--allow-failures", "-o", "r")
    run = json.loads((tmp_path / "r" / "results.json").read_text())
    judge = run["run"]["judges"]["dummy"]
    assert planned["requests"] == judge["asked"] == 2
    assert planned["tokens_in"] == pytest.approx(judge["prompt_tokens"], rel=0.5)
    spent = (judge["prompt_tokens"] + judge["completion_tokens"]) * 100 / 1e6
    assert judge["usd_of_this_run"] == pytest.approx(spent, abs=1e-6)
    assert spent > 0
    assert f"dummy ${judge['usd_of_this_run']:.6f}"[:12] in err
    entry = run["results"]["q"]
    assert [each["judge"] for each in entry["judged"]] == ["judge"], "an exact match asks no judge"
    _, _, err = invoke("run", *given, "judge.py:decide", "-o", "s")
    assert "cost of this run at list prices" not in err, "the log had its answers, and nobody knows the judge's price"
    entry = json.loads((tmp_path / "s" / "results.json").read_text())["results"]["q"]
    assert entry["exact_match_stderr"] == 0.0, "a mean of single answers has a standard error"
    _, _, err = invoke("run", *given, "judge.py:decide", "-o", "s", "--limit", "1")
    assert "it differs in limit" in err
    _, _, err = invoke("run", *given, "dummy", "-o", "s")
    assert "it differs in judge" in err
