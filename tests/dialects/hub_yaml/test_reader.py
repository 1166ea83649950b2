"""What a file says, key by key: with everything, with nothing, and with what no key takes."""

import pytest
import yaml

from proctor.dialects.hub_yaml.config import FieldSpec, HubTask, Step
from proctor.dialects.hub_yaml.reader import read_tasks
from proctor.errors import DataError, ValidationError

LEAST = {"field_spec": {}, "solvers": [{"name": "generate"}], "scorers": [{"name": "match"}]}


def read(folder, *tasks, text=None, **more):
    file = folder / "eval.yaml"
    file.write_text(text if text is not None else yaml.safe_dump({"tasks": [*tasks], **more}, sort_keys=False))
    return read_tasks(file, "org/data", "r1")


def problems(folder, *tasks, **more):
    with pytest.raises(ValidationError) as raised:
        read(folder, *tasks, **more)
    return raised.value.diagnostics


def test_a_task_that_says_nothing_has_the_defaults(tmp_path):
    (task,) = read(tmp_path, LEAST)
    assert task == HubTask(
        "org/data", "", FieldSpec("input", "target"), (Step("generate"),), (Step("match"),),
        config="default", split="test", revision="r1", shuffle_choices=False, epochs=1, reducer="mean", clusters=None,
    )  # fmt: skip
    assert task.to_dict() == {
        "dataset": "org/data", "revision": "r1", "id": "", "config": "default", "split": "test",
        "field_spec": {"input": "input", "target": "target"}, "shuffle_choices": False, "epochs": 1,
        "epoch_reducer": "mean", "solvers": [{"name": "generate", "args": {}}], "scorers": [{"name": "match", "args": {}}],
    }  # fmt: skip


def test_a_task_has_all_that_it_says(tmp_path):
    fields = {"input": "q", "target": "a", "choices": ["c", "d"], "metadata": ["m"], "input_image": "i", "id": "n"}
    said = {
        "id": "t", "config": "c", "split": "dev", "field_spec": fields, "shuffle_choices": True, "epochs": 4,
        "epoch_reducer": "at_least_2", "clusters": "page", "solvers": [{"name": "generate", "args": {"top_p": 0.5}}],
        "scorers": [{"name": "match", "args": {"location": "any"}}, {"name": "lm_eval:bleu"}],
    }  # fmt: skip
    (task,) = read(tmp_path, said, name="N", description="D", evaluation_framework="inspect-ai")
    assert task.fields == FieldSpec("q", "a", ("c", "d"), ("m",), "i")
    again = task.to_dict()
    del fields["id"]  # samples are numbered
    for key in (
        "id",
        "config",
        "split",
        "field_spec",
        "shuffle_choices",
        "epochs",
        "epoch_reducer",
        "clusters",
        "solvers",
    ):
        assert again[key] == said[key]
    assert [each["name"] for each in again["scorers"]] == ["match", "lm_eval:bleu"]
    assert (task.location.line, task.solvers[0].location.line) == (2, 20)


@pytest.mark.parametrize("value", [1, 0, "true", 2, []])
def test_a_switch_is_true_or_false_and_nothing_like_it(tmp_path, value):
    (found,) = problems(tmp_path, {**LEAST, "shuffle_choices": value})
    assert (found.what, found.path) == (f"shuffle_choices is {value!r}", "$.tasks[0].shuffle_choices")


@pytest.mark.parametrize("reducer", ["mean", "median", "mode", "max", "pass_at_3", "at_least_1", "at_least_3"])
def test_reducers_that_reach(tmp_path, reducer):
    (task,) = read(tmp_path, {**LEAST, "epochs": 3, "epoch_reducer": reducer})
    assert task.reducer == reducer


@pytest.mark.parametrize(
    "said, told",
    [
        ({"epochs": True}, "epochs is True"),
        ({"epochs": 1.5}, "epochs is 1.5"),
        ({"epochs": 3, "epoch_reducer": "at_least_4"}, "at_least_4 needs 4 answers"),
        ({"epochs": 3, "epoch_reducer": "pass_at_0"}, "there is no reducer 'pass_at_0'"),
        ({"epochs": 3, "epoch_reducer": "meanly"}, "there is no reducer 'meanly'"),
        ({"epochs": 3, "epoch_reducer": ["mean"]}, "there is no reducer ['mean']"),
        ({"split": 3}, "split is 3"),
        ({"clusters": ["page"]}, "clusters is ['page']"),
        ({"field_spec": {"files": "x"}}, "field_spec.files has no effect"),
        ({"field_spec": {"setup": "x"}}, "field_spec.setup has no effect"),
        ({"solvers": "generate"}, "a task needs solvers"),
        ({"scorers": []}, "a task needs scorers"),
        ({"scorers": [{"name": "lm_eval:nothing"}]}, "there is no scorer 'lm_eval:nothing'"),
        ({"solvers": [{"name": "lm_eval:bleu"}]}, "there is no solver 'lm_eval:bleu'"),
        ({"solvers": [{"name": "generate", "args": {1: 2}}]}, "args of 'generate' is not a mapping of names to values"),
    ],
)
def test_what_no_key_takes_is_said_once(tmp_path, said, told):
    (found,) = problems(tmp_path, {**LEAST, **said})
    assert found.what == told


def test_each_sample_is_asked_so_many_times(tmp_path):
    for epochs, times in ((1, "1 time"), (2, "2 times")):
        (found,) = problems(tmp_path, {**LEAST, "epochs": epochs, "epoch_reducer": "pass_at_3"})
        assert (found.why, found.hint) == (f"each sample is asked {times}", "epochs: 3")


@pytest.mark.parametrize(
    "ids, told",
    [
        (["a", "b"], []),
        ([None], []),
        (["a", "a"], ["two tasks have one id"] * 2),
        ([None, "b"], ["a task has no id"]),
        (["b", None, None], ["a task has no id"] * 2),
    ],
)
def test_several_tasks_have_names_of_their_own(tmp_path, ids, told):
    tasks = [{**LEAST, **({"id": each} if each else {})} for each in ids]
    if told:
        assert [each.what for each in problems(tmp_path, *tasks)] == told
    else:
        assert [each.id for each in read(tmp_path, *tasks)] == [each or "" for each in ids]


@pytest.mark.parametrize("tasks", [None, {}, []])
def test_a_file_without_tasks(tmp_path, tasks):
    (found,) = problems(tmp_path, text=yaml.safe_dump({"tasks": tasks}))
    assert (found.what, found.path) == ("the file has no tasks", "$.tasks")


def test_a_task_that_is_not_a_mapping_and_a_key_that_there_is_not_are_said_together(tmp_path):
    found = problems(tmp_path, "x", {**LEAST, "solver": 1}, nmae="N")
    assert [(each.what, each.path) for each in found] == [
        ("the file has no key 'nmae'", "$.nmae"),
        ("a task is a mapping", "$.tasks[0]"),
        ("a task has no key 'solver'", "$.tasks[1].solver"),
        ("a task has no id", "$.tasks[1]"),
    ]
    assert [each.location.line for each in found] == [9, 2, 8, 3]
    assert "did you mean 'name'" in found[0].hint


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="not valid YAML"):
        read(tmp_path, text="tasks: [")
    with pytest.raises(DataError, match="the file cannot be read"):
        read_tasks(tmp_path / "none.yaml", "org/data")
