"""Differences of texts: both texts come out of their pieces, and work is counted."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.web import difference as module
from proctor.web.difference import _Budget, _in_common, difference

TEXTS = st.text(alphabet="ab .\n", max_size=40)


def sides(found):
    return tuple(
        "".join(text for kind, text in found.pieces if kind in ("same", side)) for side in ("removed", "added")
    )


@settings(max_examples=60)
@given(TEXTS, TEXTS, st.sampled_from([0, 3, 30, module.MOST_STEPS]))
def test_both_texts_come_out_of_the_pieces(before, after, steps):
    kept, module.MOST_STEPS = module.MOST_STEPS, steps
    try:
        found = difference(before, after)
    finally:
        module.MOST_STEPS = kept
    assert sides(found) == (before, after)
    assert all(text for _, text in found.pieces)
    kinds = [kind for kind, _ in found.pieces]
    assert all(one != other for one, other in pairwise(kinds))
    assert ("added", "removed") not in pairwise(kinds)


@pytest.mark.parametrize(
    "before, after, pieces",
    [
        ("", "", []),
        ("a b", "a b", [("same", "a b")]),
        ("", "a", [("added", "a")]),
        ("a", "", [("removed", "a")]),
        ("one two three", "one 2 three", [("same", "one"), ("removed", " two"), ("added", " 2"), ("same", " three")]),
        ("a, b", "a; b", [("same", "a"), ("removed", ","), ("added", ";"), ("same", " b")]),
        ("x a y", "x y", [("same", "x"), ("removed", " a"), ("same", " y")]),
        ("x a a y", "x a y", [("same", "x a"), ("removed", " a"), ("same", " y")]),
        ("1 a b 2 c", "3 a b 4 c", [("removed", "1"), ("added", "3"), ("same", " a b"), ("removed", " 2"), ("added", " 4"), ("same", " c")]),
    ],
)  # fmt: skip
def test_words_that_stay_are_the_same(before, after, pieces):
    found = difference(before, after)
    assert sides(found) == (before, after)
    assert found.pieces == pieces
    assert found.note == ""


def test_long_texts_are_cut_and_that_is_said(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 4)
    assert difference("abcd", "abcd").note == ""
    for pair in (("abcdX", "abcd"), ("abcd", "abcdX")):
        found = difference(*pair)
        assert (found.pieces, found.note) == ([("same", "abcd")], "only the first 4 characters are compared")


def test_where_words_are_too_many_lines_are_compared_and_then_nothing(monkeypatch):
    before, after = "a a a\nb\nc c c\n", "a a a\nx\nc c d\n"
    by_words = difference(before, after)
    monkeypatch.setattr(module, "MOST_STEPS", 20)
    by_lines = difference(before, after)
    assert by_lines.note == ""
    assert ("same", "a a a\n") in [(kind, text[:6]) for kind, text in by_lines.pieces]
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    whole = difference(before, after)
    assert whole.note.startswith("the texts are too different")
    assert [kind for kind, _ in whole.pieces] == ["same", "removed", "added", "same"]
    assert by_words.note == ""


def test_a_budget_is_taken_until_it_is_used_up():
    budget = _Budget(5)
    assert [budget.take(3), budget.is_used_up, budget.take(2), budget.left] == [True, False, True, 0]
    assert [budget.take(0), budget.take(1), budget.is_used_up] == [True, False, True]


@pytest.mark.parametrize(
    "before, after, common",
    [
        ("", "", (0, 0)),
        ("ab", "ab", (2, 0)),
        ("abc", "abxc", (2, 1)),
        ("aa", "a", (1, 0)),
        ("xa", "ya", (0, 1)),
        ("ab", "cd", (0, 0)),
        ("aXa", "aa", (1, 1)),
    ],
)
def test_what_both_begin_and_end_with(before, after, common):
    assert _in_common(before, after) == common
