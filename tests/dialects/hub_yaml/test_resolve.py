"""``eval.yaml`` from the command line: run, shown, validated, converted; every problem at its place."""

import json

import pytest
import yaml

from proctor.cli.__main__ import main
from proctor.dialects.conversion import convert_exam
from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import DatasetNotFoundError, ProctorError, UnknownArtifactError, ValidationError
from proctor.ir import Converse, Generate
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

ROWS = [
    {
        "question": f"What comes after {n}?",
        "answer": str(n + 1),
        "options": [str(n), str(n + 1)],
        "place": 1,
        "topic": "xy"[n % 2],
    }
    for n in range(6)
]
FIELDS = {"input": "question", "target": "answer", "metadata": ["topic"]}
LETTERS = {"input": "question", "target": "place", "choices": "options"}
TASKS = [
    {
        "id": "write",
        "field_spec": FIELDS,
        "solvers": [{"name": "prompt_template", "args": {"template": "[{topic}] {prompt}"}}, {"name": "generate"}],
        "scorers": [{"name": "match", "args": {"location": "end"}}, {"name": "f1"}],
    },
    {
        "id": "choose",
        "field_spec": LETTERS,
        "solvers": [{"name": "multiple_choice"}],
        "scorers": [{"name": "choice"}],
    },
]


def put(folder, tasks=TASKS, **more):
    """Write a dataset with an ``eval.yaml`` into a mapped hub folder."""
    import pyarrow as pa
    from pyarrow import parquet

    place = folder / "org" / "data"
    place.mkdir(parents=True, exist_ok=True)
    (place / "eval.yaml").write_text(
        yaml.safe_dump({"name": "Data", "evaluation_framework": "inspect-ai", "tasks": tasks, **more})
    )
    parquet.write_table(pa.Table.from_pylist(ROWS), place / "test-00000-of-00001.parquet")
    return place


@pytest.fixture
def hub(tmp_path):
    put(tmp_path)
    with settings.context(hub_dir=str(tmp_path)):
        yield tmp_path


def answering(prompt):
    number = int("".join(each for each in prompt.messages[-1]["content"].partition("?")[0] if each.isdigit()))
    return f"It is {number + 1}." if "ANSWER" not in prompt.text else "ANSWER: B"


def run(name, folder, engine=None, **options):
    exams = resolve_tasks([name], ExamOptions(**options))
    return run_exams(exams, engine or ScriptedEngine(function=answering), log=folder / "log.db")


# -- names --------------------------------------------------------------------------------------------------------


def test_all_tasks_of_a_dataset_or_one(hub):
    assert [each.name for each in resolve_tasks(["hf/org/data"])] == ["hf/org/data/write", "hf/org/data/choose"]
    assert [each.name for each in resolve_tasks(["hf/org/data/choose"])] == ["hf/org/data/choose"]
    assert [each.name for each in resolve_tasks([str(hub / "org" / "data" / "eval.yaml::choose")])] == ["data/choose"]
    assert [each.name for each in resolve_tasks([str(hub / "org" / "data")])] == ["data/write", "data/choose"]


@pytest.mark.parametrize(
    "name, error, words",
    [
        ("hf/org/data/chose", UnknownArtifactError, "did you mean 'choose'"),
        ("hf/org/nothing", DatasetNotFoundError, "PROCTOR_HUB_DIR"),
        ("hf/org", ProctorError, "hf/ORG/DATASET"),
        ("hf/org/data@v1", ProctorError, "leave @v1 out"),
    ],
)
def test_what_is_not_there_is_said(hub, name, error, words):
    with settings.context(offline=True), pytest.raises(error) as raised:
        resolve_tasks([name])
    assert words in str(raised.value.diagnostics[0])


def test_they_are_listed(hub, capsys):
    assert main(["ls", "hf/*"]) == 0
    said = capsys.readouterr().out
    assert "hf/org/data/write" in said
    assert "hf/org/data/choose" in said


# -- asking and scoring ---------------------------------------------------------------------------------------------


def test_it_asks_and_scores(hub):
    done = run("hf/org/data", hub)
    write, choose = (done.results[f"hf/org/data/{each}"] for each in ("write", "choose"))
    assert (write["accuracy,match"], choose["accuracy"]) == (1.0, 1.0)
    assert write["mean,f1"] == pytest.approx(0.5)
    assert write["score_name"] == "accuracy,match"
    assert 0 < write["accuracy,match_ci_low"] < 1


