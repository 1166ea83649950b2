"""``proctor gate`` as users call it: verdicts, exit codes, baselines, bad input, a kill in the middle."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import tests_warm

from proctor.testing.server import FaultServer

COUNT = 200
TASK = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: '{text}'
doc_to_target: '{{{{a}}}}'
generation_kwargs: {{until: [x], max_gen_toks: 4}}
metric_list: [{{metric: {metric}}}]
"""


def write_task(
    folder: Path, name: str = "sums", text: str = "{{q}}", metric: str = "exact_match", count: int = COUNT, bad: int = 0
) -> str:
    """Write a task; the last ``bad`` rows of it cannot be asked about."""
    text = '{{q if "bad" not in q else nobody_knows}}' if bad else text
    rows = [
        {"q": f"{name} {n}", "a": "yes"} if n < count - bad else {"q": f"bad {n}", "a": "yes"} for n in range(count)
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / f"{name}.yaml").write_text(TASK.format(name=name, rows=file.name, text=text, metric=metric))
    return f"{name}.yaml"


def right_below(share: float, shift: int = 0) -> Callable[..., str]:
    """Return a model that answers the questions of a share of the numbers rightly."""

    def answer(body, *_) -> str:
        number = int(str(body["messages"][-1]["content"]).split()[-1])
        return "yes" if (number * 7919 + shift) % COUNT < share * COUNT else "no"

    return answer


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_task(tmp_path)
    return tmp_path


def asking(server: FaultServer, *more: str, tasks: str = "sums.yaml", model: str = "m") -> list[str]:
    return [
        *("--model", "openai", "--model-args", f"model={model},base_url={server.url}", "--apply-chat-template"),
        *("--tasks", tasks, "--log", f"{model}.db", *more),
    ]


@pytest.fixture
def baseline(folder, invoke):
    """Scores of a model that is right on 70% of the questions."""
    with FaultServer(answer=right_below(0.7)) as server:
        code, _, err = invoke("gate", *asking(server), "--save-baseline", "base.json")
    assert code == 0, err
    return folder / "base.json"


def gate(invoke, answer, *more: str, model: str = "m", tasks: str = "sums.yaml"):
    with FaultServer(answer=answer) as server:
        code, out, err = invoke("gate", *asking(server, model=model, tasks=tasks), *more)
        return code, out, err, server.statistics()["requests"]


def test_a_baseline_is_small_and_says_what_it_is_of(baseline):
    data = json.loads(baseline.read_text())
    assert data["format"] == "proctor-baseline"
    entry = data["exams"]["sums"]
    assert len(entry["scores"]) == COUNT
    assert sum(entry["scores"].values()) == 0.7 * COUNT
    assert entry["fingerprint"]["rows"]
    assert baseline.stat().st_size < 40 * COUNT + 1000


def test_an_equal_model_passes_with_some_of_the_questions(baseline, invoke):
    code, out, err, asked = gate(invoke, right_below(0.7), "--baseline", "base.json", "--json", model="same")
    assert code == 0, err
    found = json.loads(out)
    assert found["verdict"] == "passed"
    assert asked == found["requests"]["asked"] == found["exams"][0]["asked"] < 0.6 * COUNT
    assert found["exams"][0]["difference"] == 0.0
    assert found["exams"][0]["low"] >= -0.03


def test_a_broken_model_fails_after_few(baseline, invoke):
    code, out, _, asked = gate(invoke, right_below(0.2), "--baseline", "base.json", "--junit", "j.xml", model="broken")
    assert code == 1
    assert asked <= 0.15 * COUNT
    assert out.startswith("FAILED: sums: broken is worse than the baseline by more than 3 points.")
    assert f"{asked} of {COUNT} questions were asked" in out
    assert "tokens in" in out
    suite = ET.parse("j.xml").getroot()
    assert (suite.get("failures"), suite.get("errors"), suite.get("tests")) == ("1", "0", "1")
    assert suite.find("testcase/failure").get("type") == "failed"


