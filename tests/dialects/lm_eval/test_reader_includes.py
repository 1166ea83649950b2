"""What a task file may include: files of its folder and of the tree that the user named, and nothing that never ends."""

import os

import pytest
from tests_grants import granting

from proctor.dialects.lm_eval.index import build_index
from proctor.dialects.lm_eval.reader import TaskFileError, TaskReader
from proctor.dialects.lm_eval.selection import TaskFinder
from proctor.dialects.lm_eval.validate import validate
from proctor.errors import NotAllowedError, ProctorError


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A tree of tasks, a file outside it, and a working folder that has neither."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for name in ("tasks/deep", "tasks/shared", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tasks/shared/base").write_text("output_type: generate_until\n")
    (tmp_path / "outside/secret.yaml").write_text("description: secret\n")
    return tmp_path


def write(tree, include):
    path = tree / "tasks/deep/t.yaml"
    path.write_text(f"task: t\ninclude: {include}\n")
    return path


class TestWhere:
    def test_the_tree_that_the_user_named_is_free(self, tree):
        path = write(tree, "../shared/base")
        assert TaskReader([str(tree / "tasks")]).read(path).values["output_type"] == "generate_until"
        assert not build_index([tree / "tasks"], installed=False).problems
        assert TaskFinder([tree / "tasks"], installed=False).find("t")
        assert TaskFinder(installed=False).find(str(tree / "tasks"))
        assert not [each for each in validate(tree / "tasks", installed=False)[1] if "allowed" in each.what]

    def test_so_is_the_working_folder(self, tree, monkeypatch):
        monkeypatch.chdir(tree / "tasks")
        assert TaskReader().read(write(tree, "../shared/base")).values["output_type"] == "generate_until"

    @pytest.mark.parametrize(
        "include",
        ["../../outside/secret.yaml", "{0}/outside/secret.yaml", "link", "/etc/passwd", "~/.netrc", "../../outside"],
    )
    def test_what_lies_elsewhere_is_not(self, tree, include):
        path = write(tree, include.format(tree))
        (path.parent / "link").symlink_to(tree / "outside/secret.yaml")
        with pytest.raises(NotAllowedError, match="include reads") as caught:
            TaskReader([]).read(path)
        assert caught.value.diagnostics[0].location.line == 2
        assert "--include-path" in caught.value.diagnostics[0].hint

    def test_what_is_refused_once_may_be_allowed_later(self, tree):
        write(tree, "../../outside/secret.yaml")
        assert "nobody allowed" in next(iter(build_index([tree / "tasks"], installed=False).problems.values()))
        with granting(f"read:{tree / 'outside'}"):
            assert not build_index([tree / "tasks"], installed=False).problems


class TestWhat:
    @pytest.mark.parametrize("name", ["zero", "pipe", "folder", "huge", "loop", "x\\0y", "a" * 5_000])
    def test_what_is_not_a_task_file_is_an_error(self, tree, name):
        folder = tree / "tasks/deep"
        (folder / "zero").symlink_to("/dev/zero")
        os.mkfifo(folder / "pipe")
        (folder / "folder").mkdir()
        (folder / "loop").symlink_to("loop")
        with (folder / "huge").open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(ProctorError):
            TaskReader([str(tree / "tasks")]).read(write(tree, f'"{name}"'))

    @pytest.mark.parametrize("include", ["[[[a]]]", "5", "{a: b}", "[null]", "2001-01-01", "!function a.b", "[!x [y]]"])
    def test_what_is_not_a_name_is_an_error(self, tree, include):
        with pytest.raises(TaskFileError, match="include names files"):
            TaskReader().read(write(tree, include))

    @pytest.mark.parametrize(
        "text",
        ["- a", "x", "5", "", "!function a.b", "? [1]\n: 2", "task: &a [*a]", "task: !!int x", "? ? a\n: b", "1: 2\nnull: 3",
         "task: !function [a]", "include: [a, a, a]", "task: 2001-99-99", "!!set {a, b}", "task: !!binary x"],
    )  # fmt: skip
    def test_a_file_that_is_no_task_never_ends_the_process(self, tree, text):
        path = tree / "tasks/deep/t.yaml"
        path.write_text(text)
        try:
            read = TaskReader().read(path)
        except ProctorError as error:
            assert error.diagnostics[0].location
        else:
            assert read.location("task").file