def test_the_question_is_a_message_in_its_template(hub):
    (exam,) = resolve_tasks(["hf/org/data/write"], ExamOptions(limit=1, system_prompt="Be brief."))
    (question,) = exam.questions()
    (request,) = question.requests
    assert isinstance(request, Generate)
    assert [dict(each) for each in request.prompt.messages] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "[x] What comes after 0?"},
    ]
    assert [turn.text for turn in request.prompt.turns] == ["Be brief.", "[x] What comes after 0?"]


def test_a_critique_is_asked_aside_and_read_back(hub, tmp_path, capsys):
    solvers = [
        {"name": "generate"},
        {
            "name": "self_critique",
            "args": {"critique_template": "Look: {completion}", "completion_template": "Heed: {critique}"},
        },
    ]
    put(hub, [{"field_spec": FIELDS, "solvers": solvers, "scorers": [{"name": "includes"}]}])
    heard = []

    def speak(prompt):
        heard.append([each["content"] for each in prompt.messages])
        return f"said {len(heard)}"

    done = run("hf/org/data", tmp_path, ScriptedEngine(function=speak), limit=1)
    assert heard == [
        ["What comes after 0?"],
        ["Look: said 1"],
        ["What comes after 0?", "said 1", "Heed: said 2"],
    ]
    assert done.grades["hf/org/data"].predictions[0] == ["said 1", "said 2", "said 3"]
    (exam,) = resolve_tasks(["hf/org/data"])
    assert isinstance(next(iter(exam.questions())).requests[0], Converse)
    assert main(["show", "hf/org/data", "--docs", "1"]) == 0
    said = capsys.readouterr().out
    assert "Look: ⟨answer 1⟩" in said
    assert "Heed: ⟨answer 2⟩" in said


def test_epochs_are_separate_answers_and_one_score(hub, tmp_path):
    task = {**TASKS[0], "epochs": 4, "epoch_reducer": "pass_at_2", "scorers": [{"name": "includes"}]}
    put(hub, [task])
    answers = ScriptedEngine(answers=["1", "no", "no", "no"])
    done = run("hf/org/data", tmp_path, answers, limit=1)
    assert done.results["hf/org/data"]["accuracy"] == pytest.approx(0.5)  # 1 - C(3,2)/C(4,2)
    (exam,) = resolve_tasks(["hf/org/data"])
    assert next(iter(exam.questions())).requests[0].decoding.temperature == 1.0


def test_the_order_of_choices_follows_the_seed(hub):
    put(hub, [{**TASKS[1], "shuffle_choices": True}])

    def orders(seed):
        (exam,) = resolve_tasks(["hf/org/data"], ExamOptions(seed=seed))
        return [(each.exchange.choices, each.exchange.answer) for each in exam.questions()]

    assert orders(1) == orders(1) != orders(2)
    assert all(
        options["AB".index(target)] == ROWS[place]["answer"] for place, (options, target) in enumerate(orders(1))
    )


def test_solvers_put_words_around_the_question(hub):
    words = {"name": "prompt_template", "args": {"template": "{prompt} ({topic}, {level})", "level": "easy"}}
    solvers = [
        {"name": "system_message", "args": {"template": "About {topic}."}},
        {"name": "chain_of_thought", "args": {"template": "{prompt} Think!"}},
        words,
        {"name": "use_tools"},
        {"name": "user_message", "args": {"template": "Of {topic}?"}},
        {"name": "generate"},
    ]
    put(hub, [{**TASKS[0], "solvers": solvers}])
    (exam,) = resolve_tasks(["hf/org/data"], ExamOptions(limit=1))
    (question,) = exam.questions()
    assert [(each["role"], each["content"]) for each in question.requests[0].prompt.messages] == [
        ("system", "About x."),
        ("user", "What comes after 0? Think! (x, easy)"),
        ("user", "Of x?"),
    ]


@pytest.mark.parametrize(
    "task, options, epochs",
    [
        ({"epochs": 2, "epoch_reducer": "pass_at_2"}, {}, 2),  # as many answers as the reducer needs
        ({"epochs": 2}, {"repeats": 3}, 3),
        ({"epochs": 2}, {"repeats": 3, "reduce": ("mean",)}, 1),
    ],
)
def test_epochs_are_those_of_the_file_or_of_the_run(hub, task, options, epochs):
    put(hub, [{**TASKS[0], **task}])
    (exam,) = resolve_tasks(["hf/org/data"], ExamOptions(**options))
    assert exam.own.epochs == epochs


