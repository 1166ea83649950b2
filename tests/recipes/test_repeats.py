"""Several answers to each question: one mechanism for the exams of every dialect."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import UsageError
from proctor.ir import Failure, Generate, Response
from proctor.recipes.answer_seeds import derived_seed
from proctor.recipes.options import ExamOptions
from proctor.results.summary import noise_notes
from proctor.running.run import run_exams

ROWS = [{"q": f"number {place}", "a": "yes"} for place in range(40)]


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "hot.yaml").write_text(
        "task: hot\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
        "generation_kwargs: {temperature: 0.8, do_sample: true, until: [x], max_gen_toks: 4}\n"
        "metric_list: [{metric: exact_match}]\n"
    )
    (tmp_path / "cfg.py").write_text(
        "hot_datasets = [dict(type='CustomDataset', abbr='cfg', path='rows.jsonl',\n"
        "  reader_cfg=dict(input_columns=['q'], output_column='a'),\n"
        "  infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "    retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),\n"
        "  eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]\n"
    )
    return {"lm_eval": "hot.yaml", "aisbench": "cfg.py", "unitxt": "samples.sentiment"}


def answers(seed: int = 0):
    stream = np.random.default_rng(seed)
    return lambda prompt: "yes" if stream.random() < 0.5 else "no"


def run(name: str, folder: Path, engine=None, **options):
    exams = resolve_tasks([name], ExamOptions(decoding={"temperature": 0.8}, **options))
    return run_exams(exams, engine or ScriptedEngine(function=answers()), log=folder / "log.db")


@pytest.mark.parametrize("dialect", ["lm_eval", "aisbench", "unitxt"])
def test_every_dialect_is_asked_so_often_and_reduced(tasks, tmp_path, dialect):
    engine = ScriptedEngine(function=answers())
    result = run(tasks[dialect], tmp_path, engine, repeats=4, reduce=("mean", "majority", "best", "pass@2", "pass^4"))
    (entry,) = result.results.values()
    instances = entry["repeats"]["instances"]
    assert result.run["requests"]["asked"] == 4 * instances
    main = entry["score_name"]
    assert entry["repeats"]["repeats"] == 4
    assert entry["score_ci_low"] <= entry["score"] <= entry["score_ci_high"]
    values = [entry[f"{main}:{name}"] for name in ("pass^4", "pass@2", "best")]
    assert values[0] <= entry["score"] <= values[1] <= values[2]
    again = run(tasks[dialect], tmp_path, engine, repeats=4, reduce=("pass@4",))
    assert again.run["requests"]["asked"] == 0, "another reducer asks nothing"
    (other,) = again.results.values()
    assert other["score_name"].endswith(":pass@4")
    assert other["score"] == entry[f"{main}:best"]


@pytest.mark.parametrize("dialect", ["lm_eval", "aisbench", "unitxt"])
def test_another_seed_asks_anew_and_each_repeat_has_its_own(tasks, tmp_path, dialect):
    def requests(**options):
        (exam,) = resolve_tasks([tasks[dialect]], ExamOptions(decoding={"temperature": 0.8}, **options))
        questions = list(exam.questions())
        return [(each.key, each.decoding.seed) for question in questions for each in question.requests]

    plain, first, second = requests(repeats=3), requests(repeats=3, seed=1), requests(repeats=3, seed=2)
    assert not {key for key, _ in first} & {key for key, _ in second}
    assert first == requests(repeats=3, seed=1)
    assert len({key for key, _ in first}) == len(first) == len(plain)
    assert {seed for _, seed in first} == {derived_seed(1, repeat) for repeat in range(3)}
    if dialect != "aisbench":
        assert {seed for _, seed in plain} == {None}, "a log without seeds stays valid"


def test_a_score_of_all_answers_together_is_a_mean_over_repeats_and_refuses_other_reducers(tmp_path):
    exams = resolve_tasks(["samples.sentiment"], ExamOptions(repeats=3, reduce=("mean", "majority")))
    engine = ScriptedEngine(function=lambda prompt: "positive" if next(turn) % 3 else "negative")
    turn = iter(range(10_000))
    grade = run_exams(exams, engine, log=tmp_path / "x.db").grades["samples.sentiment"]
    assert grade.main.name == "f1_macro"
    assert grade.scores["score"] == grade.main.value == grade.scores["f1_macro"]
    assert grade.scores["score_ci_low"] < grade.main.value < grade.scores["score_ci_high"]
    assert "all answers together" in grade.metric_failures["majority"].message


def test_instances_have_what_they_were_reduced_to(tasks, tmp_path):
    result = run(tasks["lm_eval"], tmp_path, repeats=4, reduce=("pass@2",))
    (grade,) = result.grades.values()
    column = grade.instance_scores[grade.main.name]
    assert np.mean(column) == pytest.approx(grade.main.value)
    assert set(column) <= {0.0, 0.5, 5 / 6, 1.0}


def test_without_a_temperature_a_seed_changes_no_request(tasks):
    def keys(**options):
        (exam,) = resolve_tasks(["samples.sentiment"], ExamOptions(**options))
        return [each.key for question in exam.questions() for each in question.requests]

    assert keys(seed=5) == keys()


class Alike(ScriptedEngine):
    """Draws equal answers to equal requests, as an engine does whose seed is fixed."""

    sent: list = []
    draws_alike = True

    def generate(self, requests):
        def seen():
            for request in requests:
                self.sent.append(request)
                yield request

        return super().generate(seen())


def test_repeats_have_seeds_of_their_own_where_an_engine_would_draw_alike(tasks, tmp_path):
    engine = Alike(answer="yes")
    engine.sent.clear()
    run(tasks["lm_eval"], tmp_path, engine, repeats=3, limit=2)
    assert all(isinstance(each, Generate) for each in engine.sent)
    assert [each.decoding.seed for each in engine.sent] == [None, derived_seed(None, 1), derived_seed(None, 2)] * 2
    engine.sent.clear()
    run(tasks["lm_eval"], tmp_path, engine, repeats=3, limit=2)
    assert not engine.sent, "answers are filed under the requests as the exam makes them"


def test_an_answer_that_failed_fails_its_question(tasks, tmp_path):
    counted = iter(range(1000))

    def answer(prompt):
        if next(counted) == 4:
            return Response(failure=Failure("timeout", "too slow"))
        return "yes"

    result = run(tasks["lm_eval"], tmp_path, ScriptedEngine(function=answer), repeats=3, limit=10)
    entry = result.results["hot"]
    assert (entry["n"], entry["failures"], entry["repeats"]["instances"]) == (10, 1, 9)
    assert entry["score"] == 1.0
    assert 0.6 < entry["score_ci_low"] < 1.0 == entry["score_ci_high"]


@pytest.mark.parametrize(
    "options, said",
    [
        ({"reduce": ("pass@2",)}, "--repeats N"),
        ({"repeats": 2, "reduce": ("pass@3",)}, "--repeats 3"),
        ({"repeats": 2, "reduce": ("medain",)}, "there is no reducer"),
        ({"repeats": 2, "reduce": ("avg@3",)}, "--repeats 3"),
        ({"repeats": 2, "reduce": ("pass@0",)}, "pass@0"),
        ({"repeats": 2, "reduce": ("mean:0.5",)}, "there is no reducer"),
    ],
)
@pytest.mark.parametrize("dialect", ["lm_eval", "aisbench", "unitxt"])
def test_reducers_that_cannot_be_are_refused_before_anybody_is_asked(tasks, dialect, options, said):
    try:
        (exam,) = resolve_tasks([tasks[dialect]], ExamOptions(**options))
        problems = [str(each) for each in exam.problems()]
    except UsageError as error:
        problems = [str(error)]
    assert said in "\n".join(problems)


def test_results_say_whose_noise_it_is_and_what_would_halve_the_interval(capsys, tasks):
    said = ("run", "--model", "scripted", "--model-args", "answer=yes", "--tasks", tasks["lm_eval"])
    assert main([*said, "--repeats", "2", "--reduce", "mean,g-pass@2:0.75"]) == 0
    assert "hot" in capsys.readouterr().out
    levels = {"stderr": 0.05, "question_noise": 0.03, "answer_noise": 0.04, "halved_by": {"repeats": 9, "instances": 4}}
    (note,) = noise_notes({"hot": {"repeats": levels}})
    assert "0.0300 from questions, 0.0400 from answers" in note
    assert "--repeats 9 would halve the interval" in note
    (note,) = noise_notes({"hot": {"repeats": {**levels, "halved_by": {"repeats": None, "instances": 4}}}})
    assert "no number of repeats would halve the interval, 4 questions would" in note


def test_where_less_is_better_the_best_answer_has_the_least_score_and_none_is_called_right(tasks, tmp_path):
    text = (
        Path("hot.yaml").read_text().replace("{metric: exact_match}", "{metric: exact_match, higher_is_better: false}")
    )
    Path("hot.yaml").write_text(text)
    result = run("hot.yaml", tmp_path, repeats=4, reduce=("mean", "best", "pass@2", "majority"))
    (entry,), (grade,) = result.results.values(), result.grades.values()
    assert entry["higher_is_better"] is False
    assert entry["exact_match:best"] < entry["exact_match"]
    assert "less is better" in grade.metric_failures["pass@2"].message
    assert "exact_match:pass@2" not in entry


def test_a_seed_is_called_idle_only_where_nothing_derives_from_it(tasks, capsys):
    cool = (
        Path("hot.yaml")
        .read_text()
        .replace("temperature: 0.8, do_sample: true, ", "")
        .replace("task: hot", "task: cool")
    )
    Path("cool.yaml").write_text(cool)
    model = ["--model", "scripted", "--model-args", "answer=yes", "--log", "log.db", "--seed", "7"]
    idle = "--seed has no effect here on"
    for tasks_, more, is_idle in (
        ("cool.yaml", ["-o", "a"], True),
        ("hot.yaml", ["-o", "b"], False),
        ("cool.yaml", ["-o", "c", "--precision", "0.2"], False),
    ):
        assert main(["run", *model, "--tasks", tasks_, *more]) == 0
        assert (idle in capsys.readouterr().err) == is_idle
    assert main(["gate", *model, "--tasks", "cool.yaml", "--at-least", "0.5"]) == 0
    assert idle not in capsys.readouterr().err


def test_two_levels_are_those_of_the_answers_whatever_they_are_reduced_to(tasks, tmp_path):
    summaries = [
        next(iter(run("hot.yaml", tmp_path, repeats=4, reduce=reduce).results.values()))["repeats"]
        for reduce in (("mean",), ("majority",), ("majority", "mean"))
    ]
    assert summaries[0] == summaries[1] == summaries[2]


def test_an_exam_that_writes_nothing_is_not_repeated_unless_it_is_known_to_write(tasks):
    from dataclasses import replace

    from proctor.recipes.repeats import RepeatsGrader, repeated

    (hot,) = resolve_tasks(["hot.yaml"], ExamOptions(repeats=2))
    base = replace(hot, asker=hot.asker.base, grader=hot.grader.base)
    assert isinstance(repeated(base).grader, RepeatsGrader)
    assert repeated(base).asker.kinds == base.asker.kinds

    class Choosing:
        kinds = frozenset({"choose", "likelihood"})

    choosing = replace(base, asker=Choosing())
    assert repeated(choosing) is choosing
    assert isinstance(repeated(choosing, is_known_to_write=True).grader, RepeatsGrader)
    plain = replace(base, options=ExamOptions())
    assert repeated(plain) is plain
    assert repeated(plain, is_known_to_write=True) is plain
