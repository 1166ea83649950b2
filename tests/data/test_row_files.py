"""Files of rows as they stand: what each kind of file gives, and what is said of one that is damaged."""

from __future__ import annotations

import gzip

import pytest

from proctor.data.row_files import FileFormat, json_object, read_rows
from proctor.errors import DataError
from proctor.ir import Failure


def rows(path, text, layout=None, *, passing=False):
    path.write_text(text, encoding="utf-8")
    return list(read_rows(path, layout or FileFormat(), passing=passing))


@pytest.mark.parametrize(
    "name, text, layout, wanted",
    [
        ("a.jsonl", '{"a": 1}\n\n{"a": "x"}\n', FileFormat(), [{"a": 1}, {"a": "x"}]),
        ("a.data", '{"a": 1}\n', FileFormat(lines=True), [{"a": 1}]),
        ("a.json", '[{"a": 1}, 2]', FileFormat(), [{"a": 1}, {"value": 2}]),
        ("a.json", '{"k": 1}', FileFormat(), [{"key": "k", "value": 1}]),
        ("a.json", '{"in": {"rows": [{"a": 1}]}}', FileFormat(at=("in", "rows")), [{"a": 1}]),
        ("a.json", '{"a": [1]}', FileFormat(whole=True), [{"value": {"a": [1]}, "name": "a.json"}]),
        ("a.csv", 'q,a\n"x\ny",007\n\n', FileFormat(), [{"q": "x\ny", "a": "007"}]),
        ("a.csv", "x,1\n", FileFormat(header=("q", "a")), [{"q": "x", "a": "1"}]),
        ("a.csv", "skipped\nx,1\n", FileFormat(positional=True, skip=1), [{"c0": "x", "c1": "1"}]),
        ("a.tsv", "q\ta\nx\t1\n", FileFormat(), [{"q": "x", "a": "1"}]),
        ("a.tsv", "q\ta\nx\t007\ny\t\n", FileFormat(typed=True, delimiter="\t"), [{"q": "x", "a": 7}, {"q": "y", "a": None}]),
        ("a.txt", "one\ntwo\n", FileFormat(), [{"line": "one"}, {"line": "two"}]),
    ],
)  # fmt: skip
def test_each_kind_of_file(tmp_path, name, text, layout, wanted):
    assert rows(tmp_path / name, text, layout) == wanted


def test_a_file_of_lines_is_text_whatever_its_name(tmp_path):
    assert rows(tmp_path / "a.csv", "q,a\nx,1\n", FileFormat(text=True)) == [{"line": "q,a"}, {"line": "x,1"}]


def test_a_json_file_is_an_object(tmp_path):
    (tmp_path / "a.json").write_text('{"a": [1]}', encoding="utf-8")
    assert json_object(tmp_path / "a.json") == {"a": [1]}
    (tmp_path / "b.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(DataError, match="the file is not a JSON object"):
        json_object(tmp_path / "b.json")
    with pytest.raises(DataError, match=r"the file cannot be read[^$]*c\.json"):
        json_object(tmp_path / "c.json")


def test_a_packed_file_of_lines(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n'))
    assert list(read_rows(path, FileFormat(lines=True))) == [{"a": 1}]


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.jsonl", '{"a": 1}\n{"a"\n', "not valid JSON"),
        ("a.jsonl", '{"a": 1}\n[1]\n', "not a JSON object"),
        ("a.csv", "q,a\nx,1\ny\n", "a line has 1 columns"),
    ],
)
def test_a_damaged_line_ends_a_file_unless_it_is_passed_on(tmp_path, name, text, words):
    with pytest.raises(DataError, match=words):
        rows(tmp_path / name, text)
    first, second = rows(tmp_path / name, text, passing=True)
    assert isinstance(first, dict)
    assert isinstance(second, Failure)
    assert words in second.message


@pytest.mark.parametrize(
    "name, content, layout",
    [
        ("a.csv", b"q\n\xff\n", FileFormat()),
        ("a.tsv", b'q\n"x\n', FileFormat(typed=True, delimiter="\t")),
        ("a.json", b"3", FileFormat()),
        ("a.json", b"{}", FileFormat(at=("rows",))),
        ("a.parquet", b"x", FileFormat()),
    ],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path, name, content, layout):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        list(read_rows(tmp_path / name, layout))
