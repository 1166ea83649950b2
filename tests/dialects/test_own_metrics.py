"""Metrics in a Python file of the user's, for exams of every dialect."""

import json

import pytest
from tests_commands import proctor

from proctor.dialects.own_metrics import metric_in
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError, TrustError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

CHECKS = """
from beside import LIMIT
from proctor.scoring import InstanceMetric

def short(answer):
    return len(answer) <= LIMIT

def near(prediction, expected, country, *, row, factor=2):
    assert row["country"] == country
    return factor * abs(len(prediction) - len(expected))

def odd(output, references):
    return {"a": 1}

def wanting(answer, planet):
    return 1

async def slow(answer):
    return 1

def spread(*answers):
    return 1

class Brevity(InstanceMetric):
    main_score: str = "brevity"
    reduction_map: dict = {"mean": ["brevity"]}

    def compute(self, references, prediction, task_data):
        return {"brevity": float(len(prediction))}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "one.py").write_text("def score(answer, right):\n    return answer == right\n")
    (tmp_path / "beside.py").write_text("LIMIT = 5\n")
    (tmp_path / "q.csv").write_text("country,answer\nPeru,Lima\nChile,Santiago\n")
    task = {"task": "t", "dataset_path": "csv", "dataset_kwargs": {"data_files": "q.csv"}, "test_split": "train"}
    asked = {"doc_to_text": "{{country}}", "doc_to_target": "{{answer}}", "output_type": "generate_until"}
    (tmp_path / "task.yaml").write_text(json.dumps({**task, **asked}))
    return tmp_path


def exam_of(name, *metrics):
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks(
            [name], ExamOptions(metric=metrics, **({"prompt": ("{country}?",)} if name == "q.csv" else {}))
        )
        return exam


def scores(exam):
    with settings.context(trust_code=True):
        (found,) = run_exams([exam], ScriptedEngine(answer="Lima")).results.values()
    return found


@pytest.mark.parametrize("name", ["q.csv", "task.yaml"])
@pytest.mark.parametrize(
    "metric, score_name, score", [
        ("checks.py:short", "short", 1.0), ("checks.py:near", "near", 4.0), ("one.py", "one", 0.5), ("checks.py:Brevity", "brevity", 4.0),
    ],
)  # fmt: skip
def test_a_function_or_a_class_scores_answers(name, metric, score_name, score):
    found = scores(exam_of(name, metric))
    assert (found["score_name"], found["score"], found["n"]) == (score_name, score, 2)


@pytest.mark.parametrize(
    "metric, why",
    [
        ("checks.py", "has 7 metrics"),
        ("checks.py:shrt", "did you mean 'short'"),
        ("none.py:short", "there is no file none.py"),
        ("beside.py", "has no metrics"),
        ("broken.py:x", "broken.py cannot be run"),
    ],
)
def test_what_is_no_metric_is_refused(folder, metric, why):
    (folder / "broken.py").write_text("1 / 0")
    with pytest.raises(ProctorError, match=why), settings.context(trust_code=True):
        metric_in(metric)


@pytest.mark.parametrize("metric, why", [("checks.py:slow", "asynchronous"), ("checks.py:spread", "given by name")])
def test_a_function_that_cannot_be_called_is_refused_before_anybody_is_asked(metric, why):
    exam = exam_of("q.csv", metric)
    with settings.context(trust_code=True):
        assert why in str([*exam.problems()])


@pytest.mark.parametrize(
    "metric, why", [("checks.py:odd", "neither true, false nor a number"), ("checks.py:wanting", "takes 'planet'")]
)
def test_an_answer_that_cannot_be_scored_is_a_failure_and_no_zero(metric, why):
    found = scores(exam_of("q.csv", metric))
    assert (found["score"], found["failures"]) == (None, 2)


def test_code_runs_where_the_user_says_so_and_its_digest_is_held(folder):
    with pytest.raises(TrustError, match="say --trust-code"):
        metric_in("one.py")
    for name in ("q.csv", "task.yaml"):
        before = exam_of(name, "checks.py:short").definition
        (folder / "beside.py").write_text("LIMIT = 50\n")
        after = exam_of(name, "checks.py:short").definition
        assert before.held["checks.py"] == after.held["checks.py"]
        assert before.held["beside.py"] != after.held["beside.py"]
        assert before.metrics != after.metrics
        (folder / "beside.py").write_text("LIMIT = 5\n")


def test_metrics_of_one_word_are_told_apart_by_what_they_look_for():
    made = [exam_of("q.csv", metric).definition.metrics for metric in ("contains:a", "contains:b", "contains:a")]
    assert made[0] == made[2] != made[1]


def test_one_is_known_by_its_code_and_not_by_where_it_lies(folder):
    for place in ("a", "b"):
        (folder / place).mkdir()
        (folder / place / "x.py").write_text(
            "def made(n):\n    def inner(answer):\n        return n\n    return inner\none = made(1)\n"
        )
    for name in ("q.csv", "task.yaml"):
        found = [exam_of(name, metric).definition for metric in ("a/x.py:one", "b/x.py:one")]
        assert found[0].metrics == found[1].metrics
        (folder / "b" / "x.py").write_text("def one(answer):\n    return 2\n")
        both = exam_of(name, "a/x.py:one", "b/x.py:one").definition.held
        assert sum("x.py" in each for each in both) == 2
        (folder / "b" / "x.py").write_text((folder / "a" / "x.py").read_text())
    assert scores(exam_of("q.csv", "a/x.py:one"))["score"] == 1.0


def test_the_file_of_a_class_is_held_also_where_a_package_has_its_name(folder):
    (folder / "yaml.py").write_text(CHECKS)
    made = [exam_of("task.yaml", "yaml.py:Brevity").definition]
    (folder / "yaml.py").write_text(CHECKS.replace("float(len(prediction))", "1.0"))
    made.append(exam_of("task.yaml", "yaml.py:Brevity").definition)
    assert made[0].metrics != made[1].metrics


def test_a_word_that_looks_for_the_name_of_a_file_is_no_code():
    assert scores(exam_of("q.csv", "includes:setup.py"))["score"] == 0.0


def test_keys_in_what_it_raises_are_not_filed(folder, monkeypatch):
    monkeypatch.setenv("SEARCH_API_KEY", "sk-1234567890-of-a-search")
    (folder / "leaky.py").write_text(
        "import os\ndef leaky(answer):\n    raise ValueError(os.environ['SEARCH_API_KEY'])\n"
    )
    with settings.context(trust_code=True):
        done = run_exams([exam_of("q.csv", "leaky.py")], ScriptedEngine(answer="Lima"))
    said = repr(done.grades)
    assert ("ValueError: [secret]" in said, "sk-1234" in said) == (True, False)


def test_what_numpy_says_is_true_false_or_a_number(folder):
    (folder / "n.py").write_text(
        "import numpy as np\ndef same(answer, right):\n    return np.array([answer == right])[0]\n"
    )
    assert scores(exam_of("q.csv", "n.py"))["score"] == 0.5


def test_several_are_named_behind_one_option():
    done = proctor(
        "run",
        "q.csv",
        "--prompt",
        "{country}?",
        "-m",
        "dummy",
        "--metric",
        "one.py",
        "checks.py:short",
        "includes",
        "--trust-code",
    )
    assert {"one", "short", "includes"} <= set(done.stdout.split()), done.stderr


def test_predictions_are_scored_with_it(folder):
    (folder / "said.csv").write_text("country,answer,prediction\nPeru,Lima,Lima\n")
    refused = proctor("evaluate", "said.csv", "--input-column", "country", "--metric", "one.py")
    assert (refused.returncode, "say --trust-code" in refused.stderr) == (2, True)
    done = proctor("evaluate", "said.csv", "--input-column", "country", "--metric", "one.py", "--trust-code", "--json")
    assert json.loads(done.stdout)["said"]["one"] == 1.0, done.stderr
