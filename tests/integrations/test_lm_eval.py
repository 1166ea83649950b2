"""Exams inside lm-eval; where lm-eval is not installed, with stand-ins for the few names that are used."""

import importlib
import sys
import types
from dataclasses import dataclass, field

import pytest

from proctor.errors import UsageError

MODULE = "proctor.integrations.lm_eval"


@dataclass
class Instance:
    request_type: str
    doc: dict
    arguments: tuple
    idx: int
    metadata: tuple = (None, None, None)
    resps: list = field(default_factory=list)


@dataclass
class TaskConfig:
    task: str
    output_type: str
    generation_kwargs: dict | None
    num_fewshot: int
    metadata: dict


@pytest.fixture
def task_class(monkeypatch):
    names = {
        "lm_eval": {},
        "lm_eval.api": {},
        "lm_eval.api.instance": {"Instance": Instance},
        "lm_eval.api.task": {"Task": object},
        "lm_eval.config": {},
        "lm_eval.config.task": {"TaskConfig": TaskConfig},
        "lm_eval.filters": {"build_filter_ensemble": lambda name, steps: (name, steps)},
    }
    for name, content in names.items():
        module = types.ModuleType(name)
        module.__dict__.update(content, __path__=[])
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE).ProctorTask
    sys.modules.pop(MODULE, None)


def test_an_exam_is_asked_and_scored(task_class):
    task = task_class({"task": "mine", "recipe": "samples.arithmetic", "limit": 6})
    docs = task.test_docs()
    assert len(docs) == 6
    assert (task._config.task, task.OUTPUT_TYPE) == ("mine", "generate_until")
    contexts = [task.fewshot_context(doc, num_fewshot=0, apply_chat_template=False) for doc in docs]
    assert docs[0]["question"] in contexts[0]
    (instance,) = task.construct_requests(docs[0], contexts[0], metadata=("mine", 0, 1), chat_template=None)
    assert instance.request_type == "generate_until"
    assert instance.arguments[0] == contexts[0]
    assert instance.arguments[1]["do_sample"] is False
    right = [task.process_results(doc, [doc["references"][0]])["score"] for doc in docs]
    wrong = [task.process_results(doc, ["no idea at all"])["score"] for doc in docs]
    score = task.aggregation()["score"]
    assert score(right) == 1.0
    assert score(wrong) == 0.0
    assert score([*right[:3], *wrong[3:]]) == pytest.approx(0.5)
    assert task.higher_is_better() == {"score": True}


def test_answers_are_scored_and_thoughts_are_not(task_class, caplog):
    task = task_class({"task": "mine", "recipe": "samples.arithmetic", "limit": 4})
    docs = task.test_docs()
    task.fewshot_context(docs[0], num_fewshot=0, apply_chat_template=False)
    texts = [f"<think>hm</think>{docs[n]['references'][0]}" if n else "<think>hm" for n in range(4)]
    values = [task.process_results(doc, [text])["score"] for doc, text in zip(docs, texts, strict=True)]
    assert task.aggregation()["score"](values) == 1.0
    assert "1 of 4 answers are thoughts" in caplog.text


def test_an_exam_of_choices(task_class, tmp_path, monkeypatch):
    (tmp_path / "t.jsonl").write_text('{"q": "Q", "a": 1}\n{"q": "R", "a": 0}\n')
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: t.jsonl}}\ntest_split: test\n"
        "output_type: multiple_choice\ndoc_to_text: q\ndoc_to_choice: [x, y]\ndoc_to_target: a\n"
    )
    task = task_class({"recipe": str(tmp_path / "t.yaml")})
    assert task.OUTPUT_TYPE == "multiple_choice"
    docs = task.test_docs()
    instances = task.construct_requests(docs[0], task.fewshot_context(docs[0]))
    assert [(each.request_type, each.arguments) for each in instances] == [
        ("loglikelihood", ("Q", " x")),
        ("loglikelihood", ("Q", " y")),
    ]
    answers = [task.process_results(doc, [(-1.0, True), (-2.0, False)])["score"] for doc in docs]
    assert task.aggregation()["score"](answers) == 0.5


def test_a_task_without_a_recipe(task_class):
    with pytest.raises(UsageError, match="names no recipe"):
        task_class({"task": "x"})


def test_a_recipe_that_is_several_exams(task_class):
    with pytest.raises(UsageError, match="exams"):
        task_class({"recipe": "samples"})


def test_inside_a_real_lm_eval(tmp_path):
    lm_eval = pytest.importorskip("lm_eval")
    pytest.importorskip("lm_eval.models.dummy")
    from lm_eval.tasks import TaskManager

    (tmp_path / "mine.yaml").write_text(
        "task: mine\nclass: !function proctor.integrations.lm_eval.ProctorTask\nrecipe: samples.science\nlimit: 4\n"
    )
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = lm_eval.simple_evaluate(model="dummy", tasks=["mine"], task_manager=manager, bootstrap_iters=0)
    assert found["results"]["mine"]["sample_len"] == 4
    assert 0 <= found["results"]["mine"]["score,none"] <= 1
