"""What is asked although the log has answers: verdicts that could not be read, or everything."""

from __future__ import annotations

import json
import shlex

import pytest
from running_fakes import ToyEngine, ToyExam, choice, question, talk
from tests_commands import proctor as typed

import proctor.engines.engine_registry as registry
from proctor.engines.scripted import ScriptedEngine
from proctor.running.anew import Renewal
from proctor.running.budget import Price, PriceTable
from proctor.running.log import ResponseLog
from proctor.running.maintenance import collect, engines, entries
from proctor.running.run import run_exams

JUDGE = {"asked": 0, "mumbles": True}
"""A judge that counted by itself would be another engine after each count."""

CITIES = {"France": "Paris", "Japan": "Tokyo", "Spain": "Madrid"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table and a judge, who mumbles about Japan until he is told not to."""
    made = registry.make_engine

    def reply(prompt):
        JUDGE["asked"] += 1
        return "Hm." if JUDGE["mumbles"] and "Japan" in prompt.text else '{"pass": true}'

    def make(name, *more):
        return ScriptedEngine(function=reply, model="judge") if name == "openai/judge" else made(name, *more)

    monkeypatch.setattr(registry, "make_engine", make)
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"Capital of {country}?,{city}\n" for country, city in CITIES.items())
    (tmp_path / "q.csv").write_text(f"question,answer\n{rows}")
    JUDGE.update(asked=0, mumbles=True)
    return tmp_path


def run(log, *more):
    return typed("run", "q.csv", "-m", "dummy", "--metric", "judge", "--judge", "openai/judge", "--log", log, *more)


def results(folder):
    found = json.loads((folder / "results.json").read_text())
    (entry,) = found["results"].values()
    return entry, found["run"]


def set_aside(log):
    with ResponseLog(log) as opened:
        return [each.response.text for each in entries(opened, table="superseded")]


def test_a_verdict_that_cannot_be_read_is_asked_for_by_the_command_that_is_printed(folder, log_place):
    done = run(log_place, "-o", "r")
    assert (done.returncode, JUDGE["asked"]) == (1, 3)
    JUDGE["mumbles"] = False
    assert run(log_place, "-o", "r").returncode == 1
    assert JUDGE["asked"] == 3, "without the option, what the judge said stands"
    (line,) = [each for each in done.stderr.splitlines() if "to ask again, judges too: " in each]
    words = shlex.split(line.partition("too: proctor ")[2])
    words[words.index("--log") + 1] = log_place  # whose password is in no message
    again = typed(*words)
    assert (again.returncode, JUDGE["asked"]) == (0, 4), again.stderr
    assert "set aside, to be asked anew for about what it cost: 1 answers of judge (" in again.stderr
    entry, about = results(folder / "r")
    assert (entry["score"], entry["failures"]) == (1.0, 0)
    assert about["judges"]["judge"]["asked"] == 1
    assert set_aside(log_place) == ["Hm."]
    shown = typed("log", "show", "--set-aside", "--log", log_place)
    assert "Hm." in shown.stdout
    more = run(log_place, "-o", "r", "--retry-verdicts")
    assert (more.returncode, JUDGE["asked"]) == (0, 4)
    assert "no verdict that could not be read: nobody is asked again" in more.stderr


def test_a_refreshed_exam_is_asked_anew_and_says_its_price_first(folder, log_place):
    run(log_place, "-o", "r")
    JUDGE["mumbles"] = False
    done = run(log_place, "-o", "r", "--refresh")
    assert (done.returncode, JUDGE["asked"]) == (0, 6), done.stderr
    assert done.stderr.index("3 answers of dummy (12 tokens, price unknown); 3 answers of judge (") < done.stderr.index(
        "3/3"
    )
    entry, about = results(folder / "r")
    assert (entry["score"], about["requests"]["asked"], about["requests"]["from_log"]) == (1.0, 3, 0)
    assert sorted(set_aside(log_place)) == sorted(["Hm.", '{"pass": true}', '{"pass": true}', "lol", "lol", "lol"])
    assert run(log_place, "-o", "r").returncode == 0
    assert JUDGE["asked"] == 6, "what is new is in the log"


def test_a_refreshed_run_that_a_budget_ends_goes_on_without_asking_twice(folder):
    run("l.db", "-o", "r")
    JUDGE["mumbles"] = False
    ended = run("l.db", "-o", "r", "--refresh", "--budget-tokens", 10)
    assert "stopped: " in ended.stderr
    before = JUDGE["asked"]
    done = run("l.db", "-o", "r")
    assert (done.returncode, JUDGE["asked"]) == (0, before + 3 - (before - 3))


def test_what_was_set_aside_is_thrown_away_like_answers(folder):
    run("l.db")
    run("l.db", "--refresh")
    with ResponseLog("l.db") as log:
        assert collect(log, "judge") == 6
        assert [each.label for each in engines(log)] == ["dummy"]
        assert collect(log) == 6
        assert engines(log) == []


def test_every_turn_of_a_conversation_is_asked_anew_and_priced(tmp_path, heard):
    exam = ToyExam("toy", 4, question, choice, talk)
    engine = ToyEngine()
    prices = PriceTable("2026-01-31", {"toy": Price(1e6, 0)})
    for renewal in (None, None, Renewal("everything"), Renewal("verdicts")):
        run_exams([exam], engine, log=tmp_path / "log.db", anew=renewal, prices=prices)
    with ResponseLog(tmp_path / "log.db") as log:
        spent = sum(each.response.usage.prompt_tokens for each in entries(log))
    assert any(f", {spent:.4f} USD)" in each for each in heard.messages), heard.messages
    assert set(engine.asked.values()) == {2}
    assert len(set_aside(tmp_path / "log.db")) == 4 * (1 + 1 + 3)


def test_a_log_of_an_earlier_version_has_nothing_set_aside(folder):
    run("l.db")
    with ResponseLog("l.db") as log, log._guard() as connection:
        connection.execute("DROP TABLE superseded")
    done = typed("log", "show", "--set-aside", "--log", "l.db")
    assert (done.returncode, done.stdout) == (0, "")


def test_evaluations_ask_judges_again(folder):
    (folder / "p.jsonl").write_text('"Paris"\n"Tokyo"\n"Madrid"\n')
    asked = [
        "evaluate",
        "-t",
        "q.csv",
        "--predictions",
        "p.jsonl",
        "--metric",
        "judge",
        "--judge",
        "openai/judge",
        "--log",
        "l.db",
    ]
    done = typed(*asked)
    assert (done.returncode, JUDGE["asked"]) == (1, 3)
    assert "to ask again, judges too: the same command with --retry-verdicts" in done.stderr
    JUDGE["mumbles"] = False
    again = typed(*asked, "--retry-verdicts")
    assert (again.returncode, JUDGE["asked"]) == (0, 4), again.stderr
    assert typed(*asked, "--refresh").returncode == 0
    assert JUDGE["asked"] == 7


@pytest.mark.parametrize(
    "more, told",
    [
        (["--refresh", "--retry-verdicts"], "--refresh and --retry-verdicts are both given"),
        (["--refresh", "--keep-failed"], "--refresh and --keep-failed contradict each other"),
        (["--refresh", "--precision", "0.1"], "--refresh cannot be used with --precision"),
        (["--retry-verdicts", "--shard", "1/2"], "--retry-verdicts would have no effect"),
    ],
)
def test_what_contradicts_it_is_refused(folder, more, told):
    done = run("l.db", *more)
    assert (done.returncode, JUDGE["asked"]) == (2, 0)
    assert told in done.stderr


def test_a_precision_of_the_run_file_is_refused_too(folder):
    (folder / "run.yaml").write_text("model: dummy\ntasks: [q.csv]\nprecision: 0.3\n")
    done = typed("run", "run.yaml", "--refresh", "--log", "l.db")
    assert done.returncode == 2
    assert "--refresh cannot be used with --precision" in done.stderr


CONFIG = """
asks = dict(type="PromptTemplate", template=dict(round=[dict(role="HUMAN", prompt="{question} {prediction}")]))
judge = dict(type="VLLMCustomAPIChat", abbr="j", model="judge", host_ip="127.0.0.1", host_port=1, max_out_len=8)
datasets = [dict(abbr="d", type="CustomDataset", path="q.jsonl",
    reader_cfg=dict(input_columns=["question"], output_column="answer"),
    infer_cfg=dict(prompt_template=dict(type="PromptTemplate", template="{question}"),
        retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    EVALUATED)]
"""
GENERIC = """dict(type="GenericLLMEvaluator", prompt_template=asks, judge_cfg=judge,
    dict_postprocessor=dict(type="READER"))"""
JUDGED = """judge_infer_cfg=dict(judge_model=judge, judge_dataset_type="LLMJudgeDataset",
    judge_reader_cfg=dict(input_columns=["question", "model_answer"], output_column="model_pred_uuid"),
    prompt_template=dict(type="PromptTemplate", template="{question} {model_answer}"),
    retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="LLMJudgeCorrectEvaluator"), pred_postprocessor=dict(type="get_a_or_b"))"""
CASCADE = 'dict(type="CascadeEvaluator", rule_evaluator=dict(type="AccEvaluator"), llm_evaluator=%s)'


@pytest.mark.parametrize(
    "evaluated",
    [
        *(f"eval_cfg=dict(evaluator={GENERIC.replace('READER', reader)})"
          for reader in ("generic_llmjudge_postprocess", "simpleqa_postprocess")),
        f"eval_cfg=dict(evaluator={CASCADE % GENERIC.replace('READER', 'generic_llmjudge_postprocess')})",
        JUDGED,
    ],
    ids=["two letters", "three letters", "cascade", "judge_infer_cfg"],
)  # fmt: skip
def test_letters_that_judges_of_configs_do_not_write_are_told_and_asked_for(folder, monkeypatch, log_place, evaluated):
    from proctor.dialects.aisbench import judges

    def reply(prompt):
        JUDGE["asked"] += 1
        return "hm." if JUDGE["mumbles"] and "Japan" in prompt.text else "A"

    monkeypatch.setattr(judges, "judge_engine", lambda *_: ScriptedEngine(function=reply, model="judge"))
    rows = ({"question": f"Capital of {country}?", "answer": city} for country, city in CITIES.items())
    (folder / "q.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "exam.py").write_text(CONFIG.replace("EVALUATED", evaluated))
    asks = ("run", "exam.py", "-m", "scripted", "--model-args", "answer=none", "--log", log_place, "-o", "r")
    done = typed(*asks)
    assert (done.returncode, JUDGE["asked"]) == (0, 3), done.stderr
    assert "asks again): 1" in done.stdout
    assert results(folder / "r")[0]["score"] == pytest.approx(200 / 3, abs=0.01), "as upstream counts it"
    JUDGE["mumbles"] = False
    again = typed(*asks, "--retry-verdicts")
    assert (again.returncode, JUDGE["asked"]) == (0, 4), again.stderr
    assert set_aside(log_place) == ["hm."]
    assert results(folder / "r")[0]["score"] == pytest.approx(100)
    assert "without a verdict" not in again.stdout
    JUDGE.update(asked=0, mumbles=True)
    (folder / "p.jsonl").write_text('"none"\n' * 3)
    asks = ("evaluate", "-t", "exam.py", "--predictions", "p.jsonl", "--log", "other.db")
    done = typed(*asks)
    assert (done.returncode, JUDGE["asked"]) == (0, 3), done.stderr
    assert "asks again): 1" in done.stdout
    JUDGE["mumbles"] = False
    again = typed(*asks, "--retry-verdicts")
    assert (again.returncode, JUDGE["asked"]) == (0, 4), again.stderr
