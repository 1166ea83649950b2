"""Asking until the score is known well enough, and what results say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running_fakes import ToyEngine

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions
from proctor.running.budget import Allowance
from proctor.running.precision import draw

COUNT = 600


@pytest.fixture
def task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"q": n, "a": "yes" if n % 10 < 8 else "never"}) + "\n" for n in range(COUNT))
    )
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
        "generation_kwargs: {until: [x], max_gen_toks: 4}\nmetric_list: [{metric: exact_match}]\n"
    )
    return "t.yaml"


def drawn(task: str, precision: float, **more):
    options = ExamOptions(seed=more.get("seed"))
    return draw(resolve_tasks([task], options), ScriptedEngine(answer="yes"), precision, log=Path("log.db"), **more)


def test_a_wide_interval_needs_few_questions_and_holds_the_score(task):
    wide, narrow = drawn(task, 0.1).samples["t"], drawn(task, 0.05).samples["t"]
    assert 32 <= wide.asked < narrow.asked < COUNT
    for sample, precision in ((wide, 0.1), (narrow, 0.05)):
        assert sample.low <= 0.8 <= sample.high
        assert (sample.high - sample.low) / 2 <= precision
    numbers = [question.number for question in narrow.part.questions()]
    assert numbers == sorted(numbers)
    assert {question.number for question in wide.part.questions()} < set(numbers)


def test_another_seed_draws_other_questions(task):
    numbers = [
        {question.number for question in drawn(task, 0.1, seed=seed).samples["t"].part.questions()} for seed in (1, 2)
    ]
    assert numbers[0] != numbers[1]


def test_everything_is_asked_where_that_is_what_it_takes(task):
    sample = drawn(task, 0.0001).samples["t"]
    assert sample.asked == COUNT
    assert (sample.low, sample.high) == pytest.approx((0.8, 0.8), abs=1e-9)
    assert sample.to_dict()["reached"]


def test_a_budget_that_ends_it_is_said(task):
    found = drawn(task, 0.02, budget=Allowance(max_tokens=300))
    assert "300 tokens" in found.stopped
    assert 0 < found.samples["t"].asked < COUNT
    assert not found.samples["t"].to_dict()["reached"]


@pytest.mark.parametrize("precision, hint", [(2, "2 points are 0.02"), (0, "0.02"), (-1, "0.02"), (0.5, "0.005")])
def test_a_precision_that_is_not_a_share_is_refused(task, precision, hint):
    with pytest.raises(UsageError, match="--precision is a share") as raised:
        drawn(task, precision)
    assert hint in str(raised.value)


def test_a_corpus_score_is_refused(monkeypatch, tmp_path):
    with pytest.raises(UsageError, match="cannot be decided on some of its questions"):
        draw(
            resolve_tasks(["samples.sentiment"], ExamOptions()),
            ScriptedEngine(answer="positive"),
            0.1,
            log=tmp_path / "x",
        )


def test_a_run_says_what_it_asked_and_asks_nothing_twice(task, capsys):
    given = ["run", "--model", "scripted", "--model-args", "answer=yes", "--tasks", task, "--precision", "0.05"]
    assert main([*given, "--output", "run", "--log", "log.db"]) == 0
    said = capsys.readouterr()
    assert "questions were asked, chosen uniformly at random" in said.err
    entry = json.loads(Path("run/results.json").read_text())["results"]["t"]
    assert entry["sample"]["of"] == COUNT
    assert entry["sample"]["asked"] == entry["n"] == len(Path("run/samples.jsonl").read_text().splitlines()) < COUNT
    assert entry["score_ci_high"] - entry["score_ci_low"] <= 0.1 + 1e-9
    assert main(["run", "run", "--log", "log.db", "--json"]) == 0
    again = json.loads(Path("run/results.json").read_text())
    assert again["results"]["t"] == entry
    assert again["run"]["requests"]["asked"] == 0


def test_an_engine_that_answers_in_order_is_refused(task):
    class InOrder(ToyEngine):
        answers_in_order = True

    with pytest.raises(UsageError, match="answers in order"):
        draw(resolve_tasks([task], ExamOptions()), InOrder(), 0.1)