@pytest.mark.parametrize("lost, code, verdict", [(0.03, 0, "passed"), (0.04, 1, "failed")])
def test_whoever_was_asked_everything_is_judged_exactly(baseline, invoke, lost, code, verdict):
    found, out, _, asked = gate(invoke, right_below(0.7 - lost), "--baseline", "base.json", "--json", model="near")
    assert (found, json.loads(out)["verdict"]) == (code, verdict)
    assert asked > 0.6 * COUNT


def test_what_failed_counts_against_either_verdict_and_leaves_it_open(folder, invoke):
    write_task(folder, bad=20)
    code, out, _, asked = gate(invoke, right_below(0.7), "--at-least", "0.69", "--json")
    (found,) = json.loads(out)["exams"]
    assert (code, found["verdict"]) == (4, "undecided")
    assert (found["asked"], found["failed"], asked) == (COUNT, 20, COUNT - 20)
    assert "20 of 200 questions have no score" in found["why"]


def test_a_run_folder_and_a_log_are_baselines_too(baseline, invoke):
    with FaultServer(answer=right_below(0.7)) as server:
        code, _, err = invoke("run", *asking(server, model="b"), "--output", "run")
        assert code == 0, err
    for given in (["--baseline", "run"], ["--baseline", "b.db"], ["--baseline", "b.db", "--baseline-model", "b"]):
        code, _, err, asked = gate(invoke, right_below(0.2), *given, "--json", model=f"other{len(given)}{given[1]}")
        assert code == 1, err
        assert asked < 0.15 * COUNT
    code, _, err = invoke("gate", "--baseline", "run", "--save-baseline", "again.json")
    assert code == 0, err
    again, first = (json.loads(Path(name).read_text()) for name in ("again.json", "base.json"))
    assert again["exams"]["sums"]["scores"] == first["exams"]["sums"]["scores"]
    for given in ("run", "again.json"):
        code, _, err = invoke("gate", "--tasks", "sums.yaml", "--baseline", given, "--save-baseline", "third.json")
        assert (code, Path("third.json").exists()) == (2, False)
        assert "--tasks would be dropped" in err


@pytest.mark.parametrize("before, now", [("1", "3"), ("3", "1")])
def test_how_often_a_question_is_asked_may_change(folder, invoke, before, now):
    write_task(folder)
    with FaultServer(answer=right_below(0.8)) as server:
        assert invoke("gate", *asking(server), "--repeats", before, "--save-baseline", "b.json")[0] == 0
    code, out, error, _ = gate(invoke, right_below(0.8), "--baseline", "b.json", "--repeats", now)
    assert code == 0, out + error


def test_models_of_one_name_in_a_log_are_told_apart(folder, invoke):
    for answer in ("yes", "no"):
        model = ["--model", "scripted", "--model-args", f"answer={answer}", "--log", "two.db"]
        assert invoke("run", *model, "--tasks", "sums.yaml", "--output", f"run {answer}")[0] == 0
    given = ["gate", *model, "--tasks", "sums.yaml", "--baseline", "two.db"]
    code, _, err = invoke(*given, "--baseline-model", "scripted")
    assert code == 2
    yes, no = re.findall(r"([0-9a-f]{12}) \(scripted\)", err)
    assert [invoke(*given, "--baseline-model", each)[0] for each in (yes, no)] == [1, 0]


def test_the_same_gate_asks_nothing_again_and_another_seed_asks_other_questions(baseline, invoke):
    with FaultServer(answer=right_below(0.2)) as server:
        given = asking(server, "--baseline", "base.json", "--json", model="twice")
        code, first, _ = invoke("gate", *given)
        again = invoke("gate", *given, "--max-concurrency", "1")
        found, same = json.loads(first), json.loads(again[1])
        assert code == again[0] == 1
        assert (same["requests"]["asked"], same["requests"]["from_log"]) == (0, found["requests"]["asked"])
        assert same["exams"] == found["exams"]
        other = json.loads(invoke("gate", *given, "--seed", "5")[1])
        assert other["verdict"] == "failed"
        assert other["requests"]["asked"] > 0


