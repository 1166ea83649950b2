"""What a plan foretells, held beside what a run then does: requests, tokens and time taken from the response log."""

from __future__ import annotations

import json

import pytest
from running_fakes import ToyExam, talk

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Prompt, Response, Timing, Usage
from proctor.recipes.options import ExamOptions
from proctor.running.planning import Estimate, _less, plan_run
from proctor.running.run import run_exams

ROWS = [{"q": f"number {place} " + "and so on " * (place % 7), "a": "yes"} for place in range(40)]
TASK = """task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {name}.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: '{{{{q}}}}'
doc_to_target: '{{{{a}}}}'
generation_kwargs: {{temperature: 0.8, do_sample: true, until: [x], max_gen_toks: 40}}
metric_list: [{{metric: exact_match}}]
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def task(tmp_path, name: str, rows) -> str:
    (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / f"{name}.yaml").write_text(TASK.format(name=name))
    return f"{name}.yaml"


def asked(result) -> int:
    return result.run["requests"]["asked"]


def planned_and_run(tmp_path, names, engine, **options):
    """Return the plan of exams and what a run then really does."""
    exams = resolve_tasks(names, ExamOptions(**options))
    plan = plan_run(exams, engine, log=tmp_path / "log.db")
    return plan.exams, run_exams(exams, engine, log=tmp_path / "log.db")


def words(prompt) -> Response:
    """Answer with one to nine words, and count tokens as a model would."""
    size = len(str(prompt.payload))
    written = 1 + sum(map(ord, str(prompt.payload))) % 9
    return Response(
        texts=("yes " * written,),
        usage=Usage(size // 4 + 5, written),
        timing=Timing(0.0, 2.0),
        finish_reasons=("stop",),
    )


def test_a_plan_from_the_log_foretells_what_the_rest_costs(tmp_path):
    name, engine = task(tmp_path, "rest", ROWS), ScriptedEngine(function=words)
    planned_and_run(tmp_path, [name], engine, limit=25)
    (each,), result = planned_and_run(tmp_path, [name], engine)
    assert (each.requests, each.from_log, each.left) == (40, 25, asked(result))
    left = [words(Prompt(row["q"])) for row in ROWS[25:]]
    for estimate, found in (
        (each.tokens_in, sum(one.usage.prompt_tokens for one in left)),
        (each.tokens_out, sum(one.usage.completion_tokens for one in left)),
    ):
        assert estimate.low <= found <= estimate.high
        assert estimate.value == pytest.approx(found, rel=0.3)
        assert estimate.high - estimate.low < 1.5 * estimate.value, "an interval that says something"
    assert each.out_from == "model"
    assert each.seconds == 2.0


def test_equal_questions_are_asked_once_in_one_exam_and_in_several(tmp_path):
    names = [task(tmp_path, "one", [*ROWS, *ROWS[:10]]), task(tmp_path, "two", ROWS[:30])]
    (one, two), result = planned_and_run(tmp_path, names, ScriptedEngine(function=words))
    assert (one.instances, one.requests, one.from_log) == (50, 40, 0)
    assert (two.instances, two.requests, two.from_log) == (30, 30, 30)
    assert asked(result) == one.left + two.left == 40


def test_repeats_are_draws_of_their_own(tmp_path):
    name, engine = task(tmp_path, "hot", ROWS), ScriptedEngine(function=words)
    planned_and_run(tmp_path, [name], engine)
    (each,), result = planned_and_run(tmp_path, [name], engine, repeats=4)
    assert (each.requests, each.from_log) == (160, 40)
    assert asked(result) == each.left == 120


def test_turns_of_conversations_are_taken_from_the_log(tmp_path):
    engine, log = ScriptedEngine(function=words), tmp_path / "log.db"
    exam = ToyExam("toy", 6, talk)
    (before,) = plan_run([exam], engine, log=log).exams
    assert (before.requests, before.from_log) == (18, 0)
    run_exams([ToyExam("toy", 4, talk)], engine, log=log)
    (after,) = plan_run([exam], engine, log=log).exams
    assert (after.requests, after.from_log, after.left, after.out_from) == (18, 12, 6, "model")


def test_no_estimate_is_above_what_may_be_written(tmp_path):
    name, engine = task(tmp_path, "short", ROWS), ScriptedEngine(function=words)
    planned_and_run(tmp_path, [name], engine, limit=2)
    (each,), _ = planned_and_run(tmp_path, [name], engine)
    assert each.most_out == 38 * 40
    assert each.tokens_out.value <= each.tokens_out.high <= each.most_out


def test_an_engine_whose_answers_belong_to_places_has_none_in_the_log(tmp_path):
    name = task(tmp_path, "listed", [*ROWS, *ROWS[:10]])
    for _ in range(2):
        (each,), result = planned_and_run(tmp_path, [name], ScriptedEngine(answers=["yes", "no"]))
        assert (each.requests, each.from_log) == (50, 0)
        assert asked(result) == 50


def test_a_precision_takes_as_many_questions_as_a_run_then_asks(tmp_path, capsys):
    rows = [{"q": f"number {n}", "a": "yes" if n % 10 < 8 else "never"} for n in range(600)]
    name = task(tmp_path, "near", rows)
    model = ["--model", "scripted", "--model-args", "answer=yes", "--tasks", name]
    assert main(["plan", *model, "--precision", "0.05", "--json"]) == 0
    needed = json.loads(capsys.readouterr().out)["exams"][0]["questions_for_precision"]
    assert needed["0.95"] < needed["0.8"] < needed["0.5"] < 600
    asked = []
    for seed in ("1", "2", "3"):
        assert main(["run", *model, "--log", "l.db", "--precision", "0.05", "--seed", seed, "-o", seed]) == 0
        asked.append(json.loads((tmp_path / seed / "results.json").read_text())["results"]["near"]["sample"]["asked"])
    assert sum(asked) / 3 == pytest.approx(needed["0.8"], rel=0.2)
    capsys.readouterr()
    assert main(["plan", *model, "--precision", "5"]) == 2
    assert "5 points are 0.05" in capsys.readouterr().err
    assert main(["plan", *model, "--precision", "0.05"]) == 0
    assert f"{needed['0.8']:,} at a score of 0.8" in capsys.readouterr().err.replace("\n", " ")


def test_copies_of_a_row_show_no_smaller_difference(tmp_path, capsys):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "cfg.py").write_text(
        "datasets = [dict(type='CustomDataset', abbr='cfg', path='rows.jsonl',\n"
        "  reader_cfg=dict(input_columns=['q'], output_column='a'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )
    found = []
    for repeats in ("1", "4"):
        given = ["plan", "--model", "scripted", "--model-args", "answer=yes", "--tasks", "cfg.py", "--repeats", repeats]
        assert main([*given, "--difference", "0.2", "--precision", "0.1", "--json"]) == 0
        found += json.loads(capsys.readouterr().out)["exams"]
    assert [each["instances"] for each in found] == [40, 40]  # questions, as a run with --repeats counts them
    assert [each["requests"] for each in found] == [40, 160]
    for name in ("questions", "detectable", "needed", "questions_for_precision"):
        assert found[0][name] == found[1][name]


def test_a_plan_counts_what_a_providers_cache_saves(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"q": f"{n} + 2?", "a": str(n + 2)}) + "\n" for n in range(30))
    )
    rules = "Answer with a number and nothing else. " * 200
    command = [
        "plan",
        "rows.jsonl",
        "--model",
        "anthropic/claude-sonnet-5",
        "--input-column",
        "q",
        "--answer-column",
        "a",
    ]
    command += ["--system-prompt", rules]
    assert main([*command, "--json"]) == 0
    (plan,) = json.loads(capsys.readouterr().out)["exams"]
    beginning = 39 * 200 / 4
    assert plan["cache_write_tokens"] == pytest.approx(beginning, rel=0.25)
    assert plan["cached_tokens"] == pytest.approx(29 * plan["cache_write_tokens"])
    saved = plan["cached_tokens"] * (2.0 - 0.2) - plan["cache_write_tokens"] * (2.5 - 2.0)
    assert plan["usd_saved_by_cache"] == pytest.approx(saved / 1e6)
    assert main([*command, "--model-args", "prompt_cache=off", "--json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["exams"]
    assert other["usd"]["value"] - plan["usd"]["value"] == pytest.approx(plan["usd_saved_by_cache"])
    assert main(command) == 0
    assert "are read from the provider's cache" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "one, other, total",
    [
        (Estimate(10.0, 7.0, 16.0), Estimate(20.0, 16.0, 28.0), Estimate(30.0, 25.0, 40.0)),
        (Estimate(10.0, 0.0, 10.0), Estimate(1.0, 1.0, 1.0), Estimate(11.0, 1.0, 11.0)),
        (Estimate(1.0, -4.0, 1.0), Estimate(1.0, 1.0, 1.0), Estimate(2.0, 0.0, 2.0)),
        (Estimate(10.0, None, 16.0), Estimate(20.0, 16.0, 28.0), Estimate(30.0)),
        (Estimate(10.0, 7.0, 16.0), Estimate(20.0), Estimate(30.0)),
    ],
)
def test_independent_estimates_are_added_with_their_bounds(one, other, total):
    assert one + other == other + one == total


def test_estimates_are_priced_by_the_million_and_what_is_saved_is_taken_off():
    assert Estimate(2e6, 1e6, 3e6).priced(0.5) == Estimate(1.0, 0.5, 1.5)
    assert Estimate(2e6).priced(0.5) == Estimate(1.0)
    assert _less(Estimate(5.0, 1.0, None), 2.0) == Estimate(3.0, 0.0, None)
