"""What a program puts upon lm-eval's classes of tasks, or upon a task, is called; numbers are lm-eval 0.4.13's."""

import inspect
import json

import pytest

from proctor import compat
from proctor.compat.lm_eval_names.evaluation import evaluate, simple_evaluate
from proctor.compat.lm_eval_names.tasks import TaskManager, get_task_dict
from proctor.dialects.lm_eval.classes.configurable_task import ConfigurableTask
from proctor.dialects.lm_eval.classes.samplers import ContextSampler
from proctor.dialects.lm_eval.classes.task import Task
from proctor.errors import UsageError
from proctor.guests.lm_eval.model import LM

ROWS = [
    {"q": "a b", "a": "c", "c": ["a", "c"]},
    {"q": "hi user a", "a": "hi", "c": ["hi", "b a", "user"]},
    {"q": "c c b", "a": "b", "c": ["b", "user b"]},
]
KEYS = """
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl, train: rows.jsonl}}
test_split: test
fewshot_split: train
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
"""
TASKS = {
    "writes": "output_type: generate_until\ngeneration_kwargs: {until: ['\\n']}\n",
    "chooses": "output_type: multiple_choice\ndoc_to_choice: '{{c}}'\nmetric_list: [{metric: acc}]\n",
    "reads": "output_type: loglikelihood_rolling\nmetric_list: [{metric: byte_perplexity}]\n",
    "likes": "output_type: loglikelihood\nmetric_list: [{metric: acc}]\n",
}
PLAIN = {"writes": 1 / 3, "chooses": 2 / 3}


class Model(LM):
    def loglikelihood(self, requests):
        return [(-float(len(each.args[1])), False) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [-float(len(each.args[0])) for each in requests]

    def generate_until(self, requests):
        return ["c"] * len(requests)

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return "|".join(each["content"] for each in chat_history)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    for name, more in TASKS.items():
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}\n{KEYS}{more}")


def _manager():
    return TaskManager(include_path=".", include_defaults=False)


def _told(found):
    main = {"writes": "exact_match,none", "chooses": "acc,none"}
    scores = {name: row[main[name]] for name, row in found["results"].items()}
    return scores, {name: [each["arguments"][0][0] for each in rows] for name, rows in found["samples"].items()}


def _sat(**more):
    return _told(simple_evaluate(Model(), tasks=list(PLAIN), task_manager=_manager(), bootstrap_iters=0, **more))


def _other_requests(before):
    return lambda self, doc, ctx, **more: before(self, doc, ctx + "!", **more)


def test_methods_in_place_of_those_of_the_class_are_called(monkeypatch):
    questions = [each["q"] for each in ROWS]
    assert _sat() == (PLAIN, dict.fromkeys(PLAIN, questions))

    def put(name, value, kind=ConfigurableTask, **more):
        with monkeypatch.context() as patched:
            patched.setattr(kind, name, value, raising=False)
            return _sat(**more)

    chosen = property(lambda self: self.test_docs().select([2, 1]))
    assert put("eval_docs", chosen, Task) == ({"writes": 0.0, "chooses": 1.0}, dict.fromkeys(PLAIN, questions[:0:-1]))
    shown = put("doc_to_text", lambda self, doc, *_: f"X{doc['q']}")
    assert shown == (PLAIN, {key: [f"X{each}" for each in questions] for key in PLAIN})
    shown = put("construct_requests", _other_requests(ConfigurableTask.construct_requests))
    assert shown == (PLAIN, {key: [f"{each}!" for each in questions] for key in PLAIN})
    shown = put("fewshot_context", lambda self, doc, *_, **__: f"C {doc['q']}", num_fewshot=1)
    assert shown == (PLAIN, {key: [f"C {each}" for each in questions] for key in PLAIN})
    both = {"writes": "exact_match", "chooses": "acc"}
    assert put("process_results", lambda self, *_: {both[self.config.task]: 5.0})[0] == dict.fromkeys(PLAIN, 5.0)
    found = put("aggregation", lambda self: {both[self.config.task]: lambda values: float(len(values))})[0]
    assert found == dict.fromkeys(PLAIN, 3.0)
    every_other = put("doc_iterator", lambda self, *_, **__: ((n, self.eval_docs[n]) for n in (0, 2)))
    assert every_other == ({"writes": 0.5, "chooses": 0.5}, dict.fromkeys(PLAIN, questions[::2]))
    shown = put("sample", lambda self, n, *_, **__: list(self.df)[-n:], ContextSampler, num_fewshot=1)[1]
    assert shown == {key: [f"c c b b\n\n{each}" for each in questions] for key in PLAIN}
    assert _sat() == (PLAIN, dict.fromkeys(PLAIN, questions))


