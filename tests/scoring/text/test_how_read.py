"""How answers are read: what counts under each reading, what hangs on a last resort, and whose note it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.grading.protocols import OnPredictions
from proctor.scoring.lettered_answers import letters_in
from proctor.scoring.named_table import LM_EVAL, OPENCOMPASS
from proctor.scoring.text.how_read import WAYS, Note, alone, among, each_of, hearing, or_else, reading_as, taken
from proctor.scoring.text.processor_steps import process
from proctor.scoring.text.processors import find_text_function


@given(st.lists(st.sampled_from("AB"), max_size=4), st.sampled_from((0, -1)))
def test_each_reading_takes_its_match(found, own):
    own_match = taken(found, "letters", own)
    assert own_match == (found[own] if found else None)
    readings = {}
    for way in WAYS:
        with reading_as(way):
            readings[way] = taken(found, "letters", own)
    assert readings["first"] == (found[0] if found else None)
    assert readings["last"] == (found[-1] if found else None)
    assert readings["strict"] == (found[0] if len(set(found)) == 1 else None)


def test_a_last_resort_is_not_taken_strictly_and_stays_one():
    assert or_else("all", "the whole answer", "") == "all"
    with reading_as("strict"):
        assert or_else("all", "the whole answer", "") == ""
        assert taken(["A"], "any mention", is_last_resort=True) is None
    with hearing() as heard:
        taken(["A"], "any mention", is_last_resort=True)
        taken(["A"], "the first line")
    assert heard.notes == {0: Note("any mention", is_last_resort=True)}


def test_a_match_that_a_pattern_has_not_is_an_error():
    with pytest.raises(IndexError):
        taken(["A"], "letters", 1)


def test_notes_are_of_the_answer_that_is_read():
    with hearing() as heard, among([4, 7]):
        for value in each_of("ab"):
            with alone():
                assert [taken([each], value) for each in each_of("xyz")] == ["x", "y", "z"]
    assert heard.notes == {4: Note("a"), 7: Note("b")}


@pytest.mark.parametrize(
    "name, system, arguments, answer, own, first, last, strict",
    [
        ("regex", LM_EVAL, {"regex_pattern": r"(\d)"}, "1 or 2", "1", "1", "2", "[invalid]"),
        ("regex", LM_EVAL, {"regex_pattern": r"(\d)", "group_select": -1}, "1 or 2", "2", "1", "2", "[invalid]"),
        ("regex", LM_EVAL, {"regex_pattern": r"(\d)"}, "1, so 1", "1", "1", "1", "1"),
        ("first_option_postprocess", OPENCOMPASS, {"options": "ABCD"}, "B. Paris", "B", "B", "B", "B"),
        ("first_option_postprocess", OPENCOMPASS, {"options": "ABCD"}, "Not B but C", "C", "C", "C", "C"),
        ("first_option_postprocess", OPENCOMPASS, {"options": "ABCD"}, "I say B maybe", "B", "B", "B", ""),
        ("first_capital_postprocess", OPENCOMPASS, {}, "The B", "T", "T", "B", ""),
        ("gsm8k", OPENCOMPASS, {}, "3 + 4 = 7", "7", "3", "7", "NULL"),
        ("math_postprocess", OPENCOMPASS, {}, "It is 2. Or so.", "Itis2", "Itis2", "Itis2", ""),
    ],
)  # fmt: skip
def test_text_functions_of_all_systems_obey(name, system, arguments, answer, own, first, last, strict):
    function = find_text_function(name, system, arguments)
    found = {}
    for way in (None, *WAYS):
        with reading_as(way):
            found[way] = function.filtered([[answer]], [{}])[0][0]
    assert found == {None: own, "first": first, "last": last, "strict": strict}


def test_notes_pass_by_answers_that_failed_and_references_are_no_answers():
    function = OnPredictions(find_text_function("first_option_postprocess", OPENCOMPASS, {"options": "ABCD"}))
    failed = Failure("budget", "nobody was asked")
    columns = Columns([failed, "I say B maybe", "The answer is C"], [["A"]] * 3, [{}] * 3)
    with hearing() as heard:
        assert function.process(columns).predictions == [failed, "B", "C"]
    assert {place: note.is_last_resort for place, note in heard.notes.items()} == {1: True, 2: False}
    with hearing() as heard, reading_as("last"):
        read = process(Columns(["one\ntwo"], [["a\nb"]], [{}]), ["processors.take_first_non_empty_line"])
    assert (read.predictions, read.references) == (["two"], [["a"]])
    assert heard.notes == {0: Note("the first line")}


def test_letters_of_inspect_have_a_line_of_their_own():
    with hearing() as heard:
        assert letters_in("So ANSWER: B - I think", 4) == frozenset({1})
    assert heard.notes[0].is_last_resort
    with reading_as("first"):
        assert letters_in("ANSWER: A\nANSWER: B", 4) == frozenset({0})
    with reading_as("strict"):
        assert letters_in("ANSWER: A\nANSWER: B", 4) == frozenset()
