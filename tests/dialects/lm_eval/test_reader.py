import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.reader import (
    FunctionReference,
    TaskFileError,
    TaskReader,
    UnknownTag,
    key_locations,
    parse,
)


def write(folder, **files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def read(folder, name):
    return TaskReader().read(folder / name).values


def test_functions_are_inert_and_know_their_place(tmp_path):
    write(tmp_path, t="task: t\nprocess_docs: !function utils.process\n")
    found = read(tmp_path, "t")["process_docs"]
    assert isinstance(found, FunctionReference)
    assert found.name == "utils.process"
    assert str(found.location) == f"{tmp_path}/t:2:15"
    assert found.folder == tmp_path


def test_tags_of_python_do_nothing(tmp_path):
    write(tmp_path, t="a: !!python/object/apply:os.system ['id']\n")
    with pytest.raises(TaskFileError, match="could not determine a constructor"):
        read(tmp_path, "t")


def test_unknown_tags_are_values(tmp_path):
    write(tmp_path, t="a: !weird x\n")
    assert isinstance(read(tmp_path, "t")["a"], UnknownTag)


def test_yaml_1_1_words(tmp_path):
    write(tmp_path, t="a: yes\nb: off\nc: 1_000\nd: 0o7\ne: 010\n")
    assert read(tmp_path, "t") == {"a": True, "b": False, "c": 1000, "d": "0o7", "e": 8}


def test_include_merges_shallow_and_local_keys_win(tmp_path):
    write(tmp_path, base="x: 1\nm: {a: 1}\ny: base\n", t="include: base\nm: {b: 2}\nx: 3\n")
    assert read(tmp_path, "t") == {"x": 3, "m": {"b": 2}, "y": "base"}


def test_later_includes_win(tmp_path):
    write(tmp_path, a="x: 1\ny: 1\n", b="x: 2\n", t="include: [a, b]\n")
    assert read(tmp_path, "t") == {"x": 2, "y": 1}


def test_what_included_files_say_differently_is_known(tmp_path):
    write(tmp_path, top="x: 1\nz: [1]\n", a="include: top\ny: 1\n", b="include: top\ny: 2\nx: 5\n")
    write(tmp_path, t="include: [a, b]\n", own="include: [a, b]\nx: 7\n", deep="include: t\n", same="include: [a, a]\n")
    read = TaskReader().read
    assert read(tmp_path / "t").disputed == read(tmp_path / "deep").disputed == {"x", "y"}
    assert read(tmp_path / "own").disputed == {"y"}
    assert read(tmp_path / "same").disputed == set()


def test_includes_are_relative_to_the_file_that_names_them(tmp_path):
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep", base="include: ../root\n")
    write(tmp_path, root="x: 1\n", t="include: deep/base\n")
    assert read(tmp_path, "t") == {"x": 1}


def test_functions_of_a_base_belong_to_its_folder(tmp_path):
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep", base="f: !function utils.g\n")
    write(tmp_path, t="include: deep/base\n")
    assert read(tmp_path, "t")["f"].folder == tmp_path / "deep"


def test_a_diamond_is_no_circle(tmp_path):
    write(tmp_path, top="x: 1\n", a="include: top\n", b="include: top\ny: 2\n", t="include: [a, b]\n")
    assert read(tmp_path, "t") == {"x": 1, "y": 2}


def test_a_circle_is_named(tmp_path):
    write(tmp_path, a="include: b\n", b="include: c\n", c="include: a\n")
    with pytest.raises(TaskFileError, match="lead in a circle") as caught:
        read(tmp_path, "a")
    assert "a → b → c → a" in str(caught.value)


def test_a_file_that_includes_itself(tmp_path):
    write(tmp_path, a="x: 1\ninclude: a\n")
    with pytest.raises(TaskFileError, match="lead in a circle"):
        read(tmp_path, "a")


def test_task_lists_are_not_inherited(tmp_path):
    write(tmp_path, base="x: 1\ntask_list: [{task: a}]\n", t="include: base\ntask: t\n")
    assert read(tmp_path, "t") == {"x": 1, "task": "t"}


def test_a_missing_include_says_where_it_is_asked_for(tmp_path):
    write(tmp_path, _base_yaml="x: 1\n", t="task: t\ninclude: _bse_yaml\n")
    with pytest.raises(TaskFileError, match=r"included file .* is missing") as caught:
        read(tmp_path, "t")
    text = str(caught.value)
    assert f"{tmp_path}/t:2:1" in text
    assert "did you mean '_base_yaml'" in text


def test_bad_yaml_has_line_and_column(tmp_path):
    write(tmp_path, t="task: t\nx: [1, 2\ny: 3\n")
    with pytest.raises(TaskFileError, match="not valid YAML") as caught:
        read(tmp_path, "t")
    assert caught.value.diagnostics[0].location.line == 3


@pytest.mark.parametrize("content", ["- a\n", "just text\n", "", "3\n"])
def test_a_file_that_is_no_mapping(tmp_path, content):
    write(tmp_path, t=content)
    with pytest.raises(TaskFileError, match="mapping of keys"):
        read(tmp_path, "t")


def test_an_include_that_is_no_name(tmp_path):
    write(tmp_path, t="include: {a: b}\n")
    with pytest.raises(TaskFileError, match="include names files"):
        read(tmp_path, "t")


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "t").write_bytes(b"task: \xff\xfe\xfa")
    with pytest.raises(TaskFileError, match="not valid YAML"):
        read(tmp_path, "t")


def test_the_place_of_a_key_is_found_in_the_base_that_sets_it(tmp_path):
    write(tmp_path, base="x: 1\nmetric_list:\n  - metric: acc\n    aggregation: mena\n", t="include: base\ntask: t\n")
    found = TaskReader().read(tmp_path / "t")
    assert str(found.location("metric_list[0].aggregation")) == f"{tmp_path}/base:4:5"
    assert str(found.location("task")) == f"{tmp_path}/t:2:1"
    assert str(found.location("metric_list[0].nothing")) == f"{tmp_path}/base:3:5"


def test_include_unitxt_means_ours_where_no_such_file_is(tmp_path):
    write(tmp_path, t="include: unitxt\nrecipe: card=cards.wnli\n")
    assert read(tmp_path, "t") == {"recipe": "card=cards.wnli"}
    write(tmp_path, unitxt="class: !function task.Unitxt\n")
    assert "class" in read(tmp_path, "t")


@given(st.binary(max_size=60))
def test_any_bytes_parse_or_are_refused(content):
    with contextlib.suppress(TaskFileError):
        parse(content, "t.yaml")
    key_locations(content, "t.yaml")
