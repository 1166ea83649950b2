"""Tasks that are Python classes: here one with lm-eval's interface and without lm-eval."""

import math
from types import SimpleNamespace

import pytest

from proctor.dialects.lm_eval.class_requests import requests_of
from proctor.dialects.lm_eval.python_task import PythonTask
from proctor.dialects.lm_eval.resolve import resolve
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import TrustError, UsageError
from proctor.ir import Choose, Failure, Generate, Likelihood, Response, Rolling
from proctor.recipes.exam import Answered
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

CODE = '''
from types import SimpleNamespace


class Instance(SimpleNamespace):
    pass


class Base:
    """What lm_eval.api.task.Task gives its subclasses, as far as it is used."""

    def __init__(self, config=None):
        self.config = SimpleNamespace(task="", num_fewshot=(config or {}).get("num_fewshot"), repeats=1)
        self.seed = None

    def set_config(self, key, value):
        setattr(self.config, key, value)

    def set_fewshot_seed(self, seed):
        self.seed = seed

    @property
    def eval_docs(self):
        return [{"q": f"Q{n}", "a": "ABC"[n % 3]} for n in range(6)]

    def build_all_requests(self, *, limit, samples, system_instruction, apply_chat_template, fewshot_as_multiturn,
                           chat_template):
        docs = list(enumerate(self.eval_docs))
        docs = [docs[n] for n in samples] if samples is not None else docs[:limit]
        demos = "".join(f"D{n} " for n in range(self.config.num_fewshot or 0))
        self._instances = []
        for number, doc in docs:
            text = (system_instruction or "") + demos + doc["q"]
            if apply_chat_template:
                text = chat_template([{"role": "user", "content": text}], add_generation_prompt=True)
            made = self.construct_requests(doc, text, metadata=(self.config.task, number, 1))
            for each in made:
                each.doc_id, each.filtered_resps = number, {}
            self._instances += made

    @property
    def instances(self):
        return self._instances

    def apply_filters(self):
        for each in self._instances:
            each.filtered_resps["none"] = each.resps[0]

    def doc_to_target(self, doc):
        return doc["a"]

    def aggregation(self):
        return {"exact": mean, "worst": min}

    def higher_is_better(self):
        return {"exact": True}


def mean(values):
    return sum(values) / len(values)


class Written(Base):
    def construct_requests(self, doc, ctx, metadata):
        options = {"until": ["\\n"], "max_gen_toks": 5}
        return [Instance(request_type="generate_until", doc=doc, arguments=(ctx, options), idx=0)]

    def process_results(self, doc, results):
        return {"exact": float(results[0] == doc["a"]), "worst": len(results[0])}


class Both(Base):
    def construct_requests(self, doc, ctx, metadata):
        return [
            Instance(request_type="generate_until", doc=doc, arguments=(ctx, {"until": ["."]}), idx=0),
            Instance(request_type="loglikelihood", doc=doc, arguments=(ctx, " none"), idx=1),
        ]

    def process_results(self, doc, results):
        text, (likelihood, greedy) = results
        return {"exact": float(text == doc["a"] and likelihood < -1)}


class Chosen(Base):
    def construct_requests(self, doc, ctx, metadata):
        return [
            Instance(request_type="loglikelihood", doc=doc, arguments=(ctx, f" {label}"), idx=n)
            for n, label in enumerate("ABC")
        ]

    def process_results(self, doc, results):
        best = max(range(3), key=lambda n: results[n][0])
        return {"exact": "ABC"[best] == doc["a"]}


class Broken(Written):
    def process_results(self, doc, results):
        if doc["q"] == "Q1":
            raise KeyError("nothing")
        return {"exact": 1.0}


class NoTask:
    pass


class Asks(Written):
    def construct_requests(self, doc, ctx, metadata):
        return [Instance(request_type="telepathy", doc=doc, arguments=(ctx,), idx=0)]


class CannotBeMade(Written):
    def __init__(self):
        raise OSError("the dataset cannot be reached")


def function():
    pass
'''


@pytest.fixture
def exam(tmp_path):
    (tmp_path / "task.py").write_text(CODE)

    def make(name, extra="", **options):
        (tmp_path / "t.yaml").write_text(f"task: t\nclass: !function task.{name}\n{extra}")
        (found,) = resolve(["t"], [str(tmp_path)], ExamOptions(**options))
        return found

    with settings.context(trust_code=True):
        yield make


def requests(exam):
    return [request for item in exam.questions() for request in item.requests]


def test_it_runs_nothing_without_trust(exam, tmp_path):
    with settings.context(trust_code=False), pytest.raises(TrustError) as caught:
        exam("Written")
    text = str(caught.value)
    assert "the task 't' is Python code: 'task.Written'" in text
    assert str(tmp_path / "task.py") in text
    assert "--trust-code" in text