@pytest.mark.parametrize("template", ["Read notes.txt: {prompt}", "Think.", "{prompt}.txt", "a/b"])
def test_words_that_mention_a_file_are_words(hub, template):
    solvers = [{"name": "user_message", "args": {"template": template}}, {"name": "generate"}]
    put(hub, [{**TASKS[0], "solvers": solvers}])
    assert len(resolve_tasks(["hf/org/data"])) == 1


def test_a_dataset_with_one_exam_is_listed_by_its_own_name(hub, capsys):
    put(hub, TASKS[:1])
    assert main(["ls", "hf/*"]) == 0
    said = capsys.readouterr().out
    assert "hf/org/data" in said
    assert "hf/org/data/" not in said


def test_a_file_with_problems_is_left_out_of_the_list(hub, capsys):
    for name in ("aaa", "zzz"):
        (hub / "org" / name).mkdir()
        (hub / "org" / name / "eval.yaml").write_text("tasks: []\n")
    assert main(["ls", "hf/*"]) == 0
    assert "hf/org/data/write" in capsys.readouterr().out


# -- judges ---------------------------------------------------------------------------------------------------------

JUDGED = [{"field_spec": FIELDS, "solvers": [{"name": "generate"}], "scorers": [{"name": "model_graded_qa"}]}]


def test_nobody_judges_itself_unasked(hub, tmp_path):
    put(hub, JUDGED)
    asked = []
    with pytest.raises(ProctorError, match="nobody says which model"):
        run("hf/org/data", tmp_path, ScriptedEngine(function=asked.append))
    assert not asked


def test_a_judge_that_gives_no_grade_is_a_failure_and_not_a_zero(hub, tmp_path):
    put(hub, JUDGED)
    judge = ScriptedEngine(rules=[("after 0", "I cannot say"), ("after 1", "GRADE: I"), (".", "GRADE: C")])
    with settings.context(judge=judge):
        done = run("hf/org/data", tmp_path)
    scores = done.results["hf/org/data"]
    assert (scores["accuracy"], scores["num_of_failures"]) == (pytest.approx(4 / 5), 1)


def test_a_judge_that_a_file_names_needs_permission(hub, tmp_path):
    scorers = [{"name": "model_graded_qa", "args": {"model": "openai-api/x"}}]
    scorers[0]["args"]["model"] = json.dumps(
        {"__type__": "open_ai_engine", "base_url": "http://judge.example.org/v1", "model": "m"}
    )
    put(hub, [{**JUDGED[0], "scorers": scorers}])
    (exam,) = resolve_tasks(["hf/org/data"])
    assert any("judge.example.org" in each.target for each in exam.effects())
    with pytest.raises(ProctorError, match=r"judge\.example\.org"):
        run("hf/org/data", tmp_path)


# -- rows -----------------------------------------------------------------------------------------------------------


def test_a_column_that_there_is_not_is_named(hub, tmp_path):
    put(hub, [{**TASKS[0], "field_spec": {**FIELDS, "target": "anser"}}])
    with pytest.raises(ProctorError, match="no column 'anser'") as raised:
        run("hf/org/data", tmp_path)
    assert "did you mean 'answer'" in str(raised.value)


# -- problems of files ------------------------------------------------------------------------------------------------


def problems(folder, task, **more):
    put(folder, [{**TASKS[0], **task}], **more)
    with pytest.raises(ValidationError) as raised:
        resolve_tasks(["hf/org/data"])
    assert all(each.location is not None for each in raised.value.diagnostics)
    return " | ".join(str(each) for each in raised.value.diagnostics)