@pytest.mark.parametrize(
    "change, questions, score",
    [
        (lambda task: setattr(task, "process_results", lambda doc, results: {"exact_match": 5.0}), None, 5.0),
        (lambda task: setattr(task, "doc_to_text", lambda doc, *_: doc["a"]), ["c", "hi", "b"], 1 / 3),
        (lambda task: setattr(task.config, "doc_to_text", "{{a}}?"), ["c?", "hi?", "b?"], 1 / 3),
        (lambda task: task.set_config("doc_to_text", "{{a}}?"), ["c?", "hi?", "b?"], 1 / 3),
        (lambda task: task.dataset.__setitem__("test", task.dataset["test"].select([0])), ["a b"], 1.0),
        (lambda task: task.config, None, 1 / 3),
    ],
)
def test_what_is_changed_of_a_named_task_counts(change, questions, score):
    tasks = get_task_dict(["writes"], _manager())
    change(tasks["writes"])
    found = _told(evaluate(Model(), tasks, bootstrap_iters=0))
    assert found == ({"writes": score}, {"writes": questions or [each["q"] for each in ROWS]})


def test_a_task_is_filed_under_the_name_that_a_program_gives_it():
    found = evaluate(Model(), {"other": get_task_dict(["writes"], _manager())["writes"]}, bootstrap_iters=0)
    assert list(found["results"]) == ["other"]


OF_LM_EVAL = (
    "aggregation apply_filters build_all_requests build_qa_turn config construct_requests count_bytes count_words "
    "doc_iterator doc_to_choice doc_to_prefix doc_to_target doc_to_text download dump_config eval_docs "
    "fewshot_context fewshot_docs has_test_docs higher_is_better instances multiple_input_context process_results "
    "resolve_field set_fewshot_seed test_docs"
).split()
"""Methods of ``ConfigurableTask`` that lm-eval 0.4.13 calls while these tasks are evaluated, observed there."""
OF_FILES = {"dump_config": "results have the task's keys as they are"}
"""Those that change no request and no score."""


@pytest.mark.parametrize("name", OF_LM_EVAL)
def test_a_method_of_a_derived_class_is_called_or_refused(name):
    calls = []

    def noting(*given, **more):
        calls.append(name)
        return function(*given, **more)

    made = inspect.getattr_static(ConfigurableTask, name, None)
    function = getattr(made, "fget", None) or getattr(made, "__func__", made)
    wrap = type(made) if isinstance(made, property | staticmethod | classmethod) else lambda each: each
    try:
        kind = type("Own", (ConfigurableTask,), {name: wrap(noting), "__module__": __name__})
    except UsageError as error:
        assert f"Own.{name} would never be called" in str(error)
        return
    for task in get_task_dict(list(TASKS), _manager()).values():
        given = kind(config={**task.config.to_dict(), "task": "own", "num_fewshot": 1, "gen_prefix": "so"})
        evaluate(Model(), {"own": given}, bootstrap_iters=0)
    assert calls or name in OF_FILES


def test_a_derived_class_is_refused_under_compat_too():
    compat.install()
    try:
        from lm_eval.api.task import ConfigurableTask as Theirs

        with pytest.raises(UsageError, match="build_qa_turn would never be called"):
            type("Own", (Theirs,), {"build_qa_turn": lambda self: [], "__module__": "a_program"})
    finally:
        compat.uninstall()
