"""Letters that a completion names, and whether they are the right ones."""

import pytest

from proctor.errors import ScoringError
from proctor.scoring.answer_checks import MISSING, RIGHT, WRONG
from proctor.scoring.lettered_answers import letter_of, lettered, letters_in, place_of

ONE = {
    "ANSWER: B": {1},
    "answer : b.": {1},
    "ANSWER: $C$": {2},
    "ANSWER: **C**": {2},
    "ANSWER: (C)": {2},
    "ANSWER: A\nNo.\nANSWER: D": {3},
    "I say ANSWER: B!": {1},
    "ANSWER: E": set(),
    "ANSWER: A, B": set(),
    "B": set(),
    "": set(),
}
SEVERAL = {
    "ANSWER: A, C": {0, 2},
    "ANSWER: A and C": {0, 2},
    "ANSWER: (A), (C)": {0, 2},
    "ANSWER: AC": {0, 2},
    "ANSWER: B": {1},
    "ANSWER: A, F": set(),
}


@pytest.mark.parametrize("said", ONE)
def test_one_letter_is_read_where_one_may_be_right(said):
    assert letters_in(said, 4) == ONE[said]


@pytest.mark.parametrize("said", SEVERAL)
def test_letters_are_read_where_several_may_be_right(said):
    assert letters_in(said, 4, several=True) == SEVERAL[said]


def test_letters_go_on_with_numbers():
    assert [letter_of(place) for place in (0, 25, 26, 35)] == ["A", "Z", "1", "10"]
    assert [place_of(each) for each in ("A", "z", "1", "10")] == [0, 25, 26, 35]
    assert letters_in("ANSWER: 2", 28) == {27}
    for wrong in ("0", "AB", "", "-1"):
        with pytest.raises(ScoringError, match="is not a choice"):
            place_of(wrong)


@pytest.mark.parametrize(
    "chosen, targets, completion, verdict",
    [
        ({1}, ["B"], "ANSWER: B", (RIGHT, "B")),
        ({0, 2}, ["A", "C"], "ANSWER: A, C", (RIGHT, "A, C")),
        ({0, 2}, ["AC"], "ANSWER: A, C", (RIGHT, "A, C")),
        ({0, 2}, ["A, C"], "ANSWER: A, C", (RIGHT, "A, C")),
        ({0}, ["A, C"], "ANSWER: A", (WRONG, "A")),
        (set(), ["A"], "no idea", (WRONG, "")),
        (set(), ["A"], " \n", (MISSING, "")),
    ],
)
def test_chosen_letters_are_right_where_they_are_all_and_no_others(chosen, targets, completion, verdict):
    found = lettered(frozenset(chosen), targets, 4, completion)
    assert (found.value, found.answer) == verdict


def test_a_target_beyond_the_choices_of_its_row_is_an_error():
    with pytest.raises(ScoringError, match="the target E is beyond the 4 choices"):
        lettered(frozenset({0}), ["E"], 4, "ANSWER: A")
