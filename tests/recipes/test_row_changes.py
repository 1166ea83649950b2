"""Choices in another order, words a little otherwise: what is right stays right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import DataError
from proctor.recipes.options import PERTURBED
from proctor.recipes.row_changes import PERTURBATIONS, RowParts, changes_of, reordered

LISTED = RowParts(("question",), ("choices",), "answer")
LETTERED = RowParts(("question",), ("A", "B", "C"), "answer")
TEXTS = ["Paris", "Rome", "Oslo"]


@pytest.mark.parametrize("answer, read", [
    (1, lambda row: row["choices"][row["answer"]]),
    ("1", lambda row: row["choices"][int(row["answer"])]),
    ("B", lambda row: row["choices"]["ABC".index(row["answer"])]),
    ("(B)", lambda row: row["choices"]["ABC".index(row["answer"][1])]),
    ("Rome", lambda row: row["answer"]),
    ([1], lambda row: row["choices"][row["answer"][0]]),
])  # fmt: skip
@pytest.mark.parametrize("order", [1, 2, 3])
def test_what_is_right_moves_with_its_choice_however_it_is_named(answer, read, order):
    row = {"question": "Capital of Italy?", "choices": TEXTS, "answer": answer}
    found = reordered(row, LISTED, order)
    assert sorted(found["choices"]) == sorted(TEXTS)
    assert found["choices"] != TEXTS
    assert read(found) == "Rome"
    assert row["choices"] == TEXTS  # rows are shared


def test_choices_in_columns_keep_what_is_empty_behind_them_and_a_base_of_one():
    row = {"question": "Italy?", "A": "Paris", "B": "Rome", "C": "", "answer": 2}
    found = reordered(row, RowParts(("question",), ("A", "B", "C"), "answer", lambda row: row["answer"] - 1), 1)
    assert found == {"question": "Italy?", "A": "Rome", "B": "Paris", "C": "", "answer": 1}
    assert reordered({**row, "answer": "B"}, LETTERED, 1)["answer"] == "A"


def test_labels_stay_where_they_are():
    row = {"choices": {"text": ["sap", "nectar"], "label": ["1", "2"]}, "answerKey": "2"}
    found = reordered(row, RowParts((), ("choices",), "answerKey"), 1)
    assert found == {"choices": {"text": ["nectar", "sap"], "label": ["1", "2"]}, "answerKey": "1"}


def test_nested_fields_and_a_second_list_of_choices_change_together():
    row = {"input_fields": {"choices": TEXTS}, "reference_fields": {"choices": TEXTS, "label": 0}}
    parts = RowParts((), ("input_fields/choices",), "reference_fields/label", copy="reference_fields/choices")
    found = reordered(row, parts, 1)
    assert found["input_fields"]["choices"] == found["reference_fields"]["choices"] != TEXTS
    assert found["input_fields"]["choices"][found["reference_fields"]["label"]] == "Paris"


def test_orders_differ_between_rows_and_numbers_and_are_the_same_again():
    rows = [{"question": str(n), "choices": list("abcdefgh"), "answer": 0} for n in range(20)]
    drawn = {order: [tuple(reordered(row, LISTED, order)["choices"]) for row in rows] for order in (1, 2)}
    assert len({*drawn[1], *drawn[2]}) == 40
    assert drawn[1] == [tuple(reordered(row, LISTED, 1)["choices"]) for row in rows]


@pytest.mark.parametrize("row", [
    {"choices": TEXTS, "answer": "Bonn"}, {"choices": "Paris|Rome", "answer": 0}, {"choices": ["one"], "answer": 0},
    {"choices": TEXTS, "answer": 7},
])  # fmt: skip
def test_a_row_that_does_not_say_what_is_right_is_refused(row):
    with pytest.raises(DataError):
        reordered(row, LISTED, 1)


@given(st.text(max_size=80))
def test_perturbed_texts_are_texts_and_the_same_again(text):
    for change in PERTURBATIONS.values():
        assert isinstance(change(text), str)
        assert change(text) == change(text)


def test_perturbations():
    assert tuple(PERTURBATIONS) == PERTURBED
    text = "Which instrument measures air pressure?"
    assert PERTURBATIONS["case"](text) == text.lower()
    assert PERTURBATIONS["punctuation"](text) == text[:-1]
    typed = PERTURBATIONS["typos"](text)
    assert typed != text
    assert sorted(typed) == sorted(text)
    assert PERTURBATIONS["whitespace"](text).split() == text.split()
    assert PERTURBATIONS["prefix-suffix"](text).strip("\\tn \n\t") == text.strip()


def test_nothing_asked_is_nothing_done():
    assert changes_of(LISTED, None, None) is None
    assert changes_of(LISTED, 0, None) is None
    change = changes_of(LISTED, 1, "case")
    assert change is not None
    found = change({"question": "ITALY?", "choices": TEXTS, "answer": 1})
    assert found["question"] == "italy?"
    assert found["choices"][found["answer"]] == "Rome"
