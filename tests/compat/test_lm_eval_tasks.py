"""``lm_eval.tasks``: what there is by each name, and what a name, a file or a configuration makes."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from proctor.compat.lm_eval_names.tasks import (
    Kind,
    TaskManager,
    get_sample_size,
    get_task_dict,
    get_task_name_from_config,
    get_task_name_from_object,
    load_yaml,
)
from proctor.errors import UsageError

KEYS = """
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
"""


@pytest.fixture
def manager(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"q": each, "a": "x"}) + "\n" for each in "abc"))
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}\ntag: both\n{KEYS}")
    (tmp_path / "all.yaml").write_text(
        "group: all\ngroup_alias: All\ntask: [one, inner]\nmetadata: {version: 3}\n"
        "aggregate_metric_list: [{metric: exact_match, weight_by_size: false}]\n"
    )
    (tmp_path / "inner.yaml").write_text("group: inner\ntask: [two]\n")
    return TaskManager(include_path=".", include_defaults=False, metadata={"more": 1})


def test_names_are_told_by_their_kind(manager):
    assert (manager.all_groups, manager.all_tags, manager.all_subtasks) == (["all", "inner"], ["both"], ["one", "two"])
    assert manager.all_tasks == ["all", "both", "inner", "one", "two"]
    assert manager.match_tasks(["t*", "al?"]) == ["all", "two"]
    index = manager.task_index
    kinds = {name: entry.kind for name, entry in index.items()}
    assert kinds == {"all": Kind.GROUP, "inner": Kind.GROUP, "both": Kind.TAG, "one": Kind.TASK, "two": Kind.TASK}
    assert index["one"].yaml_path == Path(index["one"]["yaml_path"])
    assert index["one"].yaml_path.samefile("one.yaml")
    assert index["one"].cfg["doc_to_text"] == "{{q}}"
    assert (index["both"].yaml_path, index["both"].cfg, index["both"].tags) == (None, None, {"one", "two"})
    assert TaskManager(include_path=["."], include_defaults=False).all_tags == ["both"]
    assert TaskManager(include_defaults=False).all_tasks == []


def test_a_group_is_loaded_with_its_members_by_name(manager):
    found = manager.load("all")
    assert sorted(found["tasks"]) == ["one", "two"]
    assert found["group_map"] == {"all": ["one", "inner"], "inner": ["two"]}
    group = found["groups"]["all"]
    assert (group.alias, group.metadata["version"], group.metadata["more"]) == ("All", 3, 1)
    assert [(each.metric, each.weight_by_size) for each in group.aggregate_metric_list] == [("exact_match", False)]
    ((nested, inner),) = get_task_dict("all", manager).items()
    assert (nested.group, nested.group_alias) == ("all", "All")
    assert [key if isinstance(key, str) else key.group for key in inner] == ["one", "inner"]
    assert list(get_task_dict(["both"], manager)) == ["one", "two"]


def test_a_task_in_two_groups_or_alone_and_in_one_is_refused(manager):
    for names in (["one", "all"], ["all", "inner"]):
        with pytest.raises(UsageError, match="Duplicate task"):
            manager.load(names)
    assert sorted(manager.load(["one", "two", "one"])["tasks"]) == ["one", "two"]


def test_a_task_is_changed_by_keys_beside_its_name_and_a_group_in_all_its_tasks(manager):
    task = manager.load({"task": "one", "doc_to_text": "{{a}}?"})["tasks"]["one"]
    assert task.doc_to_text({"q": "a", "a": "x"}) == "x?"
    assert task.OUTPUT_TYPE == "generate_until"
    changed = manager.load({"group": "all", "doc_to_text": "{{a}}!"})["tasks"]
    assert {name: each.doc_to_text({"q": "a", "a": "x"}) for name, each in changed.items()} == {
        "one": "x!",
        "two": "x!",
    }
    with pytest.raises(UsageError, match="'all' is a group"):
        manager.load({"task": "all", "doc_to_text": "x"})


@pytest.mark.parametrize(
    "spec, words",
    [
        (3, "3 is not a task"),
        ({"doc_to_text": "x"}, "must contain 'task' or 'group'"),
        ({"group": "g", "task": ["one"]}, "a group is written out: 'g'"),
    ],
)
def test_what_is_not_a_task_is_refused(manager, spec, words):
    with pytest.raises(UsageError, match=words):
        manager.load([spec])


def test_a_name_that_means_nothing_is_a_key_that_is_missing(manager):
    for spec in ("onee", {"group": "onee"}):
        with pytest.raises(KeyError, match="onee"):
            manager.load(spec)


def test_a_handle_of_a_group_is_not_one_task(manager):
    with pytest.raises(UsageError, match="'all' is not one task"):
        manager.handle("all").task
    assert manager.handle("one").task.config.task == "one"
    assert not hasattr(manager.handle("one"), "__nothing__")
    handle = manager.handle("one")
    assert (handle.task_name, handle.changed, manager.handle(handle)) == ("one", None, handle)
    handle.config.doc_to_text = "{{a}}"
    assert handle.changed is handle.task


def test_task_files_are_read_with_their_functions_as_places(manager):
    assert manager
    Path("code.yaml").write_text(
        "task: code\ndoc_to_text: !function helpers.shown\nlisted: [{a: !function helpers.b}]\n"
    )
    said = load_yaml("code.yaml", resolve_func=False)
    assert Path(said["doc_to_text"]) == Path.cwd() / "helpers.shown"
    assert Path(said["listed"][0]["a"]).name == "helpers.b"
    with pytest.raises(UsageError, match="with what they include"):
        load_yaml("code.yaml", recursive=False)


def test_a_task_without_a_name_is_called_by_its_data_or_its_class():
    assert get_task_name_from_config({"task": "a", "dataset_path": "d"}) == "a"
    assert get_task_name_from_config({"dataset_path": "d", "dataset_name": "n"}) == "d_n"
    assert get_task_name_from_config({"dataset_path": "d"}) == "d"
    with pytest.raises(ValueError, match="has no name"):
        get_task_name_from_config({"dataset_name": "n"})
    for named, expected in (
        ({"config": {"task": "a"}, "name": "b"}, "a"),
        ({"config": SimpleNamespace(task="a")}, "a"),
        ({"config": {}, "EVAL_HARNESS_NAME": "b", "name": "c"}, "b"),
        ({"name": "c"}, "c"),
        ({}, "SimpleNamespace"),
    ):
        assert get_task_name_from_object(SimpleNamespace(**named)) == expected


@pytest.mark.parametrize("limit, count", [(None, None), (7.0, 7), (1, 1), (0.5, 2), (0.01, 1)])
def test_a_limit_is_a_number_or_a_share_rounded_up(limit, count):
    assert get_sample_size(SimpleNamespace(eval_docs=[0, 1, 2]), limit) == count