@pytest.mark.parametrize("least, code", [("0.5", 0), ("0.9", 1)])
def test_without_a_baseline_a_score_is_enough_or_not(folder, invoke, least, code):
    found, out, _, asked = gate(invoke, right_below(0.7), "--at-least", least)
    assert found == code
    assert asked < 0.5 * COUNT
    assert f"at least {least}" in out or f"less than {least}" in out


def test_several_exams_share_the_error_and_are_all_reported(folder, invoke):
    write_task(folder, "more")
    with FaultServer(answer=right_below(0.7)) as server:
        assert invoke("gate", *asking(server, tasks="sums.yaml,more.yaml"), "--save-baseline", "two.json")[0] == 0

    def answer(body, *_):
        text = str(body["messages"][-1]["content"])
        return "no" if "more" in text else right_below(0.7)(body)

    code, out, _, _ = gate(
        invoke, answer, "--baseline", "two.json", "--json", "--junit", "j.xml", model="two", tasks="sums.yaml,more.yaml"
    )
    found = json.loads(out)
    assert code == 1
    assert {each["exam"]: each["verdict"] for each in found["exams"]} == {"sums": "passed", "more": "failed"}
    assert ET.parse("j.xml").getroot().get("tests") == "2"


def test_a_budget_that_ends_a_gate_leaves_it_undecided_and_it_goes_on(baseline, invoke):
    with FaultServer(answer=right_below(0.7)) as server:
        given = asking(server, "--baseline", "base.json", "--json", model="poor")
        code, out, err = invoke("gate", *given, "--budget-tokens", "150")
        assert code == 4
        assert "stopped: the budget of 150 tokens has no room" in err
        first = json.loads(out)
        assert first["verdict"] == "undecided"
        code, out, _ = invoke("gate", *given)
        assert code == 0
        second = json.loads(out)
    assert second["requests"]["from_log"] == first["requests"]["asked"]
    assert first["requests"]["asked"] + second["requests"]["asked"] == second["exams"][0]["asked"]


def changed(path: Path, change: Callable[[dict], None]) -> str:
    data = json.loads(path.read_text())
    change(data)
    (path.parent / "changed.json").write_text(json.dumps(data))
    return "changed.json"


def test_a_baseline_of_another_exam_is_refused_with_the_layer(baseline, invoke, folder):
    write_task(folder, text="Say: {{q}}")
    code, _, err, asked = gate(invoke, right_below(0.7), "--baseline", "base.json", model="x")
    assert (code, asked) == (2, 0)
    assert "the baseline is of another 'sums': the prompts differ" in err
    code, _, err, asked = gate(invoke, right_below(0.2), "--baseline", "base.json", "--changed", "prompts", model="x")
    assert code == 1, err
    write_task(folder, count=COUNT - 1)
    code, _, err, asked = gate(invoke, right_below(0.7), "--baseline", "base.json", model="x")
    assert (code, asked) == (2, 0)
    assert "the instances differ" in err
    write_task(folder)
    code, _, err, _ = gate(invoke, right_below(0.7), "--baseline", "base.json", "--decoding", "max_tokens=9", model="x")
    assert code == 2
    assert "the decoding parameters differ" in err


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda data: data["exams"].clear(), "does not have 'sums'"),
        (lambda data: data.update(format="other"), "this is not a baseline"),
        (lambda data: data.update(version=99), "this is not a baseline"),
        (lambda data: data.update(exams=[]), "this is not a baseline"),
        (lambda data: data["exams"]["sums"].update(scores={"a": 2}), "not numbers from 0 to 1"),
        (lambda data: data["exams"]["sums"].update(scores={"a": float("nan")}), "not a baseline"),
        (lambda data: data["exams"]["sums"].update(scores={"a": True}), "not numbers from 0 to 1"),
        (lambda data: data["exams"]["sums"].update(scores={"a": 1}, fingerprint=None), "0 questions in common"),
    ],
)
def test_baselines_that_are_none_are_refused_before_anybody_is_asked(baseline, invoke, change, said):
    code, _, err, asked = gate(invoke, right_below(0.7), "--baseline", changed(baseline, change), model="x")
    assert (code, asked) == (2, 0)
    assert said in err


