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


def chain(folder, count):
    for number in range(count):
        (folder / f"m{number}.py").write_text(f"import m{number + 1}\nvalue = {number}\n")


def test_files_are_followed_in_the_order_of_their_imports_up_to_two_hundred(tmp_path):
    chain(tmp_path, 250)
    assert list(code_of_file(tmp_path / "m0.py")) == [f"m{number}.py" for number in range(200)]
    assert len(code_of_file(tmp_path / "m60.py")) == 190
    (tmp_path / "start.py").write_text("import m248\nimport m246\n")
    assert list(code_of_file(tmp_path / "start.py")) == ["start.py", "m248.py", "m249.py", "m246.py", "m247.py"]


def test_a_file_that_is_too_large_to_be_code_is_left_out(tmp_path):
    (tmp_path / "a.py").write_text("import large, small\n")
    (tmp_path / "large.py").write_bytes(b"#" * ((4 << 20) + 1))
    (tmp_path / "small.py").write_bytes(b"#" * (4 << 20))
    assert list(code_of_file(tmp_path / "a.py")) == ["a.py", "small.py"]


def test_a_digest_is_that_of_the_bytes_whenever_they_change(tmp_path):
    import os

    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    one = code_of_file(file)
    file.write_text("x = 2\n")  # as long, and written in the same tick of a coarse clock
    os.utime(file, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns + 1))
    two = code_of_file(file)
    assert one != two
    file.write_text("x = 11\n")
    assert code_of_file(file) not in (one, two)
    (tmp_path / "b.py").write_text("x = 11\n")
    assert list(code_of_file(tmp_path / "b.py").values()) == list(code_of_file(file).values())


def test_what_was_installed_is_followed_by_relative_imports_alone(tmp_path):
    site = tmp_path / "site-packages"
    (site / "package").mkdir(parents=True)
    (site / "single.py").write_text("import other\nfrom package import inner\n")
    (site / "other.py").write_text("")
    (site / "package" / "__init__.py").write_text("from . import inner\nimport other\n")
    (site / "package" / "inner.py").write_text("import single\n")
    assert list(code_of_file(site / "single.py")) == ["single.py"]
    assert list(code_of_file(site / "package" / "__init__.py")) == ["__init__.py", "inner.py"]


def test_files_above_the_first_are_named_so(tmp_path):
    (tmp_path / "exam").mkdir()
    (tmp_path / "exam" / "start.py").write_text("from ..shared import x\n")
    (tmp_path / "shared.py").write_text("import start\n")  # found beside the first file, too
    assert list(code_of_file(tmp_path / "exam" / "start.py")) == ["start.py", "../shared.py"]


def test_modules_are_named_by_what_imports_them(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "held_pack").mkdir()
    (tmp_path / "held_pack" / "__init__.py").write_text("")
    (tmp_path / "held_pack" / "one.py").write_text("from . import two\n")
    (tmp_path / "held_pack" / "two.py").write_text("")
    (tmp_path / "held_data").mkdir()  # a package without a file of its own
    try:
        assert list(code_of_module("held_pack.one")) == ["held_pack.one", "held_pack.one: two.py"]
        assert list(code_of_module("held_pack")) == ["held_pack"]
        assert code_of_module("held_data") == code_of_module("held_pack.three") == {}
        assert code_of_module("numpy.no_such") == code_of_module("") == code_of_module("__main__") == {}
        assert code_of_module("_bisect") == code_of_module("msgspec._core") == {}
    finally:
        for name in ("held_pack", "held_pack.one", "held_pack.two"):
            sys.modules.pop(name, None)


def test_a_class_that_was_typed_in_is_held_by_its_source(monkeypatch):
    import inspect

    kind = type("Typed", (), {"__module__": "__main__"})
    monkeypatch.setattr("proctor.recipes.held_code.getsource", lambda found: f"class {found.__name__}: pass")
    assert list(code_of([kind, kind()])) == ["class Typed"]
    one = code_of([kind])
    monkeypatch.setattr("proctor.recipes.held_code.getsource", lambda found: "class Typed: x = 1")
    assert code_of([kind]) != one
    monkeypatch.undo()
    with pytest.raises((OSError, TypeError)):
        inspect.getsource(kind)
    assert code_of([kind]) == {}


def test_parts_of_an_artifact_are_held(folder, monkeypatch):
    from proctor.recipes import DatasetRecipe

    monkeypatch.syspath_prepend(str(folder))
    (folder / "made_up_format.py").write_text(
        "from proctor.formats import SystemFormat\nclass OwnFormatOfTest(SystemFormat): pass\n"
    )
    try:
        import made_up_format

        recipe = DatasetRecipe(
            task="tasks.qa.open", template="templates.qa.open.simple", format=made_up_format.OwnFormatOfTest()
        )
        assert list(code_of([recipe])) == ["made_up_format"]
    finally:
        sys.modules.pop("made_up_format", None)