@pytest.mark.parametrize(
    "task, words",
    [
        ({"solver": []}, "no key 'solver'"),
        ({"solvers": [{"name": "generat"}]}, "did you mean 'generate'"),
        ({"solvers": [{"name": "system_message", "args": {"template": "x"}}]}, "no solver asks the model"),
        ({"solvers": [{"name": "generate", "args": {"max_token": 5}}]}, "did you mean 'max_tokens'"),
        ({"solvers": [{"name": "generate", "args": {"num_choices": 2}}]}, "cannot honour 'num_choices'"),
        ({"solvers": [{"name": "prompt_template"}, {"name": "generate"}]}, "needs the argument 'template'"),
        ({"solvers": [{"name": "prompt_template", "args": {"template": "{prompt"}}, {"name": "generate"}]}, "cannot be read"),
        ({"solvers": [{"name": "prompt_template", "args": {"template": "https://x.org/t"}}, {"name": "generate"}]}, "is an address"),
        ({"solvers": [{"name": "prompt_template", "args": {"template": "words.txt"}}, {"name": "generate"}]}, "is the path of a file"),
        ({"solvers": [{"name": "use_tools", "args": {"tools": ["bash"]}}, {"name": "generate"}]}, "no argument 'tools'"),
        ({"solvers": [{"name": "generate", "args": {"max_tokens": 5}}, {"name": "generate"}]}, "in different ways"),
        ({"solvers": [{"name": "generate"}, {"name": "self_critique", "args": {"model": "openai/x"}}]}, "another model"),
        ({"scorers": [{"name": "match", "args": {"location": "middle"}}]}, "looks at 'middle'"),
        ({"scorers": [{"name": "answer", "args": {"pattern": "digit"}}]}, "letter, word or line"),
        ({"scorers": [{"name": "pattern", "args": {"pattern": "("}}]}, "does not compile"),
        ({"scorers": [{"name": "model_graded_qa", "args": {"model_role": "boss"}}]}, "no role 'boss'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": 2, "epoch_reducer": "pass_at_3"}, "pass_at_3 needs 3 answers"),
        ({"epoch_reducer": "average"}, "no reducer 'average'"),
        ({"field_spec": {**FIELDS, "sandbox": "box"}}, "sandbox has no effect"),
        ({"field_spec": {**FIELDS, "inpt": "x"}}, "did you mean 'input'"),
        ({"field_spec": None}, "a task needs a field_spec"),
        ({"field_spec": {**FIELDS, "metadata": "topic"}}, "it is a list of names of columns"),
        ({"field_spec": {**FIELDS, "choices": [1]}}, "it is a list of names of columns"),
        ({"field_spec": {**FIELDS, "input": 3}}, "input is 3"),
        ({"shuffle_choices": "yes"}, "it is true or false"),
        ({"solvers": []}, "a task needs solvers"),
        ({"solvers": ["generate"]}, "a solver has a name"),
        ({"scorers": [{"name": "match", "args": ["end"]}]}, "is not a mapping of names to values"),
        ({"scorers": [{"name": "match", "arg": {}}]}, "did you mean 'args'"),
        ({"solvers": [{"name": "prompt_template", "args": {"template": "{prompt!x}"}}, {"name": "generate"}]}, "Unknown conversion specifier x"),
        ({"solvers": [{"name": "multiple_choice", "args": {"template": "{question}"}}]}, "lacks {question} or {choices}"),
        ({"solvers": [{"name": "system_message", "args": {"template": 3}}, {"name": "generate"}]}, "not text"),
    ],
)  # fmt: skip
def test_every_problem_has_its_place(hub, task, words):
    assert words in problems(hub, task)


def test_files_of_other_frameworks_are_refused_by_name(hub):
    assert "written for 'lighteval'" in problems(hub, {}, evaluation_framework="lighteval")


def test_all_problems_are_said_at_once(hub, capsys):
    put(hub, [{**TASKS[0], "epochs": -1, "scorers": [{"name": "mach"}]}])
    assert main(["validate", str(hub / "org" / "data" / "eval.yaml")]) == 2
    said = capsys.readouterr().err
    assert "epochs is -1" in said
    assert "did you mean 'match'" in said
    assert "1 file, 2 problems" in said


# -- conversions ------------------------------------------------------------------------------------------------------


def converted(name, folder):
    assert main(["convert", name, "--to", "eval.yaml", "-o", str(folder / "eval.yaml")]) == 0


def test_a_task_comes_back_as_it_was(hub, tmp_path):
    place = tmp_path / "again"
    place.mkdir()
    converted("hf/org/data/write", place)
    before, after = (
        yaml.safe_load((hub / "org" / "data" / "eval.yaml").read_text()),
        yaml.safe_load((place / "eval.yaml").read_text()),
    )
    (task,) = after["tasks"]
    assert {key: task[key] for key in before["tasks"][0]} == before["tasks"][0]


