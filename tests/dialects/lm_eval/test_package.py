"""Code of tasks that imports lm_eval."""

import importlib.util
import json
import sys
from random import Random

import pytest

from proctor.dialects.lm_eval.classes.task import Task
from proctor.dialects.lm_eval.functions import resolve_function
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import Location, ProctorError, UsageError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

ROWS = [{"q": f"q{n}", "a": "yes" if n % 2 else "no"} for n in range(6)]


@pytest.fixture
def tasks(tmp_path):
    """A checkout with tasks, trusted."""
    folder = tmp_path / "lm_eval" / "tasks"
    (folder / "mine").mkdir(parents=True)
    (folder / "other" / "deep").mkdir(parents=True)
    (folder / "other" / "words.py").write_text("GREETING = 'hello'\n")
    (folder / "other" / "deep" / "__init__.py").write_text("LEVEL = 2\n")
    (folder / "other" / "deep" / "lists.py").write_text("from . import LEVEL\nWORDS = ['a'] * LEVEL\n")
    (folder / "mine" / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    with settings.context(trust_code=True):
        yield folder / "mine"


def module(tasks, text, name="probe"):
    (tasks / "helper.py").write_text(text)
    reference = FunctionReference(f"helper.{name}", Location(str(tasks / "t.yaml")))
    return resolve_function(reference, "process_docs")


CODE = """
import lm_eval
import lm_eval.utils as utils
from lm_eval import utils as again
from lm_eval.api.metrics import mean, metric_max_over_ground_truths
from lm_eval.api.registry import register_filter
from lm_eval.filters.extraction import Filter, RegexFilter
from lm_eval.tasks.other.words import GREETING
from lm_eval.tasks.other import deep, words
from lm_eval.tasks.other.deep import lists
from ..other.deep.lists import WORDS
import evaluate

def probe():
    from lm_eval.utils import weighted_f1_score
    import evaluate as later
    return [weighted_f1_score([(1, 1), (0, 1)]), mean([1, 2]), GREETING, words.GREETING, deep.LEVEL, WORDS, lists.WORDS,
            later.load("exact_match").compute(predictions=["A"], references=["a"], ignore_case=True)["exact_match"],
            utils.general_detokenize("do n't"), again is utils or True, isinstance(RegexFilter(), Filter),
            lm_eval.utils.hash_string("") == utils.hash_string("")]
"""


def test_names_are_answered_whenever_the_code_runs(tasks):
    found = module(tasks, CODE)()
    assert found[0] == pytest.approx(1 / 3)
    assert found[1:] == [1.5, "hello", "hello", 2, ["a", "a"], ["a", "a"], 1.0, "don't", True, True, True]


def test_nobody_else_sees_them(tasks):
    before = set(sys.modules)
    module(tasks, CODE)()
    new = {name for name in set(sys.modules) - before if name.partition(".")[0] in ("lm_eval", "evaluate")}
    assert all(name.startswith("lm_eval.tasks.") for name in new), "only the task's own modules, as ever"
    assert importlib.util.find_spec("lm_eval") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("lm_eval.utils")


@pytest.mark.parametrize(
    "line, message",
    [
        ("from lm_eval.utils import weighted_f1_scores", "did you mean 'weighted_f1_score'"),
        ("import lm_eval.no_such", "no module 'lm_eval.no_such'"),
        ("from lm_eval.tasks.nowhere import x", "proctor get lm-eval"),
        ("import evaluate; evaluate.load('bleurt')", "not built in"),
        ("import evaluate; evaluate.load('f1', 'variant')", "the variant 'variant'"),
        ("import no_such_package", "no_such_package"),
    ],
)
def test_what_is_not_there_says_so(tasks, line, message):
    with pytest.raises(ProctorError, match=message.replace("(", r"\(")):
        module(tasks, line)


def run_task(tasks, values, engine, tmp_path, **options):
    lines = [f"{key}: {value}" for key, value in values.items()]
    (tasks / "t.yaml").write_text("task: t\n" + "\n".join(lines) + "\n")
    (exam,) = resolve_tasks([str(tasks / "t.yaml")], ExamOptions(**options))
    return exam, run_exams([exam], engine, log=tmp_path / "log.db").results["t"]


def data(tasks):
    files = json.dumps({"data_files": {"test": str(tasks / "rows.jsonl")}})
    return {"dataset_path": "json", "dataset_kwargs": files, "test_split": "test", "doc_to_text": '"{{q}}"',
            "doc_to_target": '"{{a}}"'}  # fmt: skip


def test_a_registered_filter_and_an_aggregation_score_a_task(tasks, tmp_path):
    (tasks / "helper.py").write_text(
        "from lm_eval.api.registry import register_filter\n"
        "from lm_eval.filters.extraction import RegexFilter\n"
        "from lm_eval.utils import weighted_f1_score as agg\n"
        "@register_filter('last_word_of_test')\n"
        "class Last(RegexFilter):\n"
        "    def __init__(self):\n"
        "        super().__init__(regex_pattern=r'(\\w+)\\W*$', group_select=-1)\n"
        "def score(doc, results):\n"
        "    return {'f1': (doc['a'], results[0])}\n"
    )
    steps = "[{name: last, filter: [{function: last_word_of_test}, {function: take_first}]}]"
    values = {
        **data(tasks), "process_results": "!function helper.score", "filter_list": steps,
        "metric_list": "[{metric: f1, aggregation: !function helper.agg, higher_is_better: true}]",
    }  # fmt: skip
    engine = ScriptedEngine(function=lambda prompt: "I say yes." if prompt.text != "q0" else "It is no!")
    _, found = run_task(tasks, values, engine, tmp_path)
    assert found["score"] == pytest.approx(0.5 * 0.5 + 0.5 * 0.75)


NAMED = {
    "a prompt": {"doc_to_text": "!function helper_of_names.text"},
    "documents": {"process_docs": "!function helper_of_names.rows"},
    "a metric": {"metric_list": "[{metric: exact_match}, {metric: !function helper_of_names.found}]"},
    "a step before": {"steps": "{function: !function helper_of_names.Plain}, "},
    "demos": {"fewshot_config": "{samples: !function helper_of_names.rows}"},
}


@pytest.mark.parametrize("where", NAMED)
def test_names_that_code_registers_are_known_wherever_a_task_names_the_code(where, tasks, tmp_path):
    place, own = NAMED[where], f"sorted in {where}"  # a name stays registered as long as the process
    (tasks / "helper_of_names.py").write_text(
        "from lm_eval.api.filter import Filter\n"
        "from lm_eval.api.registry import register_filter\n"
        f"@register_filter('{own}')\n"
        "class Sorted(Filter):\n"
        "    def apply(self, resps, docs): return [[' '.join(sorted(x.split())) for x in each] for each in resps]\n"
        "class Plain(Filter):\n"
        "    def apply(self, resps, docs): return resps\n"
        "def text(doc): return doc['q']\n"
        "def rows(docs=None): return [] if docs is None else docs\n"
        "def found(predictions, references): return 1.0\n"
    )
    steps = f"[{{name: s, filter: [{place.get('steps', '')}{{function: {own}}}, {{function: take_first}}]}}]"
    values = {**data(tasks), "metric_list": "[{metric: exact_match}]", "filter_list": steps, **place}
    values.pop("steps", None)
    engine = ScriptedEngine(function=lambda prompt: "no")
    with settings.context(trust_code=True):
        _, found = run_task(tasks, values, engine, tmp_path)
    assert found["failures"] == 0


CLASS = """
import numpy as np
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

class Mine(ConfigurableTask):
    VERSION = 3
    DATASET_PATH = "json"

    def __init__(self, config=None):
        super().__init__(config={"dataset_kwargs": {"data_files": {"test": FILE}}, "metadata": {"version": 3}})

    def has_training_docs(self): return False
    def has_validation_docs(self): return False
    def has_test_docs(self): return True
    def test_docs(self): return self.dataset["test"]
    def doc_to_text(self, doc): return "Q: " + doc["q"]
    def doc_to_target(self, doc): return doc["a"]

    def construct_requests(self, doc, ctx, chat_template=None, apply_chat_template=False, **kwargs):
        return [Instance("generate_until", doc, (ctx, {"until": ["\\n"]}), 0, **kwargs),
                Instance("loglikelihood", doc, (ctx, " " + doc["a"]), 1, **kwargs)]

    def process_results(self, doc, results):
        text, (likelihood, greedy) = results
        return {"right": text == doc["a"], "loss": -likelihood}

    def aggregation(self): return {"right": np.mean, "loss": np.mean}
    def higher_is_better(self): return {"right": True, "loss": False}
"""


def test_a_task_that_is_a_class_needs_no_lm_eval(tasks, tmp_path):
    (tasks / "helper.py").write_text(CLASS.replace("FILE", repr(str(tasks / "rows.jsonl"))))
    engine = ScriptedEngine(answer="yes", log_likelihood=lambda context, continuation: -2.0)
    exam, found = run_task(tasks, {"class": "!function helper.Mine"}, engine, tmp_path)
    assert (found["right"], found["loss"], found["n"]) == (0.5, 2.0, 6)
    assert next(iter(exam.questions())).requests[0].prompt.text == "Q: q0"


def test_demos_of_a_class_are_drawn_as_lm_eval_draws_them(tasks):
    (tasks / "helper.py").write_text(CLASS.replace("FILE", repr(str(tasks / "rows.jsonl"))))
    (tasks / "t.yaml").write_text("task: t\nclass: !function helper.Mine\n")
    (exam,) = resolve_tasks([str(tasks / "t.yaml")], ExamOptions(num_demos=2))
    prompts = [question.requests[0].prompt.text for question in exam.questions()]
    # random.Random(1234).sample(docs, 3) without the asked one, of lm_eval 0.4.13's ContextSampler
    from random import Random

    draw = Random(1234)
    for row, prompt in zip(ROWS, prompts, strict=True):
        shown = [each for each in draw.sample(ROWS, 3) if each != row][:2]
        demos = "".join(f"Q: {each['q']} {each['a']}\n\n" for each in shown)
        assert prompt == f"{demos}Q: {row['q']}"


def test_exact_match_of_the_hub_honours_its_arguments():
    from proctor.scoring.metrics.hugging_face import hub_metric

    given = {"predictions": ["A b!", "x1"], "references": ["a B", "x"]}
    assert hub_metric("exact_match")(**given)["exact_match"] == 0.0
    both = {"ignore_case": True, "ignore_punctuation": True}
    assert hub_metric("exact_match")(**given, **both)["exact_match"] == 0.5
    assert hub_metric("exact_match")(**given, **both, ignore_numbers=True)["exact_match"] == 1.0
    for name in ("wer", "exact_match", "meteor", "squad"):
        with pytest.raises(TypeError, match="nonsense"):
            hub_metric(name)(predictions=["a"], references=["a"], nonsense=1)


def test_squad_two_counts_questions_without_answer():
    from proctor.scoring.metrics.hugging_face import hub_metric

    predictions = [
        {"id": "1", "prediction_text": "the Cat", "no_answer_probability": 0.1},
        {"id": "2", "prediction_text": "", "no_answer_probability": 0.9},
        {"id": "3", "prediction_text": "a dog runs", "no_answer_probability": 0.5},
        {"id": "4", "prediction_text": "wrong", "no_answer_probability": 0.3},
    ]
    texts = [["cat"], [], ["dog"], []]
    references = [{"id": each["id"], "answers": {"text": text, "answer_start": []}} for each, text in zip(
        predictions, texts, strict=True)]  # fmt: skip
    found = hub_metric("squad_v2")(predictions=predictions, references=references)
    assert (found["exact"], found["total"], found["HasAns_exact"], found["NoAns_exact"]) == (50.0, 4, 50.0, 50.0)
    assert found["HasAns_f1"] == pytest.approx(100 * (1 + 2 / 3) / 2)
    assert (found["best_exact"], found["best_exact_thresh"]) == (75.0, 0.1)


class TwoDocuments(Task):
    """Lays out its two documents by the ways of its base class."""

    def download(self, data_dir=None, cache_dir=None, download_mode=None):
        del data_dir, cache_dir, download_mode

    def has_training_docs(self):
        return True

    def has_validation_docs(self):
        return False

    def has_test_docs(self):
        return False

    def training_docs(self):
        return ["a", "b"]

    def doc_to_text(self, doc):
        return f"{doc}?"

    def doc_to_target(self, doc):
        return f" {doc}!"

    def construct_requests(self, doc, ctx, **kwargs):
        raise NotImplementedError

    def process_results(self, doc, results):
        raise NotImplementedError

    def aggregation(self):
        return {}

    def higher_is_better(self):
        return {}


def test_demos_without_a_seed_are_refused_as_no_two_runs_would_draw_the_same():
    task = TwoDocuments()
    with pytest.raises(UsageError, match="nothing says how TwoDocuments draws its demos"):
        task.fewshot_context("c", 2)
    with pytest.raises(ValueError, match="set_fewshot_seed"):
        task.fewshot_context("c", 0)
    task.set_fewshot_seed(5)
    shown = Random(5).sample(["a", "b"], 2)
    assert task.fewshot_context("c", 2) == "".join(f"{each}? {each}!\n\n" for each in shown) + "c?"


def test_what_a_helper_reads_of_a_fork_counts_in_what_its_task_is_made_of(tasks, tmp_path, monkeypatch):
    fork = tmp_path / "installed" / "lm_eval"
    fork.mkdir(parents=True)
    (fork / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    found = []
    for text in ("def shout(doc): return doc['q'] + '!'\n", "def shout(doc): return doc['q'] + '?!'\n"):
        (fork / "own_words.py").write_text(text)
        (tasks / "helper.py").write_text(f"from lm_eval.own_words import shout\n# {text!r}\n")
        monkeypatch.setattr("proctor.guests.installed._read", {})
        exam, _ = run_task(tasks, {**data(tasks), "doc_to_text": "!function helper.shout"}, ScriptedEngine(), tmp_path)
        held = exam.definition.held
        found.append((next(iter(exam.questions())).requests[0].prompt.text, held["lm_eval.own_words"]))
    assert [each[0] for each in found] == ["q0!", "q0?!"]
    assert found[0][1] != found[1][1]