def test_generation(exam, tmp_path):
    made = exam("Written", num_demos=2, limit=4)
    first = requests(made)[0]
    assert isinstance(first, Generate)
    assert first.prompt.text == "D0 D1 Q0"
    assert (first.decoding.stop, first.decoding.max_tokens) == (("\n",), 5)
    result = run_exams([made], ScriptedEngine(answer="B"), log=tmp_path / "log.db")
    scores = result.results["t"]
    assert scores["exact"] == 0.25
    assert scores["exact_stderr"] == pytest.approx(math.sqrt(0.25 * 0.75 / 3))
    assert scores["worst"] == 1
    assert scores["worst_stderr"] == "N/A"
    assert (scores["n"], scores["score_name"]) == (4, "exact")
    assert result.grades["t"].predictions == ["B"] * 4


def test_a_class_is_repeated_like_every_exam(exam, tmp_path):
    made = exam("Written", limit=4, repeats=3, reduce=("mean", "best"))
    result = run_exams([made], ScriptedEngine(answer="B"), log=tmp_path / "log.db")
    scores = result.results["t"]
    assert result.run["requests"]["asked"] == 12
    assert (scores["exact"], scores["exact:best"], scores["score"]) == (0.25, 0.25, 0.25)
    assert scores["repeats"]["repeats"] == 3


def test_requests_of_two_kinds_for_one_document(exam, tmp_path):
    made = exam("Both")
    kinds = [type(each) for each in requests(made)[:2]]
    assert kinds == [Generate, Likelihood]
    engine = ScriptedEngine(answer="A", log_likelihood=lambda context, text: -2.0)
    assert run_exams([made], engine, log=tmp_path / "log.db").results["t"]["exact"] == pytest.approx(2 / 6)


def test_several_continuations_are_one_choice(exam, tmp_path):
    made = exam("Chosen", samples={"t": [0, 2]})
    first, second = requests(made)
    assert isinstance(first, Choose)
    assert [pair.continuation for pair in second.pairs] == [" A", " B", " C"]
    engine = ScriptedEngine(answer="", log_likelihood=lambda context, text: -float("CBA".index(text.strip())))
    assert run_exams([made], engine, log=tmp_path / "log.db").results["t"]["exact"] == 0.5


def test_a_share_of_the_documents_a_chat_and_a_system_text(exam):
    made = exam("Written", limit=0.5, system_prompt="S ", apply_chat_template=True)
    found = requests(made)
    assert len(found) == 3
    assert found[0].prompt.messages == ({"role": "user", "content": "S Q0"},)


def test_what_fails_is_that_documents_failure(exam):
    made = exam("Broken", limit=4)
    lost = Response(failure=Failure("timeout", "late"))
    grade = made.grade(
        Answered(item, (lost if item.number == 3 else Response(texts=("x",)),)) for item in made.questions()
    )
    assert sorted(grade.failures) == [1, 3]
    assert "KeyError" in grade.failures[1].message
    assert grade.failures[3].kind == "timeout"
    assert grade.scores["exact"] == 1.0
    assert grade.scores["exact_n"] == 2


def test_nothing_answered_gives_no_scores(exam):
    made = exam("Written", limit=1)
    grade = made.grade(Answered(item, (Response(failure=Failure("x", "y")),)) for item in made.questions())
    assert grade.scores == {"num_of_instances": 0, "num_of_failures": 1}


def test_predictions_only(exam):
    made = exam("Written", limit=2, predict_only=True)
    grade = made.grade(Answered(item, (Response(texts=("x",)),)) for item in made.questions())
    assert (grade.table, grade.main) == ([], None)
    assert grade.predictions == ["x", "x"]


def test_groups_hold_them(exam, tmp_path):
    exam("Written")
    (tmp_path / "g.yaml").write_text("group: g\ntask: [t]\naggregate_metric_list: [{metric: exact}]")
    found = resolve(["g"], [str(tmp_path)])
    assert isinstance(found[0].own, PythonTask)
    result = run_exams(found, ScriptedEngine(answer="B"), log=tmp_path / "log.db")
    assert result.results["g"]["exact"] == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    "name, message",
    [
        ("NoTask", "the class NoTask of the task 't' is not a task of lm-eval"),
        ("function", "not a class"),
        ("Missing", "has no 'Missing'"),
    ],
)
def test_what_is_no_task_says_so(exam, name, message):
    with pytest.raises((UsageError, Exception), match=message):
        exam(name)


def test_templates_do_not_apply(exam):
    with pytest.raises(UsageError, match="has no templates"):
        exam("Written", template="cloze")


def test_requests_that_no_engine_answers(exam):
    with pytest.raises(UsageError, match="telepathy"):
        requests(exam("Asks"))


def test_a_class_that_cannot_be_made_says_why(exam):
    with pytest.raises(Exception, match="making the task 't'") as caught:
        requests(exam("CannotBeMade"))
    assert "the dataset cannot be reached" in str(caught.value)


def test_the_specification_names_class_and_keys(exam):
    spec = exam("Written", extra="num_fewshot: 0", num_demos=3).specification()
    assert spec["class"] == "task.Written"
    assert spec["task"]["num_fewshot"] == "0"
    assert requests(exam("Written", extra="num_fewshot: 0", num_demos=3))[0].prompt.text == "Q0"


def test_rolling_likelihoods(exam):
    each = SimpleNamespace(request_type="loglikelihood_rolling", arguments=("text",))
    assert list(requests_of([each], is_laid_out=False)) == [Rolling("text")]