def test_any_exam_is_written_with_its_prompts(tmp_path, capsys):
    name = "samples.sentiment"
    converted(name, tmp_path)
    assert "written to" in capsys.readouterr().err
    (old,), (new,) = resolve_tasks([name]), resolve_tasks([str(tmp_path / "eval.yaml")])
    prompts = [each.requests[0].prompt.text for each in old.questions()]
    assert [each.requests[0].prompt.text for each in new.questions()] == prompts


def test_choices_become_letters_and_that_is_said(tmp_path, capsys):
    converted("samples.science", tmp_path)
    assert "no likelihoods are compared" in capsys.readouterr().err
    (old,), (new,) = resolve_tasks(["samples.science"]), resolve_tasks([str(tmp_path / "eval.yaml")])
    for before, after in zip(old.questions(), new.questions(), strict=True):
        assert before.requests[0].pairs[0].context.text in after.requests[0].prompt.text
        assert after.exchange.gold == before.exchange.gold


# -- scorers as metrics of every dialect ----------------------------------------------------------------------------

CHECKED = [
    {"name": "includes", "args": {"ignore_case": False}},
    {"name": "match", "args": {"location": "any", "numeric": True}},
    {"name": "pattern", "args": {"pattern": "is ([0-9]+)"}},
    {"name": "answer", "args": {"pattern": "line"}},
    {"name": "exact"},
    {"name": "f1", "args": {"stop_words": ["it"]}},
    {"name": "math"},
]


def said(prompt):
    return ["It is 1.", "ANSWER: 2", "3", "**4**", "it is $5$", "it"][int("".join(filter(str.isdigit, prompt.text)))]


def scored(exam, folder):
    (result,) = run_exams([exam], ScriptedEngine(function=said), log=folder / "log.db").results.values()
    return result


def rewritten(exam, form, folder):
    """The exam in another form, read back; and whether its scores are said to be others."""
    made = convert_exam(exam, form)
    folder.mkdir()
    (folder / made.rows_file).write_text(made.rows_text())
    file = folder / {"lm-eval": "made.yaml", "unitxt": "made.json", "opencompass": "made_gen.py"}.get(form, form)
    file.write_text(made.text)
    (found,) = resolve_tasks([str(file)])
    return found, [each.text for each in made.lost if each.part == "scores"]


@pytest.mark.parametrize("form", ["lm-eval", "unitxt", "opencompass"])
@pytest.mark.parametrize("scorer", CHECKED, ids=lambda each: each["name"])
def test_a_converted_task_has_the_scores_of_its_scorer_and_gets_it_back(tmp_path, form, scorer):
    put(tmp_path, [{"field_spec": FIELDS, "solvers": [{"name": "generate"}], "scorers": [scorer]}])
    with settings.context(hub_dir=str(tmp_path)):
        (own,) = resolve_tasks(["hf/org/data"])
        wanted = scored(own, tmp_path)
        there, lost = rewritten(own, form, tmp_path / "there")
        assert lost == []
        found = scored(there, tmp_path)
        assert 0 < wanted["score"] < 1
        assert (found["score"], found["n"]) == (wanted["score"], wanted["n"])
        back, lost = rewritten(there, "eval.yaml", tmp_path / "back")
        assert lost == []
        assert back.own.scorers == (Step(scorer["name"], scorer.get("args", {})),)
        assert scored(back, tmp_path)["score"] == wanted["score"]


def test_scorers_that_only_an_eval_yaml_has_are_named(hub):
    (choosing,) = resolve_tasks(["hf/org/data/choose"])
    assert "scorer choice: only an eval.yaml has it" in [str(each) for each in convert_exam(choosing, "lm-eval").lost]


def test_scorers_are_found_with_their_system_only(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"q": "a", "a": "b"}\n')
    task = {
        "task": "t",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
        "test_split": "test",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
        "metric_list": [{"metric": "match"}],
    }
    (tmp_path / "t.yaml").write_text(json.dumps(task))
    (exam,) = resolve_tasks([str(tmp_path / "t.yaml")])
    with pytest.raises(ProctorError, match="there is no metric 'match'"):
        run_exams([exam], ScriptedEngine(answer="b"), log=tmp_path / "log.db")


