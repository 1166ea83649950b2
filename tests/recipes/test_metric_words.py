"""``--metric`` with exams that are no tables: one word means the same everywhere, or is refused by name."""

import json

import pytest
import yaml
from tests_commands import proctor

from proctor.dialects.conversion import convert_exam
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.metric_words import is_assertion_word
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

ROWS = [{"question": "Capital of France?", "answer": "Paris"}, {"question": "Capital of Japan?", "answer": "Tokyo"}]
TASK = {
    "task": "capitals", "dataset_path": "json", "test_split": "test", "output_type": "generate_until",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}}, "doc_to_text": "{{question}}",
    "doc_to_target": "{{answer}}", "metric_list": [{"metric": "exact_match"}],
}  # fmt: skip
HUB = {
    "tasks": [
        {
            "field_spec": {"input": "question", "target": "answer"},
            "solvers": [{"name": "generate"}],
            "scorers": [{"name": "exact"}],
        }
    ]
}
CONFIG = """
datasets = [dict(abbr='capitals', type='JsonlDataset', path='rows.jsonl',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""
RECIPE = {
    "__type__": "dataset_recipe",
    "card": {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": ROWS}},
        "task": {
            "__type__": "task", "input_fields": {"question": "str"}, "reference_fields": {"answer": "str"},
            "prediction_type": "str", "metrics": ["metrics.accuracy"],
        },
    },
    "template": {"__type__": "input_output_template", "input_format": "{question}", "output_format": "{answer}"},
}  # fmt: skip
FOO = {
    "prompts": ["{{question}}"],
    "tests": [{"vars": {"question": row["question"]}, "assert": [{"type": "equals", "value": "x"}]} for row in ROWS],
}
EXAMS = {
    "task.yaml": yaml.safe_dump(TASK),
    "hub.yaml": yaml.safe_dump(HUB),
    "config.py": CONFIG,
    "recipe.json": json.dumps(RECIPE),
}
SAID = {"Capital of France?": "It is Paris, I think.", "Capital of Japan?": "It is Kyoto."}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.jsonl", "test.jsonl"):
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    for name, text in {**EXAMS, "foo.yaml": yaml.safe_dump(FOO)}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def said(prompt):
    return next(answer for question, answer in SAID.items() if question in prompt.text)


@pytest.mark.parametrize("name", EXAMS)
def test_a_word_scores_every_exam(name, folder):
    metrics = ("includes", "not-contains:Kyoto", "not-contains:I think", "f1")
    (exam,) = resolve_tasks([name], ExamOptions(metric=metrics))
    result = run_exams([exam], ScriptedEngine(function=said), log=folder / "log.db")
    (found,) = result.results.values()
    assert (found["score_name"], found["score"]) == ("includes", 0.5)
    assert [found[each] for each in ("not-contains", "not-contains_2")] == [0.5, 0.5]
    assert 0 < found["f1"] < 1
    assert found["fingerprint"]["metrics"] != _plain(name, folder)["fingerprint"]["metrics"]


def _plain(name, folder):
    (exam,) = resolve_tasks([name])
    (found,) = run_exams([exam], ScriptedEngine(function=said), log=folder / "log.db").results.values()
    return found


@pytest.mark.parametrize("name", EXAMS)
def test_a_judge_is_asked_about_every_exam_and_says_why(name, folder):
    verdict = '{"reason": "no verb", "pass": false}'
    judge = {"__type__": "scripted_engine", "answer": verdict}
    (folder / "judge.json").write_text(json.dumps(judge))
    options = ExamOptions(metric=("judge:It has a verb.",), judge=str(folder / "judge.json"))
    (exam,) = resolve_tasks([name], options)
    grade = run_exams([exam], ScriptedEngine(function=said), log=folder / "log.db").grades[exam.name]
    assert list(grade.instance_scores["judge"]) == [0.0, 0.0]
    assert list(grade.instance_scores["judge_assessment"]) == ["no verb", "no verb"]


def test_assertions_of_a_config_give_way_to_what_is_named(folder):
    (exam,) = resolve_tasks(["foo.yaml"], ExamOptions(metric=("contains:Paris",)))
    (found,) = run_exams([exam], ScriptedEngine(function=said), log=folder / "log.db").results.values()
    assert (found["score_name"], found["score"]) == ("contains", 0.5)


@pytest.mark.parametrize("name", EXAMS)
def test_what_does_not_fit_is_refused_by_name(name, folder):
    with pytest.raises(ProctorError, match="there is no metric 'incldes'"):
        resolve_tasks([name], ExamOptions(metric=("incldes",)))
    with pytest.raises(ProctorError, match="cannot honour --metric"):
        resolve_tasks([name], ExamOptions(metric=("includes",), repeats=2))
    (exam,) = resolve_tasks([name], ExamOptions(metric=("includes",)))
    with pytest.raises(ProctorError, match="is not written into other forms"):
        convert_exam(exam, "lm-eval")


def test_choices_are_compared_and_not_written(folder):
    choosing = {**TASK, "output_type": "multiple_choice", "doc_to_choice": ["Paris", "Tokyo"], "metric_list": None}
    (folder / "task.yaml").write_text(yaml.safe_dump(choosing))
    with pytest.raises(ProctorError, match="not all of its answers are texts"):
        resolve_tasks(["task.yaml"], ExamOptions(metric=("includes",)))


def test_the_command_line_and_its_run_file_keep_it(folder):
    asked = ["-m", "scripted", "-a", "answer=It is Paris", "--metric", "includes", "-q", "-o", "r"]
    first = proctor("run", "task.yaml", *asked)
    assert first.returncode == 0, first.stderr
    again = proctor("run", "r/run.yaml", "-q")
    assert again.returncode == 0, again.stderr
    results = json.loads((folder / "r" / "results.json").read_text())["results"]["capitals"]
    assert results["score_name"] == "includes"


@pytest.mark.parametrize(
    "word, told",
    [
        ("cost", "needs a threshold in US dollars"),
        ("regex:(", "does not compile"),
        ("latency(x)", r"write latency\(2000\), in milliseconds"),
        ("levenshtein(-1)", r"write levenshtein\(5\), in changes of letters"),
        ("contains(Paris)", "write contains:Paris"),
        ("word-count(x)", "there is no metric 'word-count"),
        ("equals, contains", "--metric equals --metric contains"),
    ],
)
def test_an_assertion_that_cannot_be_held_to_an_answer_is_refused_with_the_way_to_write_it(word, told):
    with pytest.raises(ProctorError, match=told):
        is_assertion_word(word)
