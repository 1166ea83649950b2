"""Which answers people are asked to label, and how many of each kind."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import DataError, UsageError
from proctor.runs.answer_labels import (
    LABELS,
    ScoredAnswers,
    _draw_told,
    allotted,
    how_often,
    labels_saved,
    read_labels,
    table_rows,
    why_too_few,
)


@given(
    st.lists(st.sampled_from([0.0, 0.02, 0.05, 0.2, 0.25, 0.5, 0.9, 1.0]), min_size=20, max_size=300),
    st.integers(10, 400),
)
def test_every_kind_has_answers_with_labels_and_none_is_asked_twice(scores, count):
    often = how_often(np.array(scores), count)
    found = allotted(often, count)
    assert sum(found.values()) == min(count, len(scores))
    for kind, number in found.items():
        assert 2 <= number <= (often == kind).sum()
        assert (often == kind).sum() >= 10


def test_the_less_a_judge_is_sure_the_more_often_an_answer_is_drawn():
    scores = np.repeat([0.0, 1.0, 0.1, 0.9, 0.3, 0.5], 20)
    assert how_often(scores, 100).tolist() == np.repeat([1, 1, 2, 2, 3, 3], 20).tolist()
    assert set(how_often(scores, 59)) == {1}
    rare = np.append(np.zeros(100), [0.5] * 9)
    assert set(how_often(rare, 100)) == {1}


def test_what_a_draw_saves_is_nothing_where_all_are_alike_and_much_where_few_are_unsure():
    assert labels_saved(np.repeat([0.0, 1.0], 500), 100) == pytest.approx(0.0)
    assert labels_saved(np.repeat([0.0, 0.5], [900, 100]), 100) == pytest.approx(0.19, abs=0.01)


def test_kinds_join_their_neighbours_where_they_are_rare():
    def kinds(*sizes, count=100):
        return how_often(np.repeat([0.0, 0.1, 0.5], sizes), count).tolist()

    assert kinds(50, 50, 9) == [1] * 50 + [2] * 59
    assert kinds(9, 50, 50) == [2] * 59 + [3] * 50
    assert kinds(50, 9, 50) == [1] * 59 + [3] * 50
    assert kinds(0, 9, 50) == [3] * 59
    assert kinds(10, 10, 10) == [1] * 10 + [2] * 10 + [3] * 10
    assert kinds(10, 10, 10, count=60) != kinds(10, 10, 10, count=59) == [1] * 30


def test_how_answers_are_drawn_is_said():
    unsure, sure = np.repeat([0.0, 0.5], [900, 100]), np.repeat([0.0, 1.0], 50)
    assert _draw_told(sure, 100) == _draw_told(sure, 101) == "all answers are to be labelled"
    assert _draw_told(unsure, 60).startswith(
        "answers with unsure verdicts are drawn more often, which saves 19% of labels"
    )
    equal = "answers are drawn with equal chances, which saves no labels: "
    assert _draw_told(unsure, 59) == f"{equal}labels are few"
    assert _draw_told(sure, 60) == f"{equal}scores do not tell where the judge is unsure, as graded ones (g-eval) may"


# -- files of labels -----------------------------------------------------------------------------------------------------


def answers(*keys, draw="d-1"):
    return ScoredAnswers("exam", {}, list(keys), *[np.zeros(len(keys))] * 3, draw, {})


def test_labels_are_read_by_their_draw_and_labeller(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text(
        "\ufeffanswer_id;label;draw;stands_for\na;right;d-1;2.5\nb;0,5;;\nc; ;d-1;1\na;0;d-2;\n", encoding="utf-8"
    )
    two.write_text("answer_id\tlabel\tdraw\tstands_for\na\tNo\td-1\t2.5\n")
    found = read_labels([one, two])
    assert found.given == {
        ("d-1", "a"): {f"{one} (1)": 1.0, f"{two} (2)": 0.0},
        ("", "b"): {f"{one} (1)": 0.5},
        ("d-2", "a"): {f"{one} (1)": 0.0},
    }
    assert (found.weights[("d-1", "a")], found.empty, found.is_kept) == (2.5, 1, False)
    values, weights = found.of(answers("a", "b", "c"))
    np.testing.assert_array_equal(values, [0.5, 0.5, np.nan])
    assert weights.tolist() == [2.5, 1.0, 1.0]
    assert found.among([answers("a")]) is found


@pytest.mark.parametrize(
    "rows, why",
    [
        ("a,2", ":2: '2' is not a label"), ("a,-0.1", "is not a label"), ("a,x", "is not a label"), ("a,1\na,0", ":3: a has two labels"),
        ("a,1,0.5", ":2: stands_for is not as it was drawn"), ("a,1,x", "stands_for is not as it was drawn"), ("a,1,2\na,1,3", ":3: stands_for"),
    ],
)  # fmt: skip
def test_what_is_no_label_is_refused_with_its_line(tmp_path, rows, why):
    (tmp_path / "l.csv").write_text(f"answer_id,label,stands_for\n{rows}\n")
    with pytest.raises(UsageError, match=why):
        read_labels([tmp_path / "l.csv"])


def test_words_are_labels(tmp_path):
    words = {"Yes": 1, "right": 1, "TRUE": 1, "correct": 1, "no": 0, "wrong": 0, "false": 0, "1": 1, "0.25": 0.25}
    (tmp_path / "l.csv").write_text("answer_id,label\n" + "".join(f"{word},{word}\n" for word in words))
    assert {key: [*by.values()] for (_, key), by in read_labels([tmp_path / "l.csv"]).given.items()} == {
        word: [value] for word, value in words.items()
    }


def test_tables_without_a_column_or_text_are_refused(tmp_path):
    path = tmp_path / "l.csv"
    for content, error, why in (
        (b"answer_id,x\n", UsageError, "l.csv has no column label(.|\n)*it has answer_id, x(.|\n)*judge label"),
        (b"", UsageError, "no column answer_id(.|\n)*it is empty"),
        (b"answer_id,label\n\xff\xfe", DataError, "is not a table of text"),
    ):
        path.write_bytes(content)
        with pytest.raises(error, match=why):
            read_labels([path])
    with pytest.raises(DataError, match="none.csv cannot be read"):
        read_labels([tmp_path / "none.csv"])
    with pytest.raises(DataError, match="labels.jsonl cannot be read"):
        read_labels([tmp_path / LABELS])
    path.write_text('answer_id,label\n"a\nb",1\n')
    assert table_rows(path, (), "") == [(3, {"answer_id": "a\nb", "label": "1"})]


def test_kept_labels_are_the_last_of_each_person(tmp_path):
    lines = [
        {"answer": "a", "who": "Ann", "label": 1, "draw": "d-1", "stands_for": 3}, {"answer": "a", "who": "Bob", "label": 0, "draw": "d-1"},
        {"answer": "a", "who": "Ann", "label": 0.5, "draw": "d-1", "stands_for": 9}, {"answer": "b", "who": "Ann", "label": 1},
        {"answer": "b", "who": "Ann", "label": None}, {"answer": "c", "label": 1, "stands_for": "x"},
    ]  # fmt: skip
    path = tmp_path / LABELS
    path.write_text("\n".join([*map(json.dumps, lines), "[1]", "no", "3"]))
    found = read_labels([path])
    assert found.given == {("d-1", "a"): {"Ann": 0.5, "Bob": 0.0}, ("", "c"): {str(path): 1.0}}
    assert (found.weights[("d-1", "a")], found.weights[("", "c")]) == (3.0, 1.0)
    found.is_kept = True
    among = found.among([answers("a", "b")])
    assert (among.given, among.sources) == ({("d-1", "a"): {"Ann": 0.5, "Bob": 0.0}}, {("d-1", "a"): path})


@pytest.mark.parametrize(
    "count, weights, why",
    [
        (0, [], "none of its answers has a label, and 10 are the fewest"), (1, [], "1 of its answers has a label, and 10 are the fewest"),
        (9, [], "9 of its answers have a label, and 10 are the fewest"), (10, [], ""), (10, [1] * 8 + [2] * 2, ""),
        (10, [1] * 9 + [2.5], "one alone of the answers that stand for 2.5 has a label; label one more"),
    ],
)  # fmt: skip
def test_why_labels_are_too_few(count, weights, why):
    labels = np.array([1.0] * count + [np.nan] * 5)
    assert why_too_few(labels, np.array([*(weights or [1.0] * count), *range(50, 55)])) == why