@pytest.mark.parametrize(
    "entry, said",
    [
        ({"metric": "inspect:pattern", "pattern": "("}, "does not compile|unterminated|missing"),
        ({"metric": "inspect:match", "location": "ende"}, "did you mean 'end'"),
        ({"metric": "inspect:math", "timeout": 0}, "0 seconds for a formula"),
        ({"metric": "inspect:answer"}, "needs the argument 'pattern'"),
        ({"metric": "inspect:exact", "ignore_case": True}, "has no argument 'ignore_case'"),
    ],
)
def test_arguments_of_scorers_are_checked_before_anybody_is_asked(tmp_path, entry, said):
    (tmp_path / "rows.jsonl").write_text('{"q": "a", "a": "b"}\n')
    task = {
        "task": "t",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
        "test_split": "test",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
        "metric_list": [entry],
    }
    (tmp_path / "t.yaml").write_text(json.dumps(task))
    engine = ScriptedEngine(answer="b")
    with pytest.raises(ProctorError, match=said):
        run_exams(resolve_tasks([str(tmp_path / "t.yaml")]), engine, log=tmp_path / "log.db")
    assert not (tmp_path / "log.db").exists()


@pytest.mark.parametrize(
    "scorer, score",
    [
        ({"name": "metrics.accuracy"}, 1.0),
        ({"name": "AccEvaluator"}, 100.0),
        ({"name": "lm_eval:exact_match", "args": {"ignore_case": True}}, 1.0),
    ],
)
def test_metrics_of_other_systems_score_samples(tmp_path, scorer, score):
    put(tmp_path, [{**TASKS[0], "scorers": [scorer]}])
    with settings.context(hub_dir=str(tmp_path)):
        (exam,) = resolve_tasks(["hf/org/data"])
        engine = ScriptedEngine(function=lambda prompt: answering(prompt).removeprefix("It is ").rstrip("."))
        (found,) = run_exams([exam], engine, log=tmp_path / "log.db").results.values()
    assert (found["score"], found["n"]) == (score, 6)


def test_a_metric_of_all_samples_refuses_epochs(tmp_path):
    put(tmp_path, [{**TASKS[0], "epochs": 2, "scorers": [{"name": "metrics.accuracy"}]}])
    with settings.context(hub_dir=str(tmp_path)), pytest.raises(ProctorError, match="each is asked 2 times"):
        resolve_tasks(["hf/org/data"])


def test_what_becomes_of_rows_can_be_looked_at_step_by_step(hub, capsys):
    put(hub, [{**TASKS[1], "shuffle_choices": True}])
    (exam,) = resolve_tasks(["hf/org/data"])
    (first, rows), (second, samples) = ((name, list(each["test"])) for name, each in exam.rows.stages())
    assert (first, second) == ("the dataset is loaded", "field_spec makes samples, choices in a drawn order")
    assert rows == ROWS
    assert [sorted(each["choices"]) for each in samples] == [sorted(each["options"]) for each in ROWS]
    put(hub, [{**TASKS[0], "field_spec": {**FIELDS, "target": "nothing"}}])
    (broken,) = resolve_tasks(["hf/org/data"])
    *_, (name, usable) = broken.rows.stages()
    assert (name, list(usable["test"])) == ("field_spec makes samples", [])


@pytest.mark.parametrize("name", ["hf/org", "hf/org/data/write/more", "hf//data", "hf/org/"])
def test_names_that_are_no_datasets(hub, name):
    with pytest.raises(ProctorError, match="names no dataset"):
        resolve_tasks([name])


def test_a_judge_sees_the_conversation_where_the_file_says_so(hub, tmp_path):
    put(
        hub,
        [
            {
                **JUDGED[0],
                "scorers": [{"name": "model_graded_qa", "args": {"include_history": True, "template": "<{question}>"}}],
            }
        ],
    )
    heard = []
    judge = ScriptedEngine(function=lambda prompt: heard.append(prompt.messages[0]["content"]) or "GRADE: C")
    with settings.context(judge=judge):
        run("hf/org/data", tmp_path, limit=1)
    assert heard == ["<What comes after 0?\n\nAssistant: It is 1.>"]


def test_samples_that_belong_together_do_so_in_the_exam(hub):
    put(hub, [{**TASKS[0], "clusters": "topic"}])
    (exam,) = resolve_tasks(["hf/org/data"])
    assert exam.clusters == "topic"
