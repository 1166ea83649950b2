"""Code behind an exam is held by digests: an edit anywhere in it is seen, an edit elsewhere is not."""

import sys

import pytest

from proctor.recipes.held_code import code_of, code_of_file, code_of_module


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "words.py").write_text("import json\nfrom helpers import a\nfrom . import near\n")
    (tmp_path / "helpers.py").write_text("import deep.inner\na = 1\n")
    (tmp_path / "near.py").write_text("import words\n")  # a circle
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "__init__.py").write_text("")
    (tmp_path / "deep" / "inner.py").write_text("import near\n")
    (tmp_path / "unused.py").write_text("")
    return tmp_path


def test_a_file_and_what_it_imports_from_beside_it(folder):
    found = code_of_file(folder / "words.py")
    assert list(found)[0] == "words.py"
    assert set(found) == {"words.py", "helpers.py", "near.py", "deep/__init__.py", "deep/inner.py"}


@pytest.mark.parametrize("name", ["words.py", "helpers.py", "near.py", "deep/inner.py"])
def test_an_edit_anywhere_is_seen_and_only_there(folder, name):
    before = code_of_file(folder / "words.py")
    (folder / name).write_text((folder / name).read_text() + "b = 2\n")
    after = code_of_file(folder / "words.py")
    assert {each for each in before if before[each] != after[each]} == {name}
    (folder / "unused.py").write_text("c = 3")
    assert code_of_file(folder / "words.py") == after


def test_what_is_not_python_or_not_there_is_no_error(folder):
    (folder / "words.py").write_text("def (")
    assert list(code_of_file(folder / "words.py")) == ["words.py"]
    assert code_of_file(folder / "gone.py") == {}
    assert code_of_module("no.such.module") == code_of_module("json") == code_of_module("proctor.errors") == {}


def test_classes_and_functions_of_others(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    (folder / "tools_of_metric.py").write_text("a = 1")
    (folder / "made_up_metric.py").write_text("from tools_of_metric import a\nclass M: pass\ndef f(): return a\n")
    try:
        import made_up_metric

        found = code_of([made_up_metric.M, made_up_metric.M(), made_up_metric.f, str, len])
    finally:
        for name in ("made_up_metric", "tools_of_metric"):
            sys.modules.pop(name, None)
    assert set(found) >= {"made_up_metric", "made_up_metric: tools_of_metric.py"}
    assert all(name.startswith("made_up_metric") for name in found)


def test_a_function_of_a_file_that_was_run(folder):
    names = {}
    exec(compile("def f():\n    return 1\n", str(folder / "helpers.py"), "exec"), names)
    assert "def f: helpers.py" in code_of([names["f"]])


def test_relative_imports_climb_as_many_folders_as_they_have_dots(folder):
    inner = folder / "deep" / "deeper"
    inner.mkdir()
    (inner / "start.py").write_text("from .. import inner\nfrom ...near import x\nfrom . import own\n")
    (inner / "own.py").write_text("")
    names = {name.rpartition("/")[2] for name in code_of_file(inner / "start.py")}
    assert names >= {"start.py", "inner.py", "near.py", "own.py"}
