"""Files of others as they are read: parts that need no file."""

import pytest

from proctor.errors import UsageError
from proctor.exchange import why
from proctor.exchange.observed import Observed, ObservedExam
from proctor.exchange.readers import lm_eval, single


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
