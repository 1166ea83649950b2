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
from proctor.ir import Response
from proctor.randomness import random_stream
from proctor.recipes.options import ExamOptions
from proctor.results.summary import sample_notes
from proctor.running.budget import Allowance
from proctor.running.precision import draw
from proctor.running.run import run_exams

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


def test_an_exam_that_is_asked_whole_has_the_interval_of_a_whole_run(task):
    """The score on these questions is known, but no interval of no width is claimed: it would speak of certainty."""
    run = run_exams(resolve_tasks([task], ExamOptions()), ScriptedEngine(answer="yes"), log=Path("log.db"))
    whole = run.results["t"]
    sample = drawn(task, 0.0001).samples["t"]
    entry = sample.entry(whole)
    assert {**entry, "sample": None} == {**whole, "sample": None}
    assert entry["score_ci_high"] - entry["score_ci_low"] > 0.05
    assert entry["sample"]["interval"] == "of a whole run"
    (said,) = sample_notes({"t": entry})
    assert said.startswith(f"t: all {COUNT} questions were asked")


def test_a_budget_that_ends_it_is_said(task):
    found = drawn(task, 0.02, budget=Allowance(max_tokens=300))
    assert "300 tokens" in found.stopped
    assert 0 < found.samples["t"].asked < COUNT
    assert not found.samples["t"].to_dict()["reached"]


def test_what_a_budget_ended_holds_whenever_one_stops_and_the_same_command_goes_on(task, capsys):
    given = ["run", "--model", "scripted", "--model-args", "answer=yes", "--tasks", task, "--precision", "0.05"]
    given += ["--output", "o", "--log", "l.db"]

    def entry() -> dict:
        return json.loads(Path("o/results.json").read_text())["results"]["t"]

    assert main([*given, "--budget-tokens", "300"]) == 1
    assert "of a confidence sequence" in capsys.readouterr().err.replace("\n", " ")
    first = entry()
    assert first["sample"]["interval"] == "confidence sequence"
    assert not first["sample"]["reached"]
    assert main(given) == 0
    second = entry()
    assert second["sample"]["interval"] == "fixed width"
    assert second["sample"]["reached"]
    asked = json.loads(Path("o/results.json").read_text())["run"]["requests"]
    assert asked["asked"] + asked["from_log"] == second["sample"]["asked"] > first["sample"]["asked"]
    width = {n: each["score_ci_high"] - each["score_ci_low"] for n, each in enumerate((first, second))}
    assert width[1] <= 0.1 < width[0]


def test_a_budget_that_pays_for_nothing_is_said(task, capsys):
    given = ["run", "--model", "scripted", "--model-args", "answer=yes", "--tasks", task, "--precision", "0.05"]
    assert main([*given, "--output", "o", "--log", "l.db", "--budget-tokens", "1"]) == 2
    assert "no question of it was asked: the budget of 1 tokens" in capsys.readouterr().err.replace("\n", " ")


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


# -- adaptive -------------------------------------------------------------------------------------------------


class Sitter(ToyEngine):
    """Answers the easier questions rightly: models agree, but for one in eight, on which these are."""

    share: float = 0.5

    def _answer(self, requests):
        for position, request in enumerate(requests):
            number = int(request.prompt.text)
            luck = random_stream(f"{self.model} {number}", 1).random()
            is_right = (number * 7919) % COUNT < self.share * COUNT
            is_right = not is_right if luck < 0.125 else is_right
            yield position, Response(texts=("yes" if is_right == (number % 10 < 8) else "never",))


def sit(task: str, name: str, share: float, **more) -> float:
    """Let a model sit the whole exam; return its score."""
    exams = resolve_tasks([task], ExamOptions())
    engine = Sitter(model=name, share=share)
    return run_exams(exams, engine, log=Path("log.db"), **more).results["t"]["score"]


@pytest.fixture
def others(task):
    for name, share in {"a": 0.75, "b": 0.8, "c": 0.85, "d": 0.7, "e": 0.6}.items():
        sit(task, name, share, output=Path(f"runs/{name}"))
    return task


def adaptively(task: str, precision: float = 0.05, seed: int | None = None, **more):
    exams = resolve_tasks([task], ExamOptions(seed=seed))
    return draw(exams, Sitter(model="new", share=0.78), precision, log=Path("log.db"), seed=seed, **more).samples["t"]


def test_questions_are_drawn_by_what_the_models_of_the_log_say(others):
    found = adaptively(others)
    plain = adaptively(others, how="uniform")
    assert found.to_dict()["is_adaptive"]
    assert len(found.models) == 5
    assert "is_adaptive" not in plain.to_dict()
    assert found.asked < plain.asked
    assert found.low < sit(others, "new", 0.78) < found.high


def test_the_score_is_corrected_and_nothing_that_is_not_stays(others):
    found = adaptively(others)
    engine = Sitter(model="new", share=0.78)
    result = run_exams([found.part], engine, log=Path("log.db"), samples={"t": found})
    entry = result.results["t"]
    assert entry["score"] == entry[entry["score_name"]] == pytest.approx(found.estimate)
    assert (entry["score_ci_low"], entry["score_ci_high"]) == (found.low, found.high)
    assert entry["sample"]["models"] == list(found.models)
    assert not [name for name in entry if "stderr" in name]
    assert entry["n"] == len(result.grades["t"].predictions) == found.asked
    assert result.grades["t"].stands_for == COUNT
    assert result.run["requests"]["asked"] == 0


