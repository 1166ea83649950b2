"""Scores of chosen answers, against numpy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.scoring.choice import CHOICE_SCORES, OUTSIDE, ChoiceAnswer, chosen, first_best, probabilities

LIKELIHOODS = st.lists(st.floats(-50, 0), min_size=1, max_size=6)


@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=8))
def test_the_first_of_the_best(values):
    assert first_best(values) == np.argmax(values)


@given(LIKELIHOODS)
def test_probabilities(values):
    answer = ChoiceAnswer(values, [False] * len(values), ["x"] * len(values), 0)
    shifted = np.exp(np.array(values) - max(values))
    assert np.allclose(probabilities(answer), shifted / shifted.sum())


@given(
    entries=st.lists(st.tuples(st.floats(-50, 0), st.text(min_size=1, max_size=6)), min_size=1, max_size=5),
    gold=st.integers(0, 4),
)
def test_normalisations(entries, gold):
    likelihoods, choices = [each[0] for each in entries], [each[1] for each in entries]
    answer = ChoiceAnswer(likelihoods, [False] * len(entries), choices, gold)
    by_characters = np.argmax(np.array(likelihoods) / np.array([float(len(each)) for each in choices]))
    assert CHOICE_SCORES["acc"](answer) == float(np.argmax(likelihoods) == gold)
    assert CHOICE_SCORES["acc_norm"](answer) == float(by_characters == gold)


def test_bytes_count_where_characters_do_not():
    answer = ChoiceAnswer([-4.0, -3.0], [False, False], ["éé", "a"], 0)
    assert (CHOICE_SCORES["acc_norm"](answer), CHOICE_SCORES["acc_bytes"](answer)) == (1.0, 1.0)
    answer = ChoiceAnswer([-3.0, -1.0], [False, False], ["éé", "a"], 0)
    assert (CHOICE_SCORES["acc_norm"](answer), CHOICE_SCORES["acc_bytes"](answer)) == (0.0, 1.0)


def test_an_empty_choice_is_infinitely_unlikely_per_character():
    answer = ChoiceAnswer([-1.0, -9.0], [False, False], ["", "a"], 1)
    assert CHOICE_SCORES["acc_norm"](answer) == 1.0


def test_what_the_context_adds():
    answer = ChoiceAnswer([-5.0, -4.0], [False, False], ["a", "b"], 0, [-9.0, -4.0])
    assert (CHOICE_SCORES["acc"](answer), CHOICE_SCORES["acc_mutual_info"](answer)) == (0.0, 1.0)


@pytest.mark.parametrize(
    "gold, score", [(0, 1), (1, 0), ([1, 0], 1), ([OUTSIDE, 1], 0), (OUTSIDE, 0), ([OUTSIDE, 0], 1)]
)
def test_greedy_matches(gold, score):
    answer = ChoiceAnswer([-1.0, -2.0], [True, False], ["a", "b"], gold)
    assert CHOICE_SCORES["exact_match"](answer) == score


def test_several_right_answers_and_none():
    answer = ChoiceAnswer([-1.0, -2.0], [False, False], ["a", "b"], [0, 1])
    assert CHOICE_SCORES["acc"](answer) == 1.0
    assert CHOICE_SCORES["acc"](ChoiceAnswer([-1.0], [False], ["a"], OUTSIDE)) == 0.0
    assert chosen(answer) == 0
    assert not math.isnan(CHOICE_SCORES["acc"](answer))
