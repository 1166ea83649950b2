import multiprocessing
import os
import time
from pathlib import Path

import pytest

from proctor.dialects.lm_eval import reader
from proctor.dialects.lm_eval.index import build_index, folder_index, installed_tasks
from proctor.errors import UsageError
from proctor.settings import settings


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "tasks"
    place.mkdir()
    (place / "_base").write_text("dataset_path: d\noutput_type: multiple_choice\ntag: [shared]\n")
    (place / "a.yaml").write_text("task: a\ninclude: _base\ntask_alias: Alpha\n")
    (place / "b.yaml").write_text("task: b\ntag: other\n")
    (place / "g.yaml").write_text("group: g\ntask: [a, {task: b, num_fewshot: 2}, {group: inner, task: [a]}]\n")
    (place / "list.yaml").write_text("task_list:\n  - task: l1\n  - {task: l2, tag: other}\ntag: listed\n")
    (place / "tree.yaml").write_text(
        "group: tree\nchildren:\n  x: {dataset_path: d}\n  y: {children: {z: {dataset_path: d}}}\n  r: {ref: a}\n  t: {tag: other}\n"
    )
    (place / "c.yaml").write_text("task: c\nclass: !function utils.C\n")
    (place / "none.yaml").write_text("x: 1\n")
    (place / "bad.yaml").write_text("x: [\n")
    return place


def build(folder):
    return build_index([folder], installed=False)


def test_every_kind_of_name(folder):
    found = build(folder)
    kinds = {name: entry.kind for name, entry in found.entries.items()}
    assert kinds == {
        "a": "task",
        "b": "task",
        "c": "python task",
        "g": "group",
        "l1": "task",
        "l2": "task",
        "tree": "group",
        "tree::x": "task",
        "tree::y": "group",
        "tree::y::z": "task",
        "tree::r": "group",
        "tree::t": "group",
        "shared": "tag",
        "other": "tag",
        "listed": "tag",
    }
    assert found.entries["g"].members == ("a", "b", "inner")
    assert found.entries["other"].tags == ("b", "l2")
    assert found.entries["listed"].tags == ("l1", "l2")
    assert found.entries["a"].alias == "Alpha"
    assert found.entries["a"].output_type == "multiple_choice"
    assert list(found.problems) == [str(folder / "bad.yaml")]
    assert found.names("tag") == ["listed", "other", "shared"]


def test_a_warm_start_reads_no_yaml(folder, monkeypatch):
    cold = build(folder)
    monkeypatch.setattr(reader, "TaskReader", None)
    assert build(folder).entries == cold.entries


def test_a_changed_file_is_read_again_and_no_other(folder, monkeypatch):
    build(folder)
    (folder / "b.yaml").write_text("task: b2\n")
    os.utime(folder / "b.yaml", ns=(1, 1))
    read = []

    class Spy(reader.TaskReader):
        def read(self, path):
            read.append(Path(path).name)
            return super().read(path)

    monkeypatch.setattr(reader, "TaskReader", Spy)
    assert "b2" in build(folder).entries
    assert read == ["b.yaml"]


def test_a_changed_base_reads_what_includes_it(folder):
    build(folder)
    (folder / "_base").write_text("dataset_path: d\ntag: renamed\n")
    os.utime(folder / "_base", ns=(1, 1))
    assert build(folder).entries["renamed"].tags == ("a",)


@pytest.mark.parametrize("first", ["", None])  # a base that is not a mapping; one that is missing
def test_a_base_that_is_mended_is_read_again(folder, first):
    (folder / "mended.yaml").write_text("task: mended\ninclude: _broken\n")
    if first is not None:
        (folder / "_broken").write_text(first)
    assert str(folder / "mended.yaml") in build(folder).problems
    (folder / "_broken").write_text("tag: whole\n")
    found = build(folder)
    assert str(folder / "mended.yaml") not in found.problems
    assert found.entries["mended"].tags == ("whole",)


def test_an_include_that_can_be_no_file_is_a_problem_of_its_file_and_of_no_other(folder):
    (folder / "nul.yaml").write_text('task: nul\ninclude: "a\\0b"\n')
    found = build(folder)
    assert str(folder / "nul.yaml") in found.problems
    assert "a" in found.entries