def test_the_mean_of_many_draws_is_the_score(others):
    score = sit(others, "new", 0.78)
    found = [adaptively(others, 0.08, seed) for seed in range(12)]
    means = [each.estimate for each in found]
    assert abs(sum(means) / len(means) - score) < 0.04
    assert len({each.asked for each in found}) > 1
    assert sum(each.low <= score <= each.high for each in found) >= 10


def test_run_folders_and_files_of_scores_say_it_too(others, capsys):
    given = ["--others", "runs/a", "--others", "runs/b", "--others", "runs/c"]
    model = ["--model", "scripted", "--model-args", "answer=yes", "--tasks", others, "--log", "empty.db"]
    assert main(["run", *model, "--precision", "0.06", *given, "--output", "o"]) == 0
    said = capsys.readouterr().err
    assert "for what 3 other models' answers say they tell" in said
    assert "runs/a, runs/b, runs/c" in said
    entry = json.loads(Path("o/results.json").read_text())["results"]["t"]
    assert entry["score"] == pytest.approx(0.8, abs=0.1)
    assert entry["score_ci_high"] - entry["score_ci_low"] <= 0.12
    assert main(["run", "o", "--log", "empty.db"]) == 0
    again = json.loads(Path("o/results.json").read_text())
    assert (again["results"]["t"], again["run"]["requests"]["asked"]) == (entry, 0)
    capsys.readouterr()
    assert main(["compare", "runs/a", "o"]) == 1  # it was not compared
    assert "drawn for what they tell" in capsys.readouterr().out.replace("\n    ", " ")


@pytest.mark.parametrize(
    "given, said",
    [
        (["--draw", "adaptive"], "add --precision"),
        (["--others", "runs/a"], "add --precision"),
        (["--precision", "0.1", "--draw", "uniform", "--others", "runs/a"], "learns nothing from --others"),
        (["--precision", "0.1", "--others", "runs/a"], "1 of 1 have scores of at least half"),
        (["--precision", "0.1", "--draw", "adaptive"], "0 other models have answered"),
        (["--precision", "2"], "2 points are 0.02"),
    ],
)
def test_contradictions_are_refused_before_anybody_is_asked(others, capsys, given, said):
    model = ["--model", "scripted", "--model-args", "answer=yes", "--tasks", others, "--log", "empty.db"]
    assert main(["run", *model, *given, "--output", "o"]) == 2
    assert said in capsys.readouterr().err
    assert not Path("o").exists()


def test_answers_are_heard_as_in_every_run(task):
    """``--truncated fail`` goes for samples, too: answers that were cut off have no score."""

    class CutOff(ToyEngine):
        def _answer(self, requests):
            for position, _ in enumerate(requests):
                yield position, Response(texts=("yes",), finish_reasons=("length",))

    exams = resolve_tasks([task], ExamOptions(truncated="fail"))
    sample = draw(exams, CutOff(), 0.1, log=Path("log.db")).samples["t"]
    assert sample.asked == COUNT
    assert (sample.low, sample.high) == (0.0, 1.0)


def test_a_corpus_score_is_refused_before_anybody_is_asked(tmp_path):
    engine = ToyEngine()
    with pytest.raises(UsageError, match="score of all answers together"):
        draw(resolve_tasks(["samples.sentiment"], ExamOptions()), engine, 0.1, log=tmp_path / "x")
    assert not engine.asked


def test_whole_clusters_are_drawn_where_questions_belong_together(task):
    exams = resolve_tasks([task], ExamOptions(clusters="a"))  # two clusters: of 480 and 120 questions
    with pytest.raises(UsageError, match="cannot be drawn adaptively"):
        draw(exams, ScriptedEngine(answer="yes"), 0.1, how="adaptive", log=Path("log.db"))
    sample = draw(exams, ScriptedEngine(answer="yes"), 0.1, log=Path("log.db")).samples["t"]
    assert sample.asked == COUNT
    assert "in whole clusters of 'a'" in sample.chosen


def test_copies_of_rows_are_refused_before_anybody_is_asked(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(json.dumps({"q": n, "a": "yes"}) + "\n" for n in range(40)))
    Path("cfg.py").write_text(
        "datasets = [dict(type='CustomDataset', abbr='cfg', path='rows.jsonl',\n"
        "  reader_cfg=dict(input_columns=['q'], output_column='a'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )
    given = [
        "--model",
        "scripted",
        "--model-args",
        "answer=yes",
        "--tasks",
        "cfg.py",
        "--log",
        "l.db",
        "--repeats",
        "2",
    ]
    assert main(["gate", *given, "--at-least", "0.5"]) == 2
    assert "copies are scored together" in capsys.readouterr().err
    assert main(["run", *given, "--precision", "0.1", "-o", "o"]) == 2