def test_a_baseline_with_failures_is_refused(folder, invoke):
    write_task(folder, bad=3)
    with FaultServer(answer=right_below(0.7)) as server:
        assert invoke("run", *asking(server), "--output", "run")[0] == 1
        code, _, err = invoke("gate", *asking(server), "--save-baseline", "base.json")
        assert code == 2
        assert "a baseline has a score for every instance" in err
        assert not Path("base.json").exists()
    code, _, err, asked = gate(invoke, right_below(0.7), "--baseline", "run", model="x")
    assert (code, asked) == (2, 0)
    assert "3 instances of the baseline of 'sums' have no score" in err


@pytest.mark.parametrize(
    "given, said",
    [
        (["--margin", "3"], "3 points are 0.03"),
        (["--margin", "-0.1"], "--margin is a share between 0 and 1"),
        (["--margin", "nan"], "--margin is a share between 0 and 1"),
        (["--level", "95"], "--level is between 0.5 and 1"),
        (["--at-least", "0.7"], "--at-least stands instead of a baseline"),
    ],
)
def test_numbers_that_are_not_shares_are_refused(baseline, invoke, given, said):
    code, _, err, asked = gate(invoke, right_below(0.7), "--baseline", "base.json", *given, model="x")
    assert (code, asked) == (2, 0)
    assert said in err


def test_a_gate_needs_something_to_decide(folder, invoke):
    code, _, err, asked = gate(invoke, right_below(0.7))
    assert (code, asked) == (2, 0)
    assert "a gate needs a baseline" in err
    code, _, err, _ = gate(invoke, right_below(0.7), "--at-least", "70")
    assert code == 2
    assert "70 points are 0.7" in err


@pytest.mark.parametrize(
    "given, said",
    [
        (["--at-least", "0.5", "--changed", "prompts"], "--changed would have no effect"),
        (["--at-least", "0.5", "--baseline-model", "x"], "--baseline-model would have no effect"),
        (["--at-least", "0.5", "--group-by", "q"], "--group-by would have no effect"),
        (["--save-baseline", "x.json", "--margin", "0"], "--margin would have no effect"),
        (["--save-baseline", "x.json", "--at-least", "0.95"], "--at-least would have no effect"),
        (["--save-baseline", "x.json", "--json", "--level", "0.9"], "--json, --level would have no effect"),
        (["--at-least", "0.5", "--predict-only"], "--predict-only scores nothing"),
    ],
)
def test_options_without_effect_are_refused(folder, invoke, given, said):
    code, _, err, asked = gate(invoke, right_below(0.7), *given)
    assert (code, asked) == (2, 0)
    assert said in err


def test_scores_of_a_whole_corpus_are_refused_or_gated_by_instance(folder, invoke):
    write_task(folder, "words", metric="bleu", count=40)
    code, _, err, asked = gate(invoke, right_below(0.7), "--at-least", "0.5", tasks="words.yaml")
    assert (code, asked) == (2, 0)
    assert "'words' cannot be decided on some of its questions" in err


def test_a_gate_that_is_killed_goes_on_where_it_was(baseline, folder):
    with FaultServer(answer=right_below(0.7), latency_seconds=0.02) as server:
        call = [
            sys.executable,
            "-m",
            "proctor",
            "gate",
            *asking(server, "--baseline", "base.json", "--json", model="k"),
        ]
        call += ["--max-concurrency", "2"]
        first = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        give_up = time.monotonic() + 60
        while server.statistics()["requests"] < 20 and time.monotonic() < give_up:
            time.sleep(0.02)
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        before = server.statistics()["requests"]
        done = tests_warm.python(*call[1:])
        found = json.loads(done.stdout)
        other = [*call[1:4], *asking(server, "--baseline", "base.json", "--json", model="fresh")]
        whole = json.loads(tests_warm.python(*other).stdout)
    assert before >= 20
    assert done.returncode == 0
    assert found["exams"] == whole["exams"]
    in_flight = 2  # asked when it was killed, and not answered
    assert before + found["requests"]["asked"] <= whole["requests"]["asked"] + in_flight
