"""Files of others as they are read: parts that need no file."""

import io
import struct
import zipfile
from types import SimpleNamespace

import pytest

from proctor.errors import UsageError
from proctor.exchange import sameness, why
from proctor.exchange.observed import Observed, ObservedExam
from proctor.exchange.readers import inspect_log, lm_eval, single


def exam(name):
    return ObservedExam(name, "lm-eval", [], "", None)


def test_the_only_exam_needs_no_name_and_one_of_several_does():
    assert single([one := exam("a")], "f") is one
    with pytest.raises(UsageError, match="f has several exams: a, b(.|\n)*name one of them: 'f::a'"):
        single([exam("a"), exam("b")], "f")


@pytest.mark.parametrize(
    "line, metrics",
    [
        ({"metrics": ["a", 3], "acc": 1}, ["a", "3"]), ({"doc_id": 3, "acc": 1.0, "f1": 0, "doc": 5, "why": "x"}, ["acc", "f1"]),
        ({"metrics": "acc", "target": 1, "exact": True}, ["exact"]),
    ],
)  # fmt: skip
def test_metrics_of_a_line_are_those_it_names_or_its_other_numbers(line, metrics):
    assert lm_eval._metrics([line, {"later": 1}]) == metrics


def test_lines_are_a_list_of_mappings():
    assert [lm_eval._is_lines(each) for each in ([{}], [], [1, {}], {}, None)] == [True, False, False, False, False]


def test_settings_are_equal_as_numbers_and_in_any_order():
    assert why._plain([2, "a"]) == why._plain(("a", 2)) == ["2", "a"]
    assert (why._plain(1), why._plain("x"), why._plain(None)) == (1.0, "x", None)
    assert type(why._plain(1)) is float


def test_a_row_is_shown_by_the_end_of_its_prompt_its_references_or_its_digest():
    long = "".join(map(str, range(150)))
    assert why._shown_row(Observed(1, "d", long, references=("r",))) == long[-200:]
    assert why._shown_row(Observed(1, "d", None, references=("r", "s"))) == "r, s"
    assert why._shown_row(Observed(1, "d")) == "d"


@pytest.mark.parametrize("damage, is_read", [(b"", True), (b"not zstd", False)])
def test_logs_of_inspect_packed_with_zstd_are_read_whatever_stands_before_them(damage, is_read):
    pa = pytest.importorskip("pyarrow")
    words = b'{"a": 1}' * 50
    packed = damage or pa.compress(words, codec="zstd", asbytes=True)
    head = b"PK\x03\x04".ljust(26, b"x") + struct.pack("<HH", 4, 3) + b"nameext"
    info = SimpleNamespace(compress_type=93, header_offset=5, compress_size=len(packed), file_size=len(words))
    archive = SimpleNamespace(
        getinfo=lambda name: info, fp=io.BytesIO(b"12345" + head + packed + b"behind"), read=lambda name: name
    )
    if is_read:
        assert inspect_log._unpacked(archive, "name") == words
    else:
        with pytest.raises(zipfile.BadZipFile, match="name is damaged: "):
            inspect_log._unpacked(archive, "name")
    info.compress_type = 8
    assert inspect_log._unpacked(archive, "name") == "name"


@pytest.mark.parametrize(
    "value, right", [(1, 1.0), (0, 0.0), (100, 1.0), (0.5, None), ("1", None), (None, None), (2, None)]
)
def test_scores_that_say_right_or_wrong(value, right):
    assert sameness._right({"scores": {"acc": value}}, "acc") == right
    assert sameness._right({}, "acc") is None