def test_a_recipe_is_no_python_task(folder):
    (folder / "unitxt").write_text("class: !function /elsewhere/lm_eval/tasks/unitxt/task.Unitxt\n")
    (folder / "r.yaml").write_text("task: r\ninclude: unitxt\nrecipe: card=cards.wnli\n")
    assert build(folder).entries["r"].kind == "task"


def test_added_and_removed_files(folder):
    build(folder)
    (folder / "new.yaml").write_text("task: new\n")
    (folder / "b.yaml").unlink()
    found = build(folder).entries
    assert "new" in found
    assert "b" not in found


def test_a_damaged_index_is_built_anew(folder):
    cold = build(folder)
    for file in (Path(settings.cache_dir) / "lm_eval").iterdir():
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert build(folder).entries == cold.entries


def test_a_cache_that_cannot_be_written_costs_time_only(folder, tmp_path):
    (tmp_path / "file").write_text("")
    with settings.context(cache_dir=tmp_path / "file"):
        assert "a" in build(folder).entries


def _build_in_process(folder, cache, queue):
    with settings.context(cache_dir=Path(cache)):
        queue.put(len(folder_index(str(folder)).entries))


def test_processes_at_the_same_time(folder, tmp_path):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=_build_in_process, args=(folder, tmp_path / "cache", queue)) for _ in range(3)]
    for worker in workers:
        worker.start()
    counts = {queue.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join()
    assert counts == {15}


def test_duplicates_are_remembered_with_both_places(folder):
    (folder / "z.yaml").write_text("task: a\n")
    assert build(folder).duplicates == [("a", str(folder / "a.yaml"), str(folder / "z.yaml"))]


def test_the_later_folder_wins(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.yaml").write_text("task: a\ntask_alias: Mine\n")
    found = build_index([folder, other], installed=False)
    assert found.entries["a"].alias == "Mine"


def test_an_include_path_that_is_no_folder(tmp_path):
    with pytest.raises(UsageError, match="not a folder"):
        build_index([tmp_path / "nothing"], installed=False)


def test_the_installed_package_is_not_imported(tmp_path, monkeypatch):
    package = tmp_path / "lm_eval"
    (package / "tasks").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "lm_eval", raising=False)
    assert installed_tasks() == package / "tasks"


def test_two_thousand_files_in_a_fraction_of_a_second(tmp_path):
    from tests_pace import in_time  # processes of the test above import this file without pytest

    for number in range(2000):
        (tmp_path / f"t{number}.yaml").write_text(f"task: t{number}\ninclude: _base\ndataset_name: n{number}\n")
    (tmp_path / "_base").write_text("dataset_path: d\ntag: many\n")
    build(tmp_path)
    start = time.process_time()
    assert len(build(tmp_path).entries) == 2001
    assert in_time(time.process_time() - start, 0.3)


def test_children_have_what_their_groups_share(tmp_path):
    (tmp_path / "g.yaml").write_text(
        "group: g\noutput_type: multiple_choice\ntag: outer\nchildren:\n  a: {dataset_path: d}\n"
        "  b:\n    output_type: loglikelihood\n    children:\n      c: {dataset_path: d}\n"
        "      d: {dataset_path: d, output_type: generate_until}\n"
    )
    found = build(tmp_path).entries
    kinds = {name: found[name].output_type for name in ("g::a", "g::b::c", "g::b::d")}
    assert kinds == {"g::a": "multiple_choice", "g::b::c": "loglikelihood", "g::b::d": "generate_until"}
    assert found["g::a"].tags == ()


def test_a_group_in_a_task_is_a_tag_as_before_groups_had_files_of_their_own(tmp_path):
    body = "dataset_path: json\ndoc_to_text: q\ndoc_to_target: a\n"
    (tmp_path / "a.yaml").write_text(f"group:\n  - suite\n  - other\ntag: third\ntask: a\n{body}")
    (tmp_path / "b.yaml").write_text(f"group: suite\ntask: b\n{body}")
    (tmp_path / "base").write_text(f"group: suite\n{body}")
    (tmp_path / "c.yaml").write_text("include: base\ntask: c\n")
    (tmp_path / "d.yaml").write_text("group: whole\ntask: [a, b]\n")
    entries = build_index([str(tmp_path)]).entries
    assert entries["suite"].tags == ("a", "b", "c")
    assert entries["other"].tags == entries["third"].tags == ("a",)
    assert (entries["whole"].kind, entries["suite"].kind, entries["c"].kind) == ("group", "tag", "task")
